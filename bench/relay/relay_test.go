package relay

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	pairs  = 4
	window = 16 // frames of a pair on their way
	// slice is the time for which one relay is measured before it is the other's turn.
	slice = 1500 * time.Millisecond
)

// A subject is a relay under load.
type subject struct {
	process
	pairs   []pair
	arrived atomic.Int64 // frames

	frames, seconds, cpu float64
}

// A pair is a client that sends and one that receives.
type pair struct {
	from, to client
	onTheWay chan struct{} // a token for each frame
}

// BenchmarkFrames reports frames a second, processor time of a relay for a frame, and how
// many frames moot's relay passes on for each of derper: in a second of wall time and in a
// second of the relay's processor time.
func BenchmarkFrames(b *testing.B) {
	for _, size := range []int{1400, 4096} {
		for _, loads := range []int{1, 3} {
			b.Run(fmt.Sprintf("bytes=%d/loads=%d", size, loads), func(b *testing.B) { compare(b, size, loads) })
		}
	}
}

func compare(b *testing.B, size, loads int) {
	theirs := &subject{process: startDerper(b)}
	ours := &subject{process: startMoot(b, "tls")}
	theirs.connect(b, loads*pairs, func() (client, error) { return dialDerper(theirs.address) })
	ours.connect(b, loads*pairs, func() (client, error) { return dialMoot("wss", ours.address) })
	for b.Loop() {
		ours.measure(b, size)
		theirs.measure(b, size)
	}
	b.ReportMetric(ours.frames/ours.seconds, "frames/s")
	b.ReportMetric(theirs.frames/theirs.seconds, "derper-frames/s")
	b.ReportMetric(ours.cpu/ours.frames*1e6, "cpu-us/frame")
	b.ReportMetric(theirs.cpu/theirs.frames*1e6, "derper-cpu-us/frame")
	b.ReportMetric(ours.frames/ours.seconds/(theirs.frames/theirs.seconds), "times-derper")
	b.ReportMetric(ours.frames/ours.cpu/(theirs.frames/theirs.cpu), "times-derper-by-cpu")
}

// connect opens pairs of connections, whose clients read until the end of the benchmark.
func (s *subject) connect(b *testing.B, pairs int, dial func() (client, error)) {
	b.Helper()
	var readers sync.WaitGroup
	b.Cleanup(readers.Wait) // after all connections are closed
	open := func(arrived func()) client {
		c, err := dial()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Close() })
		readers.Go(func() {
			for {
				if _, err := c.receive(); err != nil {
					return
				}
				arrived()
			}
		})
		return c
	}
	for range pairs {
		p := pair{onTheWay: make(chan struct{}, window)}
		p.from = open(func() {})
		p.to = open(func() {
			s.arrived.Add(1)
			<-p.onTheWay
		})
		s.pairs = append(s.pairs, p)
	}
}

// measure sends frames for a slice of time and adds to the figures.
func (s *subject) measure(b *testing.B, size int) {
	b.Helper()
	var senders sync.WaitGroup
	var ended atomic.Bool
	start, cpu, before := time.Now(), s.processorTime(b), s.arrived.Load()
	for _, p := range s.pairs {
		senders.Go(func() {
			payload := make([]byte, size)
			for !ended.Load() {
				p.onTheWay <- struct{}{}
				if err := p.from.send(p.to.name(), payload); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	time.Sleep(slice)
	s.frames += float64(s.arrived.Load() - before)
	s.seconds += time.Since(start).Seconds()
	s.cpu += (s.processorTime(b) - cpu).Seconds()
	ended.Store(true)
	senders.Wait()
}

// BenchmarkConnections reports the resident memory of the relay for each of 10,000
// connections without TLS, after a garbage collection.
func BenchmarkConnections(b *testing.B) {
	const connections = 10_000
	relay := startMoot(b, "plain")
	for b.Loop() {
		var all []client
		before := relay.memory()
		for range connections {
			c, err := dialMoot("ws", relay.address)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, c)
		}
		b.ReportMetric(float64(relay.memory()-before)/connections/1024, "KiB/connection")
		for _, c := range all {
			_ = c.Close()
		}
	}
}
