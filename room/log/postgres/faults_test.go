//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/postgres"
	"github.com/folkmoot/moot/room/log/postgres/pgtest"
)

var never time.Time

// put appends an event and fails the test when that fails.
func put(t *testing.T, d *postgres.DB, after log.Pos, id string) log.Pos {
	t.Helper()
	p, dup, err := d.Append(t.Context(), "a", after, never, logtest.Event(id, "x"))
	if err != nil || dup {
		t.Fatalf("appending %s: dup %v, %v", id, dup, err)
	}
	return p
}

func code(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Code
	}
	return ""
}

func want(t *testing.T, err, sentinel error) {
	t.Helper()
	if !errors.Is(err, sentinel) {
		t.Fatalf("got error %v, want %v", err, sentinel)
	}
}

// TestLostAnswer cuts the connection after the server has committed and before its answer
// arrives. The same events again are found stored.
func TestLostAnswer(t *testing.T) {
	s := pgtest.Start(t)
	dir := t.TempDir()
	cut := proxy(t, dir, s)
	d, err := postgres.Open(postgres.Config{URL: s.URLAt(dir, "")})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	at := log.Pos{}
	for i := range 4 { // so that all statements are known to the server
		at = put(t, d, at, fmt.Sprint(i))
	}
	cut.Store(true)
	_, _, err = d.Append(t.Context(), "a", at, never, logtest.Event("lost", "x"))
	want(t, err, log.ErrUnknown)
	p, dup, err := d.Append(t.Context(), "a", at, never, logtest.Event("lost", "x"))
	if err != nil || !dup || p.Seq != at.Seq+1 {
		t.Fatalf("the same event again: %v, dup %v, %v", p, dup, err)
	}
	put(t, d, p, "next")
	if tail, err := log.Verify(t.Context(), d, "a", log.Mark{}); err != nil || tail.Seq != p.Seq+1 {
		t.Fatalf("the room ends at %d, %v", tail.Seq, err)
	}
}

// proxy forwards connections in dir to the server. When cut is set, it closes the next
// connection on which the server answers, without the answer.
func proxy(t *testing.T, dir string, s *pgtest.Server) (cut *atomic.Bool) {
	t.Helper()
	const socket = ".s.PGSQL.5432"
	l, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	return logtest.Proxy(t, l, func() (net.Conn, error) { return net.Dial("unix", filepath.Join(s.Dir(), socket)) })
}

// TestHistories checks histories of rooms while answers of the server are lost, and while it
// is killed.
func TestHistories(t *testing.T) {
	s := pgtest.Start(t)
	dir, faults := t.TempDir(), 0
	cut := proxy(t, dir, s)
	logtest.RunHistories(t, logtest.HistoryEngine{
		Open: func(t testing.TB, dir2 string) log.Log {
			open(t, s, schemaOf(dir2)).Close() // makes the tables
			var d *postgres.DB
			var err error
			for range 3 { // a fault may cut the first connection, and Open tries only once
				if d, err = postgres.Open(postgres.Config{URL: s.URLAt(dir, schemaOf(dir2)), RetryFor: time.Minute}); err == nil {
					return d
				}
			}
			t.Fatal(err)
			return nil
		},
		Fault: func(t testing.TB) {
			if faults++; faults%4 != 0 {
				cut.Store(true)
				return
			}
			s.Kill(t)
			s.Launch(t)
		},
		Faults: 7,
	})
}

// TestKilledServer kills the server three times while eight rooms are written. Nothing that
// was acknowledged is missing, and nothing is there twice.
func TestKilledServer(t *testing.T) {
	s := pgtest.Start(t)
	d := open(t, s, "killed")
	defer d.Close()
	const rooms, each = 8, 60
	var acknowledged atomic.Int64
	var writers sync.WaitGroup
	for r := range rooms {
		writers.Go(func() {
			name, at := fmt.Sprint("room", r), log.Pos{}
			for at.Seq < each {
				p, _, err := d.Append(t.Context(), name, at, never, logtest.Event(fmt.Sprint(at.Seq+1), "x"))
				if errors.Is(err, log.ErrUnknown) {
					continue
				}
				if err != nil {
					t.Errorf("%s after %d: %v", name, at.Seq, err)
					return
				}
				at = p
				acknowledged.Add(1)
			}
		})
	}
	for kill := int64(1); kill <= 3 && !t.Failed(); kill++ {
		for acknowledged.Load() < kill*rooms*each/5 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		s.Kill(t)
		s.Launch(t)
	}
	writers.Wait()
	for r := range rooms {
		tail, err := log.Verify(t.Context(), d, fmt.Sprint("room", r), log.Mark{})
		if err != nil || tail.Seq != each {
			t.Errorf("room %d ends at %d, %v", r, tail.Seq, err)
		}
	}
}

