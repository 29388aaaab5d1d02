package bench

import (
	"context"
	"runtime"
	"testing"
)

// A call makes one decision and returns the answer as JSON.
type call func(context.Context) ([]byte, error)

// A subject is one line of the comparison.
type subject struct {
	name string

	// prepare loads the guest and returns what makes an independent caller,
	// for one goroutine. Everything is closed at the end of tb.
	prepare func(tb testing.TB) func(tb testing.TB) call
}

// subjects are all lines: ours, then the peers.
func subjects() []subject {
	const kits, prebuilt = "go:github.com/folkmoot/moot/policies/templates/", "../policies/policytest/testdata/guests/"
	all := []subject{
		moot("wat", prebuilt+"wat.wasm"),
		moot("c", prebuilt+"c.wasm"),
		moot("rust", prebuilt+"rust.wasm"),
		moot("assemblyscript", prebuilt+"assemblyscript.wasm"),
		moot("go-kit", kits+"go"),
		moot("go-json", "go:"+guestsHere+"mootjson"),
	}
	for _, fresh := range []bool{false, true} {
		all = append(all,
			extismOf("c", "guests/c/extism.wasm", fresh),
			extismOf("go-kit", "go:"+guestsHere+"extismkit", fresh),
			extismOf("go-json", "go:"+guestsHere+"extismjson", fresh),
			wapcOf("c", "guests/c/wapc.wasm", fresh),
			wapcOf("go-kit", "go:"+guestsHere+"wapckit", fresh),
			wapcOf("go-json", "go:"+guestsHere+"wapcjson", fresh),
		)
	}
	return append(all, goplugin())
}

// how names what happens to an instance after a decision.
func how(fresh bool) string {
	if fresh {
		return "fresh"
	}
	return "reused"
}

// TestSame makes sure that all of them make the same decision.
func TestSame(t *testing.T) {
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			c := s.prepare(t)(t)
			for range 3 {
				out, err := c(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				right(t, out)
			}
		})
	}
}

// BenchmarkDecision is one decision on an input of 1 KiB.
func BenchmarkDecision(b *testing.B) {
	for _, s := range subjects() {
		b.Run(s.name, func(b *testing.B) {
			c := s.prepare(b)(b)
			ctx := context.Background()
			out, err := c(ctx)
			if err != nil {
				b.Fatal(err)
			}
			right(b, out)
			b.ReportAllocs()
			start := processTime(b)
			for b.Loop() {
				if _, err := c(ctx); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processTime(b)-start)/float64(b.N)/1e3, "cpu-us/op")
		})
	}
}

// BenchmarkThroughput is the same from as many goroutines as there are
// processors; each has an instance of a peer to itself.
func BenchmarkThroughput(b *testing.B) {
	for _, s := range subjects() {
		b.Run(s.name, func(b *testing.B) {
			caller := s.prepare(b)
			callers := make(chan call, runtime.GOMAXPROCS(0)) // RunParallel starts so many
			for range cap(callers) {
				callers <- caller(b)
			}
			start := processTime(b)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				c, ctx := <-callers, context.Background()
				for pb.Next() {
					if _, err := c(ctx); err != nil {
						b.Error(err)
						return
					}
				}
			})
			used := float64(processTime(b) - start)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
			b.ReportMetric(used/float64(b.N)/1e3, "cpu-us/op")
		})
	}
}
