package jetstream_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
)

// BenchmarkAppend measures appends of one event by several rooms at once, on one server and
// on three with three replicas, each a process that syncs every write. The figures that count
// are events/s and p50-ms.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 3} {
		for _, rooms := range []int{1, 64, 256} {
			b.Run(fmt.Sprintf("servers=%d/rooms=%d", n, rooms), func(b *testing.B) { benchmarkAppend(b, n, rooms) })
		}
	}
}

func benchmarkAppend(b *testing.B, n, rooms int) {
	d := startProcesses(b, n).openAs(b, "bench")
	defer d.Close()
	var left atomic.Int64
	left.Store(int64(b.N))
	took := make([][]time.Duration, rooms)
	var wg sync.WaitGroup
	b.ResetTimer()
	for r := range rooms {
		wg.Go(func() {
			at := log.Pos{}
			for left.Add(-1) >= 0 {
				start := time.Now()
				p, _, err := d.Append(b.Context(), fmt.Sprint("room", r), at, time.Time{}, logtest.Event(fmt.Sprint(at.Seq+1), strings.Repeat("x", 200)))
				if err != nil {
					b.Error(err)
					return
				}
				at, took[r] = p, append(took[r], time.Since(start))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	if len(all) == 0 {
		return
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(all[len(all)/2])/float64(time.Millisecond), "p50-ms")
}
