package logtest

import (
	"reflect"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

var at0 time.Time

// stub returns the stub of an entry.
func stub(e log.Entry) room.Event { return e.Event.Redacted() }

func testRedact(t *testing.T, f *fixture) {
	at := f.fill("a", 20)
	before := f.all("a")
	must(t, f.PutSnapshot(f.ctx, "a", log.Snapshot{Seq: 20, Hash: before[19].Hash, Data: []byte("state")}))
	must(t, f.Redact(f.ctx, "a", stub(before[3]), stub(before[0]), stub(before[19])))
	must(t, f.Redact(f.ctx, "a", stub(before[3]), stub(before[4])))
	_, err := f.Snapshot(f.ctx, "a")
	want(t, err, log.ErrNotFound)
	f.append("a", at, Event("after", "x"))
	f.reopen()
	gone := map[uint64]bool{1: true, 4: true, 5: true, 20: true}
	after := f.all("a")
	for i, e := range before {
		switch g := after[i]; {
		case !gone[e.Seq]:
			sameEvent(t, g, e.Seq, e.Event)
		case !g.Redacted || g.Raw != nil || g.Salt != nil || g.Commit != e.Commit || g.Hash != e.Hash:
			t.Errorf("entry %d is not redacted as it should be: %+v", e.Seq, g)
		case !reflect.DeepEqual(g.Event, stub(e)):
			t.Errorf("entry %d left %+v, want %+v", e.Seq, g.Event, stub(e))
		}
	}
	for seq := range uint64(20) {
		mark := log.Mark{Seq: seq}
		if seq > 0 {
			mark.Hash = before[seq-1].Hash
		}
		if _, err := log.Verify(f.ctx, f, "a", mark); err != nil {
			t.Errorf("verifying from %d: %v", seq, err)
		}
	}
	if p, dup, err := f.Append(f.ctx, "a", log.Pos{}, at0, before[0].Event); err != nil || !dup || p.Seq != 1 {
		t.Errorf("retry of a redacted event: %v, dup %v, %v", p, dup, err)
	}
}

func testRedactAtomic(t *testing.T, f *fixture) {
	want(t, f.Redact(f.ctx, "a", Event("1", "").Redacted()), log.ErrNotFound)
	f.fill("a", 3)
	entries := f.all("a")
	beyond := stub(entries[0])
	beyond.Seq = 4
	want(t, f.Redact(f.ctx, "a", stub(entries[0]), beyond), log.ErrNotFound)
	other := stub(entries[1])
	other.ID = "another id"
	if err := f.Redact(f.ctx, "a", stub(entries[0]), other); err == nil {
		t.Error("a stub of another event was taken")
	}
	for _, e := range f.all("a") {
		if e.Redacted {
			t.Errorf("event %d is redacted", e.Seq)
		}
	}
}

func testRemove(t *testing.T, f *fixture) {
	want(t, f.Remove(f.ctx, "a"), log.ErrNotFound)
	at := f.fill("a", 5)
	f.fill("b", 5)
	must(t, f.PutSnapshot(f.ctx, "a", log.Snapshot{Seq: 5, Hash: f.all("a")[4].Hash}))
	_, _, err := f.Append(f.ctx, "a", at, time.Now(), Event("x", "x"))
	must(t, err)
	must(t, f.Remove(f.ctx, "a"))
	gone := func() {
		t.Helper()
		if tail, err := f.Tail(f.ctx, "a"); err != nil || tail != (log.Pos{}) {
			t.Fatalf("tail is %v, %v", tail, err)
		}
		_, err := f.Read(f.ctx, "a", log.Pos{}, 1)
		want(t, err, log.ErrNotFound)
		_, err = f.Snapshot(f.ctx, "a")
		want(t, err, log.ErrNotFound)
		if due, err := f.Due(f.ctx, time.Now().Add(time.Hour)); err != nil || len(due) != 0 {
			t.Fatalf("due: %v, %v", due, err)
		}
	}
	gone()
	f.reopen()
	gone()
	f.conflict("a", at, Event("x", "x"))
	f.append("a", log.Pos{}, Event("x", "a new room of that name"))
	if got := f.all("b"); len(got) != 5 {
		t.Fatalf("the other room has %d events", len(got))
	}
}

func testLock(t *testing.T, f *fixture) {
	unlock, err := f.Lock(f.ctx, "a")
	must(t, err)
	_, err = f.Lock(f.ctx, "a")
	want(t, err, log.ErrLocked)
	other := f.Log
	if f.Shared {
		other = f.Open(t, f.dir)
		defer other.Close()
		_, err = other.Lock(f.ctx, "a")
		want(t, err, log.ErrLocked)
	}
	free, err := other.Lock(f.ctx, "b")
	must(t, err)
	at := f.fill("a", 1)
	if f.Shared { // who holds the room may remove from it; others may not
		want(t, other.Redact(f.ctx, "a", stub(f.all("a")[0])), log.ErrLocked)
		want(t, other.Remove(f.ctx, "a"), log.ErrLocked)
	}
	must(t, f.Redact(f.ctx, "a", stub(f.all("a")[0])))
	f.append("a", at, Event("x", "x"))
	unlock()
	unlock()
	again, err := other.Lock(f.ctx, "a")
	must(t, err)
	unlock() // of the first holder: it must not free the second
	_, err = f.Lock(f.ctx, "a")
	want(t, err, log.ErrLocked)
	again()
	free()
	if f.Volatile {
		return
	}
	last, err := f.Lock(f.ctx, "a")
	must(t, err)
	f.reopen() // closing frees what is held
	next, err := f.Lock(f.ctx, "a")
	must(t, err)
	last()
	_, err = f.Lock(f.ctx, "a")
	want(t, err, log.ErrLocked)
	next()
}
