package jetstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/jetstream"
	"github.com/folkmoot/moot/room/log/logtest"
)

// all reads a whole room.
func all(t testing.TB, d *jetstream.DB, name string) (entries []log.Entry) {
	t.Helper()
	for e, err := range log.Scan(t.Context(), d, name, log.Pos{}) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	if err := log.Check(name, 0, [32]byte{}, entries); err != nil {
		t.Fatal(err)
	}
	return entries
}

// appendTo appends events to a room, one after the other.
func appendTo(t testing.TB, d *jetstream.DB, name string, at log.Pos, events ...room.Event) log.Pos {
	t.Helper()
	for _, e := range events {
		var err error
		if at, _, err = d.Append(t.Context(), name, at, time.Time{}, e); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// TestRestore puts a room back under another name, with a redacted and a large event.
func TestRestore(t *testing.T) {
	s := startServers(t, 1)
	d := s.openAs(t, "restore")
	defer d.Close()
	at := appendTo(t, d, "a", log.Pos{}, logtest.Events("e", 150)...)
	appendTo(t, d, "a", at, logtest.Event("large", strings.Repeat("x", 3<<20)), logtest.Event("last", "y"))
	if err := d.Redact(t.Context(), "a", all(t, d, "a")[6].Event.Redacted()); err != nil {
		t.Fatal(err)
	}
	entries := all(t, d, "a")
	if err := d.Restore(t.Context(), "b", entries); err != nil {
		t.Fatal(err)
	}
	for i, e := range all(t, d, "b") {
		if e.Hash != entries[i].Hash || e.Redacted != entries[i].Redacted {
			t.Fatalf("event %d is another one", e.Seq)
		}
	}
	if err := d.Restore(t.Context(), "b", entries); !errors.Is(err, log.ErrConflict) {
		t.Errorf("restoring again: %v", err)
	}
	for name, want := range map[string]bool{"a": false, "b": true} {
		if got, err := d.Imported(t.Context(), name); got != want || err != nil {
			t.Errorf("room %s: imported %v, %v", name, got, err)
		}
	}
	appendTo(t, d, "b", entries[len(entries)-1].Pos, logtest.Event("more", "z"))
	if got, err := d.Imported(t.Context(), "b"); !got || err != nil {
		t.Errorf("after an append: imported %v, %v", got, err)
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRedactErases looks for a redacted text, and that of a removed room, in the files of the server.
func TestRedactErases(t *testing.T) {
	s := startServers(t, 1)
	d := s.openAs(t, "erase")
	appendTo(t, d, "a", log.Pos{}, logtest.Event("1", "before"), logtest.Event("2", "topsecret-a"), logtest.Event("3", "after"))
	appendTo(t, d, "b", log.Pos{}, logtest.Event("1", "topsecret-b"))
	entries := all(t, d, "a")
	if err := d.PutSnapshot(t.Context(), "a", log.Snapshot{Seq: 3, Hash: entries[2].Hash, Data: []byte("topsecret-c")}); err != nil {
		t.Fatal(err)
	}
	if err := d.Redact(t.Context(), "a", entries[1].Event.Redacted()); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if got := all(t, d, "a"); len(got) != 3 || !got[1].Redacted {
		t.Fatalf("the room has %d events", len(got))
	}
	d.Close()
	s.stop(0)
	if n := s.flipFiles(0, []byte("topsecret")); n != 0 {
		t.Errorf("the text is in the files %d times", n)
	}
}

// TestReadOnly checks that a handle for reading changes nothing and makes nothing.
func TestReadOnly(t *testing.T) {
	s := startServers(t, 1)
	open := func() (*jetstream.DB, error) {
		return jetstream.Open(t.Context(), jetstream.Config{URL: s.url() + "/readers", ReadOnly: true})
	}
	if _, err := open(); !errors.Is(err, log.ErrNotFound) {
		t.Fatalf("opening what is not there: %v", err)
	}
	w := s.openAs(t, "readers")
	defer w.Close()
	at := appendTo(t, w, "a", log.Pos{}, logtest.Event("1", "x"))
	d, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := all(t, d, "a"); len(got) != 1 {
		t.Errorf("%d events", len(got))
	}
	_, _, appended := d.Append(t.Context(), "a", at, time.Time{}, logtest.Event("2", "x"))
	_, lock := d.Lock(t.Context(), "a")
	_, blob := d.PutBlob(t.Context(), []byte("x"))
	for name, err := range map[string]error{
		"append": appended, "lock": lock, "blob": blob,
		"redact": d.Redact(t.Context(), "a", all(t, d, "a")[0].Event.Redacted()), "remove": d.Remove(t.Context(), "a"),
		"snapshot": d.PutSnapshot(t.Context(), "a", log.Snapshot{Seq: 1, Hash: all(t, d, "a")[0].Hash}),
		"announce": d.Announce(t.Context(), "x"),
		"settle":   d.Settle(t.Context(), room.BudgetCharge{ID: "q", Agent: "a", Room: "a", At: time.Now()}),
	} {
		if !errors.Is(err, log.ErrFailed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLease checks that the lock of a process that is gone is free when its lease has
// ended, and that the process is fenced then.
func TestLease(t *testing.T) {
	s := startServers(t, 1)
	open := func(lease time.Duration) *jetstream.DB {
		s.openAs(t, "lease").Close()
		d, err := jetstream.Open(t.Context(), jetstream.Config{URL: s.url(), Prefix: "lease", Lease: lease})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	gone := open(time.Hour) // it renews its lease every 20 minutes: it is as if it were gone
	if _, err := gone.Lock(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	at := appendTo(t, gone, "a", log.Pos{}, logtest.Event("1", "x"))
	if pid := open(time.Hour).Holder("a"); pid != os.Getpid() {
		t.Errorf("the holder is process %d", pid)
	}
	next := open(100 * time.Millisecond)
	s.wait("the lease to end", func() bool {
		_, err := next.Lock(t.Context(), "a")
		if err != nil && !errors.Is(err, log.ErrLocked) {
			t.Fatal(err)
		}
		return err == nil
	})
	appendTo(t, next, "a", at, logtest.Event("claimed", "x"))
	_, _, err := gone.Append(t.Context(), "a", at, time.Time{}, logtest.Event("2", "x"))
	if !errors.Is(err, log.ErrConflict) {
		t.Errorf("the former holder appends: %v", err)
	}
}

// TestForgetMembers removes the entries of processes that were killed long ago.
func TestForgetMembers(t *testing.T) {
	s := startServers(t, 1)
	d := s.openAs(t, "forget")
	defer d.Close()
	if err := d.Announce(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kept    time.Duration
		members int
	}{{time.Hour, 1}, {-time.Hour, 0}} {
		if err := d.ForgetMembers(t.Context(), c.kept); err != nil {
			t.Fatal(err)
		}
		if all, err := d.Members(t.Context()); err != nil || len(all) != c.members {
			t.Errorf("leases kept for %s: members are %v, %v", c.kept, all, err)
		}
	}
}

// TestURLs checks what is refused as the address of a log, and that no error has a password.
func TestURLs(t *testing.T) {
	for url, code := range map[string]string{
		"": "LOG-URL", "localhost:4222": "LOG-URL", "nats://": "LOG-URL", "nats://:4222": "LOG-URL", "nats://u:hidden@127.0.0.1:1/a.b": "LOG-URL",
		"nats://u:hidden@[": "LOG-URL", "nats://u:hidden@127.0.0.1:1": "LOG-NATS", "nats://u:hidden@127.0.0.1:1,nats://u:hidden@127.0.0.1:2/log": "LOG-NATS",
	} {
		_, err := jetstream.Open(t.Context(), jetstream.Config{URL: url, Timeout: time.Second})
		if err == nil || !strings.Contains(err.Error(), code) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestManyEvents reads a room among others by pages from places in its middle.
func TestManyEvents(t *testing.T) {
	s := startServers(t, 1)
	d := s.openAs(t, "many")
	defer d.Close()
	at := map[string]log.Pos{}
	for i := range 120 {
		for _, name := range []string{"a", "b", "c"} {
			events := []room.Event{logtest.Event(fmt.Sprint(i, "-1"), name), logtest.Event(fmt.Sprint(i, "-2"), name)}
			p, _, err := d.Append(t.Context(), name, at[name], time.Time{}, events...)
			if err != nil {
				t.Fatal(err)
			}
			at[name] = p
		}
	}
	whole := all(t, d, "b")
	for seq := range whole {
		page, err := d.Read(t.Context(), "b", log.At(int64(seq)), 3)
		if err != nil || len(page) != min(3, len(whole)-seq) || !bytes.Equal(page[0].Raw, whole[seq].Raw) || page[0].Pos != whole[seq].Pos {
			t.Fatalf("after %d: %d events, %v", seq, len(page), err)
		}
	}
}
