package coordinator_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/memory"
)

// nowhere is a log that keeps nothing and takes snapshots, so that a benchmark
// measures the engine alone.
type nowhere struct{ *memory.Log }

func (nowhere) Read(_ context.Context, _ string, after log.Pos, n int) ([]log.Entry, error) {
	if after.Seq == 0 || n != 1 {
		return nil, log.ErrNotFound
	}
	return make([]log.Entry, 1), nil
}

func (nowhere) PutSnapshot(context.Context, string, log.Snapshot) error { return nil }

func (nowhere) Append(_ context.Context, _ string, after log.Pos, _ time.Time, evs ...room.Event) (log.Pos, bool, error) {
	return log.Pos{Seq: after.Seq + uint64(len(evs))}, false, nil
}

// metronome runs a room of four agents that say 1 KiB each turn; every turn
// waits for a receive.
func metronome(tb testing.TB) (turn <-chan int, r *coordinator.Room, done <-chan error) {
	ticks := make(chan int)
	var bodies [100]string
	for i := range bodies {
		bodies[i] = fmt.Sprintf("%d %s", i, strings.Repeat("lorem ipsum dolor sit amet. ", 36))
	}
	say := func(ctx context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
		select {
		case ticks <- p.Turn:
		case <-ctx.Done():
			return endpoint.Reply{}, ctx.Err()
		}
		return endpoint.Reply{Outcome: endpoint.Said, Text: bodies[p.Turn%len(bodies)]}, nil
	}
	s := spec(room.Limits{MaxTurns: 1 << 30, MaxDuration: time.Hour})
	r, err := coordinator.Open(tb.Context(), config(nowhere{&memory.Log{}}, rotate, say), s, agents("a", "b", "c", "d"))
	if err != nil {
		tb.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(tb.Context()) }()
	return ticks, r, ended
}

// BenchmarkTurn measures one whole turn, decision and reply, without the time of
// log, policy and agents, in a room that has had many turns before.
func BenchmarkTurn(b *testing.B) {
	for _, before := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprintf("turn=%d", before), func(b *testing.B) {
			turn, _, _ := metronome(b)
			for range before {
				<-turn
			}
			b.ReportAllocs()
			used := processorTime()
			for b.Loop() {
				<-turn
			}
			b.ReportMetric(float64((processorTime()-used).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
		})
	}
}

// BenchmarkHeapAfterManyTurns reports by how much the heap has grown after
// 100,000 turns of 1 KiB. It must stay far below the size of the texts.
func BenchmarkHeapAfterManyTurns(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		turn, r, _ := metronome(b)
		for range 100_000 {
			<-turn
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		grown := float64(int64(after.HeapAlloc)-int64(before.HeapAlloc)) / (1 << 20)
		b.ReportMetric(grown, "MiB-grown")
		if grown > 32 {
			b.Errorf("the heap grew by %.1f MiB, over 32 MiB", grown)
		}
		runtime.KeepAlive(r)
	}
}
