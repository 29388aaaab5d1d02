package logtest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
)

func testSnapshots(t *testing.T, f *fixture) {
	_, err := f.Snapshot(f.ctx, "a")
	want(t, err, log.ErrNotFound)
	want(t, f.PutSnapshot(f.ctx, "a", log.Snapshot{Seq: 1}), log.ErrNotFound)
	f.fill("a", 10)
	f.fill("b", 10)
	_, err = f.Snapshot(f.ctx, "a")
	want(t, err, log.ErrNotFound)
	entries := f.all("a")
	put := func(seq uint64, data string) {
		t.Helper()
		must(t, f.PutSnapshot(f.ctx, "a", log.Snapshot{Seq: seq, Hash: entries[seq-1].Hash, Data: []byte(data)}))
	}
	get := func(seq uint64, data string) {
		t.Helper()
		s, err := f.Snapshot(f.ctx, "a")
		if err != nil || s.Seq != seq || s.Hash != entries[seq-1].Hash || string(s.Data) != data {
			t.Fatalf("snapshot is of %d, %d bytes, %v; want %d", s.Seq, len(s.Data), err, seq)
		}
	}
	put(4, "four")
	get(4, "four")
	put(7, strings.Repeat("seven", 100_000))
	put(5, "five, late")
	get(7, strings.Repeat("seven", 100_000))
	put(10, "")
	f.reopen()
	get(10, "")
	if err := f.PutSnapshot(f.ctx, "a", log.Snapshot{Seq: 10, Hash: entries[8].Hash}); err == nil {
		t.Fatal("a snapshot of another chain was kept")
	}
	if err := f.PutSnapshot(f.ctx, "a", log.Snapshot{Seq: 11, Hash: entries[9].Hash}); err == nil {
		t.Fatal("a snapshot of the future was kept")
	}
	_, err = f.Snapshot(f.ctx, "b")
	want(t, err, log.ErrNotFound)
}

func testBlobs(t *testing.T, f *fixture) {
	contents := [][]byte{{}, {0}, []byte("hello"), bytes.Repeat([]byte("big"), 1<<20)}
	for range 2 { // the second time they are there already
		for _, content := range contents {
			digest, err := f.PutBlob(f.ctx, content)
			must(t, err)
			if digest != log.Digest(content) {
				t.Fatalf("digest is %s", digest)
			}
		}
	}
	f.reopen()
	var digests []string
	for _, content := range contents {
		digests = append(digests, log.Digest(content))
	}
	slices.Sort(digests)
	if all, err := f.Digests(f.ctx); err != nil || !slices.Equal(all, digests) {
		t.Fatalf("digests are %v, %v, want %v", all, err, digests)
	}
	for _, content := range contents {
		got, err := f.Blob(f.ctx, log.Digest(content))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("blob of %d bytes came back with %d, %v", len(content), len(got), err)
		}
	}
	for _, digest := range []string{"", "x", log.Digest([]byte("other")), strings.ToUpper(log.Digest([]byte("hello")))} {
		_, err := f.Blob(f.ctx, digest)
		want(t, err, log.ErrNotFound)
	}
}

// testBlobsAtOnce has callers store the same blob at the same time, as rooms do that are the
// first ones with a policy.
func testBlobsAtOnce(t *testing.T, f *fixture) {
	size, callers := 2<<20, 16
	if testing.Short() {
		size, callers = 1<<18, 4
	}
	content := bytes.Repeat([]byte("big"), size)
	errs := make([]error, callers)
	var storing sync.WaitGroup
	for i := range errs {
		storing.Go(func() { _, errs[i] = f.PutBlob(f.ctx, content) })
	}
	storing.Wait()
	must(t, errors.Join(errs...))
	if got, err := f.Blob(f.ctx, log.Digest(content)); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("blob of %d bytes came back with %d, %v", len(content), len(got), err)
	}
}

func testReopen(t *testing.T, f *fixture) {
	at := f.fill("a", 120)
	before := f.all("a")
	for i := range 3 {
		f.reopen()
		if tail, err := f.Tail(f.ctx, "a"); err != nil || tail != at {
			t.Fatalf("tail is %v, %v, want %v", tail, err, at)
		}
		for j, e := range f.all("a")[:len(before)] {
			if e.Hash != before[j].Hash || e.Pos != before[j].Pos {
				t.Fatalf("entry %d has changed", j+1)
			}
		}
		at = f.append("a", at, Event(string(rune('x'+i)), "more"))
	}
}

func testClosed(t *testing.T, f *fixture) {
	at := f.fill("a", 2)
	ended := make(chan error, 1)
	go func() { ended <- follow(f.ctx, f, "a", log.Pos{}, 3) }()
	f.close()
	if err := <-ended; err == nil {
		t.Error("following went on")
	}
	if _, _, err := f.Append(f.ctx, "a", at, at0, Event("x", "x")); err == nil {
		t.Error("appending went on")
	}
	if _, err := f.Read(f.ctx, "a", log.Pos{}, 10); err == nil {
		t.Error("reading went on")
	}
	if err := f.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func testRooms(t *testing.T, f *fixture) {
	infos, err := f.Rooms(f.ctx)
	if err != nil || len(infos) != 0 {
		t.Fatalf("a new log has %d rooms, %v", len(infos), err)
	}
	start := time.Now().Add(-time.Second)
	wake := time.Date(2027, 1, 2, 3, 4, 5, 678, time.UTC)
	at := f.fill("b", 3)
	_, _, err = f.Append(f.ctx, "b", at, wake, Event("x", "x"))
	must(t, err)
	f.fill("a", 2)
	f.reopen()
	infos, err = f.Rooms(f.ctx)
	must(t, err)
	if len(infos) != 2 || infos[0].Room != "a" || infos[1].Room != "b" {
		t.Fatalf("rooms are %+v, want a and b", infos)
	}
	for i, last := range []uint64{2, 4} {
		bytes := int64(0)
		for _, e := range f.all(infos[i].Room) {
			bytes += int64(len(e.Raw))
		}
		if infos[i].Last != last || infos[i].Bytes != bytes || infos[i].Updated.Before(start) || infos[i].Updated.After(time.Now()) {
			t.Errorf("info is %+v, want last %d and %d bytes", infos[i], last, bytes)
		}
	}
	if !infos[0].Wake.IsZero() || !infos[1].Wake.Equal(wake) {
		t.Errorf("wake times are %v and %v", infos[0].Wake, infos[1].Wake)
	}
}

func testDue(t *testing.T, f *fixture) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	tails := map[string]log.Pos{}
	wake := func(name string, at time.Time) {
		t.Helper()
		p, _, err := f.Append(f.ctx, name, tails[name], at, Event(time.Now().String()+name, "x"))
		must(t, err)
		tails[name] = p
	}
	due := func(at time.Time, names ...string) {
		t.Helper()
		got, err := f.Due(f.ctx, at)
		must(t, err)
		slices.Sort(got)
		if !slices.Equal(got, names) {
			t.Fatalf("due at %v: %v, want %v", at, got, names)
		}
	}
	wake("never", time.Time{})
	wake("soon", now.Add(time.Second))
	wake("now", now)
	wake("far", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	due(now.Add(-1))
	due(now, "now")
	due(now.Add(time.Minute), "now", "soon")
	f.reopen()
	due(now.Add(time.Minute), "now", "soon")
	wake("now", time.Time{})
	wake("soon", now.Add(time.Hour))
	due(now.Add(time.Minute))
	due(now.Add(time.Hour), "soon")
}