// TestLostLease stops the renewal of a lease, as for a process that is frozen. Another one
// takes the room over, and the first can change nothing any more.
func TestLostLease(t *testing.T) {
	s := pgtest.Start(t)
	exec(t, s, "", "create schema lease")
	frozen, err := postgres.Open(postgres.Config{URL: s.URL("lease"), Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	other := open(t, s, "lease")
	defer other.Close()
	unlock, err := frozen.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	at := put(t, frozen, log.Pos{}, "1")
	_, err = other.Lock(t.Context(), "a")
	want(t, err, log.ErrLocked)

	exec(t, s, "lease", "update moot_holders set until = current_timestamp - interval '1 second', machine = 'another'")
	free, err := other.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	claimed := put(t, other, at, "claimed")
	_, _, err = frozen.Append(t.Context(), "a", at, never, logtest.Event("late", "x"))
	want(t, err, log.ErrConflict)
	want(t, frozen.Redact(t.Context(), "a", logtest.Event("1", "x").Redacted()), log.ErrLocked)
	want(t, frozen.Remove(t.Context(), "a"), log.ErrLocked)
	unlock()
	_, err = frozen.Lock(t.Context(), "a")
	want(t, err, log.ErrLocked)
	put(t, other, claimed, "2")
	free()
	again, err := frozen.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// TestDeadProcess takes the room of a process of this machine that has died, without waiting
// for the end of its lease.
func TestDeadProcess(t *testing.T) {
	s := pgtest.Start(t)
	dead, other := open(t, s, "dead"), open(t, s, "dead")
	defer dead.Close()
	defer other.Close()
	if _, err := dead.Lock(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := dead.Announce(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if id, err := other.HeldBy(t.Context(), "a"); err != nil || id != dead.Self() || dead.Holder("a") == 0 {
		t.Errorf("the holder is not known: %q, %v", id, err)
	}
	exec(t, s, "dead", "update moot_holders set pid = 2147483646")
	if id, err := other.HeldBy(t.Context(), "a"); err != nil || id != "" {
		t.Errorf("a dead process holds the room: %q, %v", id, err)
	}
	if all, err := other.Members(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("a dead process is a member: %v, %v", all, err)
	}
	if other.Holder("a") != 0 {
		t.Error("a dead process is given as holder")
	}
	unlock, err := other.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestOldFormat opens the tables of the first release, whose holders announce nothing.
func TestOldFormat(t *testing.T) {
	s := pgtest.Start(t)
	d := open(t, s, "old")
	put(t, d, log.Pos{}, "1")
	d.Close()
	exec(t, s, "old", "alter table moot_holders drop column info")
	exec(t, s, "old", "update moot_format set version = 1")
	exec(t, s, "old", "insert into moot_holders values('of the old release', 'another', 1, current_timestamp + interval '1 hour')")
	if _, err := postgres.Open(postgres.Config{URL: s.URL("old"), ReadOnly: true}); code(err) != "LOG-OLDER" {
		t.Errorf("reading the old format: %v", err)
	}
	d = open(t, s, "old")
	defer d.Close()
	if err := d.Announce(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	all, err := d.Members(t.Context())
	if err != nil || len(all) != 1 || all[0].Info != "new" {
		t.Errorf("members are %v, %v", all, err)
	}
	if tail, err := d.Tail(t.Context(), "a"); err != nil || tail.Seq != 1 {
		t.Errorf("the room ends at %d, %v", tail.Seq, err)
	}
}

// TestStandbyMissing appends while the server waits for a standby that does not answer. The
// append is not acknowledged, and neither is its retry, which finds the event stored.
func TestStandbyMissing(t *testing.T) {
	s := pgtest.Start(t)
	d := open(t, s, "standby")
	defer d.Close()
	at := put(t, d, log.Pos{}, "0")
	standbys(t, s, "one")
	for n := 1; ; n++ { // the setting is in effect soon
		ctx, cancel := context.WithCancel(t.Context())
		p, err := untilWaiting(t, s, cancel, func() (log.Pos, bool, error) {
			return d.Append(ctx, "a", at, never, logtest.Event(fmt.Sprint(n), "x"))
		})
		if err == nil {
			at = p
			continue
		}
		want(t, err, log.ErrUnknown)
		ctx, cancel = context.WithCancel(t.Context())
		_, err = untilWaiting(t, s, cancel, func() (log.Pos, bool, error) {
			return d.Append(ctx, "a", at, never, logtest.Event(fmt.Sprint(n), "x"))
		})
		want(t, err, log.ErrUnknown)
		standbys(t, s, "")
		for {
			p, dup, err := d.Append(t.Context(), "a", at, never, logtest.Event(fmt.Sprint(n), "x"))
			if errors.Is(err, log.ErrUnknown) {
				continue
			}
			if err != nil || !dup || p.Seq != at.Seq+1 {
				t.Fatalf("after the standby is not needed any more: %v, dup %v, %v", p, dup, err)
			}
			return
		}
	}
}

// standbys sets which standbys a commit waits for.
func standbys(t *testing.T, s *pgtest.Server, names string) {
	t.Helper()
	exec(t, s, "", "alter system set synchronous_standby_names = '"+names+"'")
	exec(t, s, "", "select pg_reload_conf()")
}

// untilWaiting calls f, and cancel when a commit waits for a standby.
func untilWaiting(t *testing.T, s *pgtest.Server, cancel func(), f func() (log.Pos, bool, error)) (p log.Pos, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p, _, err = f()
	}()
	for {
		select {
		case <-done:
			cancel()
			return p, err
		default:
		}
		if exec(t, s, "", "select 1 from pg_stat_activity where wait_event = 'SyncRep'") > 0 {
			cancel()
		}
	}
}

// TestUnsafe refuses servers that may lose what they acknowledge, and shows no password.
func TestUnsafe(t *testing.T) {
	s := pgtest.Start(t)
	for url, want := range map[string]string{
		s.URL("") + "&synchronous_commit=off":                      "LOG-UNSAFE",
		s.URL("") + "&synchronous_commit=local":                    "LOG-UNSAFE",
		strings.Replace(s.URL(""), pgtest.Password, "pw-other", 1): "LOG-OPEN",
		strings.Replace(s.URL(""), "/moot?", "/none?", 1):          "LOG-OPEN",
		s.URLAt(t.TempDir(), ""):                                   "LOG-SERVER",
		s.URL("") + "&connect_timeout=pw-other":                    "LOG-URL",
	} {
		d, err := postgres.Open(postgres.Config{URL: url})
		if err == nil {
			d.Close()
		}
		if code(err) != want {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
		if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, "pw-") {
			t.Errorf("the error holds the password: %s", text)
		}
	}
	if _, err := postgres.Open(postgres.Config{URL: s.URL(""), ReadOnly: true}); code(err) != "LOG-NONE" {
		t.Errorf("reading where there is no log: %v", err)
	}
	open(t, s, "public").Close()
	d, err := postgres.Open(postgres.Config{URL: s.URL(""), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, _, err := d.Append(t.Context(), "a", log.Pos{}, never, logtest.Event("1", "x")); code(err) != "LOG-READONLY" {
		t.Errorf("appending: %v", err)
	}
	if err := d.Announce(t.Context(), "x"); code(err) != "LOG-READONLY" {
		t.Errorf("announcing: %v", err)
	}
	exec(t, s, "", "update moot_format set version = 99")
	if _, err := postgres.Open(postgres.Config{URL: s.URL("")}); code(err) != "LOG-NEWER" {
		t.Errorf("a newer format: %v", err)
	}
}

// TestDamagedIndex changes rows of rooms. Reading finds it, and appending too.
func TestDamagedIndex(t *testing.T) {
	s := pgtest.Start(t)
	d := open(t, s, "damaged")
	defer d.Close()
	at := put(t, d, log.Pos{}, "1")
	at = put(t, d, at, "2")
	for _, damage := range []struct{ does, undoes string }{
		{"update moot_rooms set last = 1", "update moot_rooms set last = 2"},
		{"update moot_rooms set wake = 7", "update moot_rooms set wake = 0"},
		{"update moot_events set seq = 3 where seq = 2", "update moot_events set seq = 2 where seq = 3"},
		{"update moot_events set room = room + 1", "update moot_events set room = room - 1"},
		{"update moot_events set proof = proof || '\\x00' where seq = 2", "update moot_events set proof = substring(proof from 1 for 48)"},
	} {
		exec(t, s, "damaged", damage.does)
		_, err := d.Tail(t.Context(), "a")
		want(t, err, log.ErrCorrupt)
		_, err = d.Read(t.Context(), "a", log.Pos{}, 10)
		want(t, err, log.ErrCorrupt)
		want(t, d.Check(t.Context()), log.ErrCorrupt)
		exec(t, s, "damaged", damage.undoes)
		if err := d.Check(t.Context()); err != nil {
			t.Fatalf("after %s: %v", damage.undoes, err)
		}
	}
	put(t, d, at, "3")
}
