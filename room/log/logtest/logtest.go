// Package logtest is the suite that every engine of package log must pass.
//
//	func TestConformance(t *testing.T) {
//		logtest.Run(t, logtest.Engine{Open: open, Flip: flip})
//	}
package logtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// An Engine describes the engine under test.
type Engine struct {
	// Open opens the log that is kept in dir, an existing folder, and makes
	// it when there is none. The suite closes what it opens. With Shared it
	// opens one dir more than once at a time.
	Open func(t testing.TB, dir string) log.Log
	// Flip changes one bit of the first byte of needle wherever needle is
	// stored in dir; no log is open then. It fails the test when needle is
	// not found. Without it the cases on damage are skipped.
	Flip func(t testing.TB, dir string, needle []byte)
	// Shared says that several handles may use one dir at once, as several
	// processes would.
	Shared bool
	// Volatile says that nothing outlives the handle; what is to be found
	// after reopening is then looked for without.
	Volatile bool
}

// Run runs the suite, each case on a log of its own.
func Run(t *testing.T, e Engine) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"append", testAppend},
		{"retry", testRetry},
		{"retry of a part", testRetryOfPart},
		{"retry in other words", testOtherWords},
		{"id at another place", testIDElsewhere},
		{"batch is atomic", testAtomic},
		{"refused events", testRefused},
		{"large events", testLarge},
		{"rooms are separate", testRoomsSeparate},
		{"many writers", testManyWriters},
		{"fencing", testFencing},
		{"cancelled", testCancelled},
		{"cancelled at any time", testCancelledAnyTime},
		{"read", testRead},
		{"read what is not there", testReadMissing},
		{"chain", testChain},
		{"verify from a mark", testVerifyMark},
		{"follow", testFollow},
		{"follow a room to come", testFollowFuture},
		{"follow until removed", testFollowRemoved},
		{"follow another handle", testFollowOther},
		{"rooms", testRooms},
		{"due", testDue},
		{"snapshots", testSnapshots},
		{"blobs", testBlobs},
		{"blobs at once", testBlobsAtOnce},
		{"redact", testRedact},
		{"redact all or none", testRedactAtomic},
		{"remove", testRemove},
		{"ledger", testLedger},
		{"times of the ledger", testLedgerTimes},
		{"release and reset of the ledger", testLedgerRelease},
		{"ledger at once", testLedgerRace},
		{"lock", testLock},
		{"reopen", testReopen},
		{"closed", testClosed},
		{"flipped bit in a body", testFlippedBody},
		{"flipped bit in a blob", testFlippedBlob},
		{"flipped bit in a snapshot", testFlippedSnapshot},
		{"flipped bit in a stub", testFlippedStub},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fixture{Engine: e, t: t, dir: t.TempDir(), ctx: t.Context()}
			f.reopen()
			t.Cleanup(f.close)
			c.run(t, f)
		})
	}
}

// A fixture is one log under test.
type fixture struct {
	Engine
	t   *testing.T
	dir string
	ctx context.Context
	log.Log
	closed bool
}

func (f *fixture) reopen() {
	f.t.Helper()
	if f.Log != nil && f.Volatile {
		return
	}
	if f.Log != nil {
		f.close()
	}
	f.Log, f.closed = f.Open(f.t, f.dir), false
}

func (f *fixture) close() {
	f.t.Helper()
	if f.closed {
		return
	}
	f.closed = true
	if err := f.Close(); err != nil {
		f.t.Errorf("closing: %v", err)
	}
}

// Event returns an event with the given id that says text.
func Event(id, text string) room.Event {
	return room.Event{
		V: room.FormatVersion, ID: id, Actor: "alice", Command: "c-" + id, Epoch: 3,
		At: time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC), Clock: 7 * time.Second,
		Body: room.MessagePosted{Turn: 2, Message: room.Message{
			ID: id, From: "alice", To: room.Broadcast, Kind: room.KindUtterance,
			Visibility: room.UserVisible, Text: text,
		}},
	}
}

// Events returns n events with the ids prefix-1 to prefix-n.
func Events(prefix string, n int) []room.Event {
	events := make([]room.Event, n)
	for i := range events {
		id := fmt.Sprintf("%s-%d", prefix, i+1)
		events[i] = Event(id, "text of "+id)
	}
	return events
}

// append appends to a room and fails the test when that fails.
func (f *fixture) append(name string, after log.Pos, events ...room.Event) log.Pos {
	f.t.Helper()
	p, dup, err := f.Append(f.ctx, name, after, time.Time{}, events...)
	if err != nil || dup {
		f.t.Fatalf("appending to %q after %d: dup %v, %v", name, after.Seq, dup, err)
	}
	if want := after.Seq + uint64(len(events)); p.Seq != want {
		f.t.Fatalf("appending to %q: ends at %d, want %d", name, p.Seq, want)
	}
	return p
}

// conflict fails the test unless appending to a room is a conflict.
func (f *fixture) conflict(name string, after log.Pos, events ...room.Event) {
	f.t.Helper()
	_, _, err := f.Append(f.ctx, name, after, time.Time{}, events...)
	want(f.t, err, log.ErrConflict)
}

// fill appends n events to a new room, and returns the tail.
func (f *fixture) fill(name string, n int) log.Pos {
	f.t.Helper()
	return f.append(name, log.Pos{}, Events(name, n)...)
}

// all reads a whole room and checks it from the beginning.
func (f *fixture) all(name string) []log.Entry {
	f.t.Helper()
	return readAll(f.t, f.ctx, f.Log, name)
}

func readAll(t testing.TB, ctx context.Context, r log.Reader, name string) []log.Entry {
	t.Helper()
	tail, err := r.Tail(ctx, name)
	if err != nil {
		t.Fatalf("tail of %q: %v", name, err)
	}
	var entries []log.Entry
	for at := (log.Pos{}); at != tail; {
		page, err := r.Read(ctx, name, at, 100)
		if err != nil || len(page) == 0 {
			t.Fatalf("reading %q after %d: %d entries, %v", name, at.Seq, len(page), err)
		}
		entries = append(entries, page...)
		at = page[len(page)-1].Pos
	}
	if err := log.Check(name, 0, [32]byte{}, entries); err != nil {
		t.Fatal(err)
	}
	return entries
}

// want fails the test when err is not the sentinel.
func want(t testing.TB, err, sentinel error) {
	t.Helper()
	if !errors.Is(err, sentinel) {
		t.Fatalf("got error %v, want %v", err, sentinel)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
