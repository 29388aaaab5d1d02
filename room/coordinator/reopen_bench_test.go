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
	size := longRoom(b, db, func(_, bytes int64) bool { return bytes >= 100<<20 })
	b.Run("fold", func(b *testing.B) { reopen(b, cfg, size) })
	leaveSnapshot(b, cfg)
	b.Run("snapshot", func(b *testing.B) { reopen(b, cfg, size) })
}

// BenchmarkState rebuilds the state of a room of 36,913 events, as `moot show` and
// `moot run --room` do, from the log and from its snapshot.
func BenchmarkState(b *testing.B) {
	const length = 36_913
	db, err := sqlite.Open(sqlite.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	longRoom(b, db, func(events, _ int64) bool { return events >= length-1 }) // and the pause
	state := func(b *testing.B) {
		for b.Loop() {
			if s, err := coordinator.State(b.Context(), db, "r1"); err != nil || s.Seq < length {
				b.Fatal(s.Seq, err)
			}
		}
	}
	b.Run("fold", state)
	leaveSnapshot(b, config(db, rotate, count))
	b.Run("snapshot", state)
}

// leaveSnapshot runs a room that ends at once, and leaves a snapshot.
func leaveSnapshot(b *testing.B, cfg coordinator.Config) {
	r, err := coordinator.Reopen(b.Context(), cfg, "r1")
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func reopen(b *testing.B, cfg coordinator.Config, size int64) {
	b.SetBytes(size)
	for b.Loop() {
		if _, err := coordinator.Fold(b.Context(), cfg, "r1"); err != nil {
			b.Fatal(err)
		}
	}
}

// longRoom appends turns of 1 KiB until the log has enough events or bytes, and a
// pause. It returns the bytes.
func longRoom(b *testing.B, db *sqlite.DB, enough func(events, bytes int64) bool) (bytes int64) {
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
		for _, e := range evs {
			raw, err := room.MarshalEvent(e)
			if err != nil {
				b.Fatal(err)
			}
			bytes += int64(len(raw))
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
	for n := 1; !enough(s.Seq, bytes); n++ {
		id := string(rune('a' + n%4))
		request := fmt.Sprint("q", n)
		rec := policy.Record{Decision: s.Policy.Decision + 1, Through: s.Seq}
		add(room.ActorPolicy, room.Decided{Decision: policy.Speak(id, "next"), Record: rec, Grant: room.Grant{Request: request}})
		add(id, room.Replied{Turn: n, Request: request, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint(n, " ", body)}})
		if len(batch) >= 1000 {
			flush()
		}
	}
	add(room.ActorHost, room.Pause{})
	flush()
	return bytes
}
