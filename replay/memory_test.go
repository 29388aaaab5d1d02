package replay_test

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

// streamedRoom is a room of so many turns in which a policy decided. Its events
// are made as they are read, so that only one exists at a time.
func streamedRoom(name string, people []room.Participant, turns, size int, speaker func(turn int) string) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		seq := int64(0)
		add := func(body room.Body) bool {
			seq++
			return yield(room.Event{V: 1, Seq: seq, Clock: time.Duration(seq) * time.Millisecond, Body: body}, nil)
		}
		ok := add(room.Opened{Spec: room.Spec{Room: name, Limits: room.Limits{MaxTurns: 1 << 30}, Policy: room.PolicyRef{Name: "ran"}}})
		for _, p := range people {
			ok = ok && add(room.Joined{Participant: p})
		}
		for n := 1; ok && n <= turns; n++ {
			id := speaker(n)
			grant := room.TurnGranted{Turn: n, Participant: id, Reason: "its turn", Window: room.Window{Through: seq}, Record: &policy.Record{Decision: int64(n), Through: seq}}
			ok = add(grant) && add(room.MessagePosted{Turn: n, Message: room.Message{
				ID: fmt.Sprint(name, ".", n), From: id, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible,
				Turn: n, Text: strings.Repeat("x", size),
			}})
		}
	}
}

func agentSeats(remembers bool, ids ...string) []room.Participant {
	var all []room.Participant
	for _, id := range ids {
		all = append(all, room.Participant{ID: id, Kind: policy.Local, Mode: room.FullAuto, Remembers: remembers})
	}
	return all
}

// heapAt replays a room of so many turns and returns the largest heap, after
// collections, in its last tenth.
func heapAt(tb testing.TB, turns int) uint64 {
	tb.Helper()
	var most atomic.Uint64
	decisions := 0
	c := replay.Config{
		Resamples: 1, Policies: []drive.Policy{{Name: "mostActive", Proposer: mostActive{}}, {Name: "ngram3", Baseline: "ngram3"}},
		Progress: func(p replay.Progress) {
			if p.Made > 2*turns*9/10 && p.Made-decisions > 2*turns/20 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
				decisions = p.Made
			}
		},
	}
	names := []string{"ann", "bob", "cid", "dan"}
	events := streamedRoom("r_long", agentSeats(false, names...), turns, 65, func(n int) string { return names[n*n%len(names)] })
	r, err := replay.Run(tb.Context(), c, func(yield func(history.Transcript, error) bool) {
		yield(history.Transcript{Name: "r_long", Events: events}, nil)
	})
	if err != nil {
		tb.Fatal(err)
	}
	if r.Decisions != turns {
		tb.Fatalf("%d decisions, want %d", r.Decisions, turns)
	}
	return most.Load()
}

// TestMemory: the memory of a replay does not grow with its transcript, once
// that is longer than what a walk keeps.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("replays long transcripts")
	}
	short, long := heapAt(t, 20_000), heapAt(t, 60_000)
	if grown := int64(long) - int64(short); grown > 40_000*5 {
		t.Errorf("three times the turns need %d KiB more", grown>>10)
	}
}

// TestFarBack: a window that reaches further back than a walk keeps is whole.
func TestFarBack(t *testing.T) {
	const turns, size = 10_000, 40
	speaker := func(n int) string {
		if n == 1 || n == turns {
			return "dan" // whose last window holds everything between
		}
		return []string{"ann", "bob"}[n%2]
	}
	events := streamedRoom("r_far", agentSeats(true, "ann", "bob", "dan"), turns, size, speaker)
	c := replay.Config{Policies: []drive.Policy{{Name: "ngram3", Baseline: "ngram3"}}}
	r, err := replay.Run(t.Context(), c, func(yield func(history.Transcript, error) bool) {
		yield(history.Transcript{Name: "r_far", Events: events}, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Windows {
		if last := w.Budgets[len(w.Budgets)-1]; w.Participant == "dan" && last.Tokens != (turns-2)*size/4 {
			t.Errorf("windows of dan: %d tokens at %d turns, want %d", last.Tokens, w.Turns, (turns-2)*size/4)
		}
	}
}

// BenchmarkHeap reports the memory at the end of long transcripts.
func BenchmarkHeap(b *testing.B) {
	for _, turns := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(heapAt(b, turns))/(1<<20), "MiB")
			}
		})
	}
}
