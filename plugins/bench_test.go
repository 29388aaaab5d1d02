//go:build unix

package plugins

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/folkmoot/moot/policies/policy"
	"golang.org/x/sys/unix"
)

// oneKiB is a request with an input of 1 KiB.
func oneKiB() request {
	in := roster
	in.Events = []policy.Event{
		{Seq: 1, Turn: 1, From: "a", Kind: policy.KindMessage, Text: strings.Repeat("lock time and rollback ", 5), Bytes: 115},
		{Seq: 2, Turn: 2, From: "b", Kind: policy.KindMessage, Text: "", Bytes: 0},
	}
	for len(in.AppendJSON(nil)) < 1024 {
		in.Events[1].Text += "x"
	}
	return request{room: in.Room, nowMS: in.NowMS, seed: in.Seed, input: in.AppendJSON(nil)}
}

// BenchmarkDecision is one isolated, metered decision on an input of 1 KiB in a
// restored instance. It includes restoring the instance.
func BenchmarkDecision(b *testing.B) {
	c := oneKiB()
	for _, g := range w.Guests(b, root)[1:] {
		b.Run(g.Name, func(b *testing.B) {
			p := loadGuest(b, newHost(b, Config{CacheDir: cacheDir(b)}), g, nil)
			var fuel uint64
			b.ReportAllocs()
			start := processTime(b)
			for b.Loop() {
				r, err := p.run(context.Background(), c)
				if err != nil {
					b.Fatal(err)
				}
				fuel = r.Fuel
			}
			b.ReportMetric(float64(fuel), "fuel/op")
			b.ReportMetric(float64(processTime(b)-start)/float64(b.N)/1e3, "cpu-us/op")
		})
	}
}

// BenchmarkDecisions makes decisions in parallel, one room for each processor.
func BenchmarkDecisions(b *testing.B) {
	c := oneKiB()
	for _, g := range w.Guests(b, root)[1:] {
		b.Run(g.Name, func(b *testing.B) {
			p := loadGuest(b, newHost(b, Config{CacheDir: cacheDir(b)}), g, nil)
			start := processTime(b)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := p.run(context.Background(), c); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
			b.ReportMetric(float64(processTime(b)-start)/float64(b.N)/1e3, "cpu-us/op")
		})
	}
}

// BenchmarkNextToEndless is the time that a room waits for a decision while
// third-party policies of another room use every processor without end.
func BenchmarkNextToEndless(b *testing.B) {
	h := newHost(b, Config{CacheDir: cacheDir(b)})
	endless, err := loadUntrusted(b, h, decides("", nil, forever, zero64)())
	if err != nil {
		b.Fatal(err)
	}
	good := loadGuest(b, h, w.Guests(b, root)[1], nil)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for ctx.Err() == nil {
				_, _ = endless.run(ctx, request{room: "endless", input: []byte("{}")})
			}
		})
	}
	c := oneKiB()
	var worst time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := good.run(context.Background(), c); err != nil {
			b.Fatal(err)
		}
		worst = max(worst, time.Since(start))
	}
	stop()
	wg.Wait()
	b.ReportMetric(float64(worst.Microseconds())/1e3, "worst-ms")
}

// processTime is the processor time of this process, in nanoseconds. On a busy
// machine it says more than wall time.
func processTime(b *testing.B) int64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkSettings shows that large settings add nothing to a decision.
func BenchmarkSettings(b *testing.B) {
	m := w.Policy()
	m.Finish()
	m.Export("roompolicy_configure", w.Func, m.Func([]byte{w.I32, w.I32}, []byte{w.I32}, w.LocalGet(1))) // keeps them where they lie
	m.Data(w.AnswerAt, []byte(spoken))
	m.Decide(nil, w.Answer(len(spoken)))
	g := w.Guest{Name: "keeper", Policy: "keeper", Module: m.Bytes()}
	for name, size := range map[string]int{"1KiB": 1 << 10, "1MiB": 1<<20 - 2} {
		b.Run(name, func(b *testing.B) {
			p := loadGuest(b, newHost(b, Config{}), g, policy.JSON(`"`+strings.Repeat("x", size)+`"`))
			c := oneKiB()
			for b.Loop() {
				if _, err := p.run(context.Background(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLoad is the time before the first decision, without a compile cache
// and with one.
func BenchmarkLoad(b *testing.B) {
	g := w.Guest{Name: "go", Policy: "roundrobin", Module: w.Builtins(b, root)}
	for _, warm := range []bool{false, true} {
		name := "cold"
		if warm {
			name = "warm"
		}
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if warm {
				loadGuest(b, newHost(b, Config{CacheDir: dir}), g, nil)
			}
			for b.Loop() {
				if !warm {
					dir = b.TempDir()
				}
				h, err := NewHost(Config{CacheDir: dir})
				if err != nil {
					b.Fatal(err)
				}
				loadGuest(b, h, g, nil)
				if err := h.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLoadAgain is the time until the built-in policy of another room is ready, when
// some room uses it.
func BenchmarkLoadAgain(b *testing.B) {
	h := newHost(b, Config{CacheDir: b.TempDir()})
	g := w.Guest{Name: "go", Policy: "roundrobin", Module: w.Builtins(b, root)}
	loadGuest(b, h, g, nil)
	for b.Loop() {
		loadGuest(b, h, g, nil)
	}
}
