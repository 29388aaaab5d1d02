//go:build unix

package transfer_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/folkmoot/moot/internal/transfer"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log/jetstream"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/postgres"
	"github.com/folkmoot/moot/room/log/postgres/pgtest"
)

// TestEngines moves a log from SQLite to PostgreSQL, to JetStream, and back. All that it
// keeps is the same after each.
func TestEngines(t *testing.T) {
	first := folder(t, t.TempDir())
	fillLog(t, first)
	want := contents(t, first)
	logs := []transfer.Log{first, postgresLog(t), natsLog(t), folder(t, t.TempDir())}
	for i, to := range logs[1:] {
		from := logs[i]
		got, err := transfer.Run(t.Context(), transfer.Config{From: from, To: to, Move: true})
		if err != nil || got.Err() != nil {
			t.Fatalf("copying to %T: %v, %v", to, err, got.Err())
		}
		if rooms, _ := got.Count(transfer.Copied); rooms != 4 || got.Blobs != 2 || got.Charges != 2 {
			t.Errorf("copying to %T: %+v", to, got)
		}
		if is := contents(t, to); is != want {
			t.Errorf("%T has\n%s\nwant\n%s", to, is, want)
		}
		if left, err := from.Rooms(t.Context()); err != nil || len(left) != 0 {
			t.Errorf("%T still has %v, %v", from, left, err)
		}
	}
}

func postgresLog(t *testing.T) transfer.Log {
	t.Helper()
	l, err := postgres.Open(postgres.Config{URL: pgtest.Start(t).URL("")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func natsLog(t *testing.T) transfer.Log {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
		JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 64 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	for !s.ReadyForConnections(time.Second) {
	}
	l, err := jetstream.Open(t.Context(), jetstream.Config{URL: s.ClientURL(), Streams: 2, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// fillLog makes rooms of every kind, blobs and charges.
func fillLog(t *testing.T, l transfer.Log) {
	t.Helper()
	fill(t, l, "plain", 3, time.Time{})
	fill(t, l, "r/ü x", 2, time.Now().Add(time.Hour).UTC())
	fill(t, l, "redacted", 1200, time.Time{})
	stubs := []room.Event{logtest.Events("redacted", 7)[6].Redacted()}
	stubs[0].Seq = 7
	must(t, l.Redact(t.Context(), "redacted", stubs...))
	entries := read(t, l, "plain")
	must(t, l.PutBack(t.Context(), "imported", entries, time.Time{}, true))
	for _, content := range []string{"", "a module"} {
		_, err := l.PutBlob(t.Context(), []byte(content))
		must(t, err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	charge := room.BudgetCharge{ID: "plain/1", Agent: "agent one", Room: "plain", Turn: 1, At: at}
	charge.Tokens, charge.Turns = 12, 1
	_, err := l.Reserve(t.Context(), charge, time.Time{}, func([]room.BudgetCharge) bool { return true })
	must(t, err)
	charge.ID, charge.Tokens, charge.Estimated = "plain/2", 70, true
	must(t, l.Settle(t.Context(), charge))
}

// contents returns all that a log keeps as a text.
func contents(t *testing.T, l transfer.Log) (text string) {
	t.Helper()
	infos, err := l.Rooms(t.Context())
	must(t, err)
	for _, i := range infos {
		imported, err := l.Imported(t.Context(), i.Room)
		must(t, err)
		redacted := 0
		entries := read(t, l, i.Room)
		for _, e := range entries {
			if e.Redacted {
				redacted++
			}
		}
		text += fmt.Sprintf("%q: %d events, %d redacted, wake %v, imported %v, ends in %x\n", i.Room, i.Last, redacted, i.Wake, imported, entries[len(entries)-1].Hash)
	}
	digests, err := l.Digests(t.Context())
	must(t, err)
	for _, digest := range digests {
		content, err := l.Blob(t.Context(), digest)
		must(t, err)
		text += fmt.Sprintf("blob %s: %q\n", digest, content)
	}
	charges, err := l.Charges(t.Context(), "agent one", time.Time{})
	must(t, err)
	b, err := json.Marshal(charges)
	must(t, err)
	return text + string(b)
}
