package logtest

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

func testRead(t *testing.T, f *fixture) {
	events := Events("a", 250)
	f.append("a", log.Pos{}, events...)
	f.fill("b", 5)
	f.reopen()
	at := log.Pos{}
	for _, size := range []int{1, 2, 47, 100, 1000} {
		page, err := f.Read(f.ctx, "a", at, size)
		must(t, err)
		if len(page) != min(size, 250-int(at.Seq)) {
			t.Fatalf("a page of %d after %d has %d entries", size, at.Seq, len(page))
		}
		for i, e := range page {
			sameEvent(t, e, at.Seq+uint64(i)+1, events[e.Seq-1])
		}
		at = page[len(page)-1].Pos
	}
	rest, err := f.Read(f.ctx, "a", at, 10)
	if err != nil || len(rest) != 0 {
		t.Fatalf("after the tail: %d entries, %v", len(rest), err)
	}
	if part, err := f.Read(f.ctx, "a", log.Pos{Seq: 240}, 5); err != nil || len(part) != 5 || part[0].Seq != 241 {
		t.Fatalf("by a place without a token: %d entries, %v", len(part), err)
	}
	n := uint64(0)
	for e, err := range log.Scan(f.ctx, f, "a", log.Pos{Seq: 100}) {
		must(t, err)
		if n++; e.Seq != 100+n {
			t.Fatalf("scanning gives event %d after %d", e.Seq, 99+n)
		}
	}
	if n != 150 {
		t.Fatalf("scanning gives %d events, want 150", n)
	}
	whole, err := f.Read(f.ctx, "a", log.Pos{}, 0)
	if err != nil || len(whole) != 250 {
		t.Fatalf("a page of the default size: %d entries, %v", len(whole), err)
	}
}

// sameEvent compares an entry with the appended event.
func sameEvent(t *testing.T, e log.Entry, seq uint64, event room.Event) {
	t.Helper()
	event.Seq = int64(seq)
	raw, err := room.MarshalEvent(event)
	must(t, err)
	if e.Seq != seq || e.Redacted || !reflect.DeepEqual(e.Event, event) || !bytes.Equal(e.Raw, raw) {
		t.Fatalf("entry %d is not what was appended:\n%+v\n%+v", seq, e.Event, event)
	}
}

func testReadMissing(t *testing.T, f *fixture) {
	_, err := f.Read(f.ctx, "a", log.Pos{}, 10)
	want(t, err, log.ErrNotFound)
	tail := f.fill("a", 3)
	_, err = f.Read(f.ctx, "a", log.Pos{Seq: tail.Seq + 1}, 10)
	want(t, err, log.ErrNotFound)
}

// The chain is the one that the package describes, and salts differ.
func testChain(t *testing.T, f *fixture) {
	same := []room.Event{Event("1", "same"), Event("2", "same")}
	f.append("a", log.Pos{}, same...)
	f.append("b", log.Pos{}, same...)
	a, b := f.all("a"), f.all("b")
	var previous [32]byte
	for _, e := range a {
		if e.Commit != log.Commit(e.Salt, e.Raw) || e.Hash != log.Link(previous, e.Seq, e.Commit) {
			t.Fatalf("entry %d does not hash as it should", e.Seq)
		}
		previous = e.Hash
	}
	if bytes.Equal(a[0].Salt, a[1].Salt) || bytes.Equal(a[0].Salt, b[0].Salt) || a[0].Commit == b[0].Commit {
		t.Fatal("two events have one salt")
	}
}

func testVerifyMark(t *testing.T, f *fixture) {
	f.fill("a", 30)
	entries := f.all("a")
	end := log.Mark{Seq: 30, Hash: entries[29].Hash}
	for _, seq := range []uint64{0, 1, 10, 29, 30} {
		from := log.Mark{Seq: seq}
		if seq > 0 {
			from.Hash = entries[seq-1].Hash
		}
		if got, err := log.Verify(f.ctx, f, "a", from); err != nil || got != end {
			t.Errorf("from %d: %v, %v", seq, got.Seq, err)
		}
	}
	_, err := log.Verify(f.ctx, f, "a", log.Mark{Seq: 10, Hash: entries[10].Hash})
	corrupt(t, err, "a", 10)
	_, err = log.Verify(f.ctx, f, "a", log.Mark{Seq: 31, Hash: end.Hash})
	corrupt(t, err, "a", 31)
}

// corrupt fails the test unless err reports damage at that place.
func corrupt(t *testing.T, err error, name string, seq uint64) {
	t.Helper()
	want(t, err, log.ErrCorrupt)
	c, ok := errors.AsType[*log.CorruptError](err)
	if !ok || c.Room != name || c.Seq != seq {
		t.Fatalf("got error %v, want one that names room %s and event %d", err, name, seq)
	}
	if !strings.Contains(err.Error(), "LOG-CORRUPT") {
		t.Fatalf("error %v has no code", err)
	}
}
