package coordinator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// BenchmarkReopen reopens a room of 100 MB of messages in the real log, by
// its newest snapshot and by folding it all.
func BenchmarkReopen(b *testing.B) {
	db, err := sqlite.Open(sqlite.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	cfg := config(db, rotate, count)
	size := longRoom(b, db, 100<<20)
	b.Run("fold", func(b *testing.B) { reopen(b, cfg, size) })
	r, err := coordinator.Reopen(b.Context(), cfg, "r1") // ends at once, and leaves a snapshot
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Run("snapshot", func(b *testing.B) { reopen(b, cfg, size) })
}

func reopen(b *testing.B, cfg coordinator.Config, size int64) {
	b.SetBytes(size)
	for b.Loop() {
		if _, err := coordinator.Fold(b.Context(), cfg, "r1"); err != nil {
			b.Fatal(err)
		}
	}
}

// longRoom appends turns of 1 KiB until the log holds so many bytes, and a
// pause.
func longRoom(b *testing.B, db *sqlite.DB, size int64) int64 {
	var s room.State
	var batch []room.Event
	var tail log.Pos
	now := room.Now{Wall: time.Now()}
	body := strings.Repeat("lorem ipsum dolor sit amet. ", 36)
	add := func(actor string, do room.Act) {
		evs, err := s.Decide(room.Command{Actor: actor, Do: do}, now)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range evs {
			s.Apply(e)
		}
		batch = append(batch, evs...)
	}
	flush := func() {
		var err error
		if tail, _, err = db.Append(b.Context(), "r1", tail, time.Time{}, batch...); err != nil {
			b.Fatal(err)
		}
		batch = batch[:0]
	}
	add(room.ActorHost, room.Open{Spec: spec(room.Limits{MaxTurns: 1 << 30}), Participants: agents("a", "b", "c", "d")})
	add(room.ActorHost, room.Claim{Owner: "bench"})
	var total int64
	for n := 1; total < size; n++ {
		id := string(rune('a' + n%4))
		request := fmt.Sprint("q", n)
		rec := policy.Record{Decision: s.Policy.Decision + 1, Through: s.Seq}
		add(room.ActorPolicy, room.Decided{Decision: policy.Speak(id, "next"), Record: rec, Grant: room.Grant{Request: request}})
		add(id, room.Replied{Turn: n, Request: request, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint(n, " ", body)}})
		if len(batch) >= 1000 {
			for _, e := range batch {
				raw, _ := room.MarshalEvent(e)
				total += int64(len(raw))
			}
			flush()
		}
	}
	add(room.ActorHost, room.Pause{})
	flush()
	return total
}
