//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/postgres/pgtest"
)

// BenchmarkAppend measures appends of about 512 bytes, each on stable storage before it
// returns, by several rooms at once, as that of package sqlite does.
func BenchmarkAppend(b *testing.B) {
	s := pgtest.Start(b)
	for _, rooms := range []int{1, 8, 64, 256} {
		b.Run(fmt.Sprint("rooms=", rooms), func(b *testing.B) { benchmarkAppend(b, s, rooms) })
	}
}

func benchmarkAppend(b *testing.B, s *pgtest.Server, rooms int) {
	d := open(b, s, schemaOf(b.TempDir()))
	defer d.Close()
	text := strings.Repeat("x", 150)
	var left atomic.Int64
	left.Store(int64(b.N))
	took := make([][]time.Duration, rooms)
	var wg sync.WaitGroup
	b.ResetTimer()
	for r := range rooms {
		wg.Go(func() {
			name, at := fmt.Sprint("room", r), log.Pos{}
			for left.Add(-1) >= 0 {
				start := time.Now()
				p, _, err := d.Append(context.Background(), name, at, never, logtest.Event(fmt.Sprint("1.", at.Seq+1), text))
				if err != nil {
					b.Error(err)
					return
				}
				took[r] = append(took[r], time.Since(start))
				at = p
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
}
