package logtest

import (
	"bytes"
	"strings"
	"testing"

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
