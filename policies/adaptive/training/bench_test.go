//go:build unix

package training

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/folkmoot/moot/policies/adaptive"
)

// BenchmarkSandbox measures a decision in the sandbox, with decoding and the
// restored instance, over the decisions of one talk of a set: of three to six
// people, of eight or nine, and of twenty rows and more. For comparison it
// measures roundrobin, which does little more than decode the same inputs.
func BenchmarkSandbox(b *testing.B) {
	for _, set := range []string{"whowhen", "meetings-ami", "llmafia", "space-short", "meetings-committee", "long-space", "irc-channels"} {
		talks := shared(b, set).Talks
		all := inputs(b, adaptive.New(), talks[len(talks)/2], 2000)
		for _, name := range []string{"adaptive", "roundrobin"} {
			b.Run(name+"/"+set, func(b *testing.B) { decide(b, name, all) })
		}
	}
}

func decide(b *testing.B, name string, all [][]byte) {
	b.Helper()
	guest := sandboxed(b, name, nil)
	size, fuel, i := 0, uint64(0), 0
	start := processTime(b)
	for b.Loop() {
		in := all[i%len(all)]
		r, err := guest.Run(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		size += len(in)
		fuel += r.Fuel
		i++
	}
	b.ReportMetric(float64(processTime(b)-start)/float64(i)/1e3, "cpu-us/op")
	b.ReportMetric(float64(size)/float64(i), "input-B/op")
	b.ReportMetric(float64(fuel)/float64(i), "fuel/op")
}

// processTime returns the processor time of this process in nanoseconds. It
// depends less on other processes than wall time does.
func processTime(b *testing.B) int64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
