//go:build unix

package plugins

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
)

// BenchmarkWorstDecision is the processor time of a decision of each flood, at
// the most. It includes the new instance that a decision needs after a failed
// one, and the garbage of both. The last line is the worst of all.
func BenchmarkWorstDecision(b *testing.B) {
	h := newHost(b, Config{CacheDir: cacheDir(b), Parallel: 1})
	var all time.Duration
	where := ""
	for _, f := range floods {
		b.Run(f.name, func(b *testing.B) {
			p, err := loadFlood(b, h, f)
			if err != nil {
				b.Skip(err)
			}
			defer p.Close()
			var worst time.Duration
			for b.Loop() {
				start := processTime(b)
				_, _ = p.run(context.Background(), request{room: "r", input: []byte("{}")}) // it fails
				worst = max(worst, time.Duration(processTime(b)-start))
			}
			b.ReportMetric(milliseconds(worst), "worst-cpu-ms")
			b.ReportMetric(0, "ns/op")
			if worst > all {
				all, where = worst, f.name
			}
		})
	}
	b.Run("all", func(b *testing.B) {
		b.ReportMetric(milliseconds(all), "worst-cpu-ms")
		b.ReportMetric(0, "ns/op")
		b.Log(where)
	})
}

// waitingRooms is the number of rooms that wait.
func (q *queue) waitingRooms() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func loadFlood(b *testing.B, h *Host, f flood) (*Policy, error) {
	b.Helper()
	return h.Load(context.Background(), Module{Name: f.name, Wasm: f.module(), Limits: Limits{MemoryPages: MaxMemoryPages}})
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// BenchmarkNextToHostileRooms is how long a room with a good policy waits for a
// decision next to 64 rooms that ask all the time: of endless loops, of the
// costliest host calls, and of all floods.
func BenchmarkNextToHostileRooms(b *testing.B) {
	only := func(names ...string) []flood {
		return slices.DeleteFunc(slices.Clone(floods), func(f flood) bool { return !slices.Contains(names, f.name) })
	}
	for _, k := range []struct {
		name   string
		floods []flood
	}{
		{"endless", only("endless")},
		{"grow-40000", only("grow-40000")},
		{"write-1024", only("write-1024-empty")},
		{"all", floods},
	} {
		b.Run(k.name, func(b *testing.B) { nextToHostileRooms(b, k.floods) })
	}
}

func nextToHostileRooms(b *testing.B, floods []flood) {
	h := newHost(b, Config{CacheDir: cacheDir(b)})
	var hostile []*Policy
	for _, f := range floods {
		p, err := loadFlood(b, h, f)
		if err != nil {
			b.Logf("%s: %v", f.name, err)
			continue
		}
		hostile = append(hostile, p)
	}
	good := loadGuest(b, h, w.Guests(b, root)[1], nil)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for i := range 64 {
		p, room := hostile[i%len(hostile)], fmt.Sprint("hostile ", i)
		wg.Go(func() {
			for ctx.Err() == nil {
				_, _ = p.run(ctx, request{room: room, input: []byte("{}")})
			}
		})
	}
	for h.queue.waitingRooms() < 60-h.queue.places { // the others decide, or are about to ask
		time.Sleep(time.Millisecond)
	}
	c := oneKiB()
	var waits []time.Duration
	var cpu time.Duration // of all processors, in the wait that took the most
	for b.Loop() {
		start, before := time.Now(), processTime(b)
		if _, err := good.run(context.Background(), c); err != nil {
			b.Fatal(err)
		}
		waits = append(waits, time.Since(start))
		cpu = max(cpu, time.Duration(processTime(b)-before))
	}
	stop()
	wg.Wait()
	slices.Sort(waits)
	b.ReportMetric(milliseconds(waits[len(waits)/2]), "median-ms")
	b.ReportMetric(milliseconds(waits[len(waits)-1]), "worst-ms")
	b.ReportMetric(milliseconds(cpu)/float64(runtime.GOMAXPROCS(0)), "worst-cpu-ms") // as on a machine that runs nothing else
	b.ReportMetric(0, "ns/op")
}
