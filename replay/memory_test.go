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
	"github.com/folkmoot/moot/room"
)

// streamedRoom is a room of so many turns in which a policy decided, made up as
// it is read: no more than one event of it exists at a time.
func streamedRoom(turns int) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		seq, names := int64(0), []string{"ann", "bob", "cid", "dan"}
		add := func(body room.Body) bool {
			seq++
			return yield(room.Event{V: 1, Seq: seq, Clock: time.Duration(seq) * time.Millisecond, Body: body}, nil)
		}
		ok := add(room.Opened{Spec: room.Spec{Room: "r_long", Limits: room.Limits{MaxTurns: 1 << 30}, Policy: room.PolicyRef{Name: "ran"}}})
		for _, id := range names {
			ok = ok && add(room.Joined{Participant: room.Participant{ID: id, Kind: policy.Local, Mode: room.FullAuto}})
		}
		for n := 1; ok && n <= turns; n++ {
			who := names[n*n%len(names)]
			ok = add(room.TurnGranted{Turn: n, Participant: who, Reason: "its turn", Record: &policy.Record{Decision: int64(n), Through: seq}}) &&
				add(room.MessagePosted{Turn: n, Message: room.Message{
					ID: fmt.Sprint("r_long.", n), From: who, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible,
					Turn: n, Text: fmt.Sprintf("This is what %s has to say in turn %d, and no more than that. ", who, n),
				}})
		}
	}
}

// heapAt replays a room of so many turns and returns the most that the heap held
// after a collection in its last tenth.
func heapAt(tb testing.TB, turns int) uint64 {
	tb.Helper()
	var most atomic.Uint64
	said := 0
	c := replay.Config{
		Resamples: 1, Subjects: []replay.Subject{{Name: "sure", Policy: sure{}}, {Name: "ngram3", Baseline: "ngram3"}},
		Progress: func(n int) {
			if said += n; said > 2*turns*9/10 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
				said = 0
			}
		},
	}
	r, err := replay.Run(tb.Context(), c, func(yield func(replay.Transcript, error) bool) {
		yield(replay.Transcript{Name: "r_long", Events: streamedRoom(turns)}, nil)
	})
	if err != nil {
		tb.Fatal(err)
	}
	if r.Decisions != turns {
		tb.Fatalf("%d decisions, want %d", r.Decisions, turns)
	}
	return most.Load()
}

// TestMemory: what a replay holds does not grow with its transcript, once that
// is longer than what is kept of any.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a long transcript takes its time")
	}
	short, long := heapAt(t, 20_000), heapAt(t, 60_000)
	if grown := int64(long) - int64(short); grown > 40_000*5 {
		t.Errorf("three times the turns hold %d KiB more", grown>>10)
	}
}

// TestFarBack: a window that reaches back further than a walk keeps is whole
// all the same.
func TestFarBack(t *testing.T) {
	const turns, size = 10_000, 40
	events := func(yield func(room.Event, error) bool) {
		seq := int64(0)
		add := func(body room.Body) bool {
			seq++
			return yield(room.Event{V: 1, Seq: seq, Clock: time.Duration(seq) * time.Millisecond, Body: body}, nil)
		}
		ok := add(room.Opened{Spec: room.Spec{Room: "r_far", Limits: room.Limits{MaxTurns: 1 << 30}}})
		for _, id := range []string{"ann", "bob", "dan"} {
			ok = ok && add(room.Joined{Participant: room.Participant{ID: id, Kind: policy.Local, Mode: room.FullAuto, Remembers: true}})
		}
		for n := 1; ok && n <= turns; n++ {
			who := []string{"ann", "bob"}[n%2]
			if n == 1 || n == turns {
				who = "dan" // who has all between to catch up on
			}
			ok = add(room.TurnGranted{Turn: n, Participant: who, Window: room.Window{Through: seq}, Record: &policy.Record{Decision: int64(n), Through: seq}}) &&
				add(room.MessagePosted{Turn: n, Message: room.Message{
					ID: fmt.Sprint("r_far.", n), From: who, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible, Turn: n, Text: strings.Repeat("x", size),
				}})
		}
	}
	r, err := replay.Run(t.Context(), replay.Config{Subjects: []replay.Subject{{Name: "ngram3", Baseline: "ngram3"}}}, func(yield func(replay.Transcript, error) bool) {
		yield(replay.Transcript{Name: "r_far", Events: events}, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Windows {
		if last := w.Budgets[len(w.Budgets)-1]; w.Participant == "dan" && last.Tokens != (turns-2)*size/4 {
			t.Errorf("dan would have been handed %d tokens at %d turns, want %d", last.Tokens, w.Turns, (turns-2)*size/4)
		}
	}
}

// BenchmarkHeap reports what is held at the end of long transcripts.
func BenchmarkHeap(b *testing.B) {
	for _, turns := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(heapAt(b, turns))/(1<<20), "MiB")
			}
		})
	}
}
