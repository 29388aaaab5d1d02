package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// BenchmarkGroup measures round trips of 4 KiB between 16 pairs of devices, which
// are connected to one relay, or to two with a NATS server between them. Devices,
// relays and the server share one process, so only the ratio tells something.
func BenchmarkGroup(b *testing.B) {
	for _, relays := range []int{1, 2} {
		b.Run(fmt.Sprint("relays=", relays), func(b *testing.B) {
			url := relaytest.StartNATS(b, "").URL("bench")
			var all []*relay
			for range relays {
				cfg := server.Config{Hosts: []string{"bench"}, Open: true, Limits: unlimited}
				if relays > 1 {
					cfg.Bus = connectBus(b, url)
				}
				all = append(all, startOne(b, loopback(b), cfg))
			}
			trips := make(chan struct{}, b.N)
			for range b.N {
				trips <- struct{}{}
			}
			close(trips)
			const pairs = 16
			done := make(chan error, pairs)
			var asks, answers []*endpoint
			for range pairs {
				asks, answers = append(asks, all[0].benchLogin()), append(answers, all[relays-1].benchLogin())
			}
			b.ResetTimer()
			begin := time.Now()
			for i := range pairs {
				go answers[i].echo()
				go func() { done <- asks[i].trip(answers[i].id(), trips) }()
			}
			for range pairs {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(2*b.N)/time.Since(begin).Seconds(), "frames/s")
		})
	}
}
