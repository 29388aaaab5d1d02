package sqlite_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// sized returns an event whose stored form is about size bytes.
func sized(id string, size int) room.Event {
	e := logtest.Event(id, "")
	raw, err := room.MarshalEvent(e)
	if err != nil {
		panic(err)
	}
	if n := size - len(raw); n > 0 {
		e = logtest.Event(id, strings.Repeat("x", n))
	}
	return e
}

// BenchmarkAppend measures appends of 512 bytes, each on stable storage before
// it returns, by several rooms at once. The figures that count are events/s
// and p50-ms.
func BenchmarkAppend(b *testing.B) {
	for _, rooms := range []int{1, 8, 64, 256} {
		b.Run(fmt.Sprint("rooms=", rooms), func(b *testing.B) { benchmarkAppend(b, rooms) })
	}
}

func benchmarkAppend(b *testing.B, rooms int) {
	d := open(b, b.TempDir())
	defer d.Close()
	ctx := context.Background()
	var left atomic.Int64
	left.Store(int64(b.N))
	took := make([][]time.Duration, rooms)
	var wg sync.WaitGroup
	b.ResetTimer()
	used := processorTime()
	for r := range rooms {
		wg.Go(func() {
			name, at := fmt.Sprint("room", r), log.Pos{}
			for left.Add(-1) >= 0 {
				e := sized(fmt.Sprintf("1.%d", at.Seq+1), 512)
				start := time.Now()
				p, _, err := d.Append(ctx, name, at, time.Time{}, e)
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
	b.ReportMetric(float64((processorTime()-used).Nanoseconds())/1000/float64(b.N), "cpu-µs/event")
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
}

// filled returns a log with so many events of size bytes in each room.
func filled(b *testing.B, rooms, events, size int) *sqlite.DB {
	b.Helper()
	return filledIn(b, b.TempDir(), rooms, events, size)
}

func filledIn(b *testing.B, dir string, rooms, events, size int) *sqlite.DB {
	b.Helper()
	d := open(b, dir)
	const batch = 500
	for from := 0; from < events; from += batch {
		var wg sync.WaitGroup
		for r := range rooms {
			list := make([]room.Event, min(batch, events-from))
			for i := range list {
				list[i] = sized(fmt.Sprintf("1.%d", from+i+1), size)
			}
			wg.Go(func() {
				after := log.Pos{Seq: uint64(from), Tok: uint64(from)}
				if _, _, err := d.Append(context.Background(), fmt.Sprint("room", r), after, time.Time{}, list...); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	return d
}

// BenchmarkRead reads 1,000 events of one room among 200,000 of 200 rooms,
// with their chain checked and their bodies decoded.
func BenchmarkRead(b *testing.B) {
	const rooms = 200
	d := filled(b, rooms, 1000, 512)
	defer d.Close()
	i, used := 0, processorTime()
	for b.Loop() {
		i++
		got, err := d.Read(b.Context(), fmt.Sprint("room", i*7%rooms), log.Pos{}, 1000)
		if err != nil || len(got) != 1000 {
			b.Fatal(len(got), err)
		}
	}
	b.ReportMetric(float64((processorTime()-used).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// BenchmarkFold reads a room of 100 MB from its first event to its last, as a
// reload without a snapshot does.
func BenchmarkFold(b *testing.B) {
	const events, size = 50_000, 2000
	d := filled(b, 1, events, size)
	defer d.Close()
	b.SetBytes(events * size)
	used := processorTime()
	for b.Loop() {
		n := 0
		for e, err := range log.Scan(b.Context(), d, "room0", log.Pos{}) {
			if n++; err != nil || e.Seq != uint64(n) {
				b.Fatal(n, err)
			}
		}
		if n != events {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64((processorTime()-used).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// BenchmarkOpen opens a log of 100 MB in 50 rooms, finds a room's tail and reads
// its last 100 events, as reopening a room with a snapshot does. The process before it
// has closed the log, or was killed while it appended.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	if err := filledIn(b, dir, 50, 1000, 2000).Close(); err != nil {
		b.Fatal(err)
	}
	var longest time.Duration
	reopen := func(b *testing.B) {
		start := time.Now()
		d := open(b, dir)
		tail, err := d.Tail(b.Context(), "room7")
		if err != nil {
			b.Fatal(err)
		}
		if got, err := d.Read(b.Context(), "room7", log.Pos{Seq: tail.Seq - 100}, 100); err != nil || len(got) != 100 {
			b.Fatal(len(got), err)
		}
		longest = max(longest, time.Since(start))
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("closed", func(b *testing.B) {
		for b.Loop() {
			reopen(b)
		}
	})
	b.Run("killed", func(b *testing.B) {
		longest = 0
		for b.Loop() {
			b.StopTimer()
			killed(b, dir, 300, 0)
			b.StartTimer()
			reopen(b)
		}
		b.ReportMetric(longest.Seconds(), "longest-s")
	})
}
