package logtest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// A MembersLog is an engine that keeps a registry of its processes.
type MembersLog interface {
	log.Log
	log.Members
}

// A MembersEngine describes an engine with a registry of processes.
type MembersEngine struct {
	// Open opens the log named dir with a lease of that length. The suite opens one more
	// than once at a time, as several processes would.
	Open func(t testing.TB, dir string, lease time.Duration) MembersLog
	// Freeze stops the renewal of a handle's lease until thaw is called.
	Freeze func(l MembersLog) (thaw func())
}

// RunMembers runs the cases on the registry of processes, each on a log of its own.
func RunMembers(t *testing.T, e MembersEngine) {
	for _, c := range []struct {
		name string
		run  func(*membersFixture)
	}{
		{"announce", testAnnounce},
		{"holder", testHeldBy},
		{"frozen", testFrozen},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(&membersFixture{MembersEngine: e, T: t, dir: t.TempDir()}) })
	}
}

// A membersFixture is one log under test.
type membersFixture struct {
	MembersEngine
	*testing.T
	dir string
}

// open opens the log. With a lease that is longer than the test, the handle is a member
// until it is closed, however slow the machine is.
func (f *membersFixture) open(lease time.Duration) MembersLog {
	l := f.Open(f.T, f.dir, lease)
	f.Cleanup(func() { l.Close() })
	return l
}

// members fails the test unless the registry that l shows has these members.
func (f *membersFixture) members(l MembersLog, want ...log.Member) {
	f.Helper()
	got, err := l.Members(f.Context())
	must(f, err)
	infos := map[string]string{}
	for i, m := range got {
		if i > 0 && got[i-1].ID >= m.ID {
			f.Fatalf("members are not sorted: %v", got)
		}
		infos[m.ID] = m.Info
	}
	for _, m := range want {
		if info, ok := infos[m.ID]; !ok || info != m.Info {
			f.Fatalf("members are %q, want %q", got, want)
		}
	}
	if len(got) != len(want) {
		f.Fatalf("members are %q, want %q", got, want)
	}
}

// heldBy fails the test unless id holds the room.
func (f *membersFixture) heldBy(l MembersLog, room, id string) {
	f.Helper()
	got, err := l.HeldBy(f.Context(), room)
	must(f, err)
	if got != id {
		f.Fatalf("room %s is held by %q, want %q", room, got, id)
	}
}

func testAnnounce(f *membersFixture) {
	a, b := f.open(time.Hour), f.open(time.Hour)
	if a.Self() == b.Self() || a.Self() == "" {
		f.Fatalf("two handles have the ids %q and %q", a.Self(), b.Self())
	}
	f.members(a)
	must(f, a.Announce(f.Context(), "one"))
	must(f, b.Announce(f.Context(), ""))
	f.members(b, log.Member{ID: a.Self(), Info: "one"}, log.Member{ID: b.Self()})
	longest := strings.Repeat("\x00\xff", log.MaxInfo/2)
	must(f, a.Announce(f.Context(), longest))
	f.members(b, log.Member{ID: a.Self(), Info: longest}, log.Member{ID: b.Self()})
	if err := b.Announce(f.Context(), longest+"x"); code(err) != "LOG-MEMBER" {
		f.Fatalf("announcing too much: %v", err)
	}
	// Locks neither announce a handle nor change what it has announced.
	silent := f.open(time.Hour)
	for _, l := range []MembersLog{a, silent} {
		free, err := l.Lock(f.Context(), "room of "+l.Self())
		must(f, err)
		defer free()
	}
	f.members(silent, log.Member{ID: a.Self(), Info: longest}, log.Member{ID: b.Self()})
	must(f, a.Close())
	f.members(b, log.Member{ID: b.Self()})
	must(f, b.Close())
	f.members(silent)
	if err := b.Announce(f.Context(), "late"); err == nil {
		f.Fatal("a closed handle is announced")
	}
}

func testHeldBy(f *membersFixture) {
	a, b := f.open(time.Hour), f.open(time.Hour)
	must(f, b.Announce(f.Context(), "b"))
	f.heldBy(a, "r", "")
	free, err := a.Lock(f.Context(), "r")
	must(f, err)
	f.heldBy(a, "r", a.Self())
	f.heldBy(b, "r", a.Self())
	f.heldBy(b, "other", "")
	free()
	f.heldBy(b, "r", "")
	_, err = b.Lock(f.Context(), "r")
	must(f, err)
	f.heldBy(a, "r", b.Self())
	must(f, b.Close())
	f.heldBy(a, "r", "")
	if _, err := a.HeldBy(f.Context(), ""); code(err) != "LOG-ROOM" {
		f.Fatalf("the holder of a room without a name: %v", err)
	}
}

// testFrozen checks that a lease which is not renewed ends, and with it the locks, and that
// one is renewed without locks.
func testFrozen(f *membersFixture) {
	const lease = 500 * time.Millisecond
	watcher := f.open(lease)
	running, frozen := f.open(lease), f.open(lease)
	must(f, running.Announce(f.Context(), "runs"))
	must(f, frozen.Announce(f.Context(), "is frozen"))
	_, err := frozen.Lock(f.Context(), "r")
	must(f, err)
	thaw := f.Freeze(frozen)
	f.wait("the lease to end", func() bool { return !f.listed(watcher, frozen.Self()) })
	f.wait("the lock to be free", func() bool {
		id, err := watcher.HeldBy(f.Context(), "r")
		must(f, err)
		return id == ""
	})
	// More than a lease has passed: a member that is listed has renewed its own.
	f.wait("the other member", func() bool { return f.listed(watcher, running.Self()) })
	f.wait("the lock", func() bool {
		_, err := watcher.Lock(f.Context(), "r")
		if err != nil {
			want(f, err, log.ErrLocked) // a renewal was on its way
		}
		return err == nil
	})
	thaw()
	f.wait("the member to come back", func() bool { return f.listed(watcher, frozen.Self()) })
	f.wait("the new holder", func() bool {
		id, err := frozen.HeldBy(f.Context(), "r")
		must(f, err)
		if id == frozen.Self() {
			f.Fatal("the frozen handle holds a room that another has taken")
		}
		return id == watcher.Self()
	})
}

func (f *membersFixture) listed(l MembersLog, id string) bool {
	f.Helper()
	all, err := l.Members(f.Context())
	must(f, err)
	for _, m := range all {
		if m.ID == id {
			return true
		}
	}
	return false
}

func code(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Code
	}
	return ""
}

// wait waits for what is expected to happen.
func (f *membersFixture) wait(what string, happened func() bool) {
	f.Helper()
	for limit := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			f.Fatalf("waiting for %s", what)
		}
	}
}
