package server

import (
	"fmt"

	"github.com/VictoriaMetrics/metrics"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

type counter = *metrics.Counter

// serverMetrics are the counters of the relay. They do not distinguish devices
// or addresses.
type serverMetrics struct {
	set                            *metrics.Set
	connections, logins, replaced  counter
	framesIn, framesOut            counter
	bytesIn, bytesOut              counter // of ended connections
	byteWaits, frameWaits          counter
	slow, violations, evicted      counter
	groupIn, groupOut, groupUnsent counter // frames of the group
	moved, malformed               counter
	groupOverflows                 counter // how often frames of the group came too fast
	rejects                        [frame.RejectVersion + 1]counter
	gone                           [frame.GoneQueueFull + 1]counter
}

func newServerMetrics(devices func() int) serverMetrics {
	set := metrics.NewSet()
	c := serverMetrics{
		set:            set,
		connections:    set.NewCounter("moot_relay_connections_total"),
		logins:         set.NewCounter("moot_relay_logins_total"),
		replaced:       set.NewCounter("moot_relay_replaced_total"),
		framesIn:       set.NewCounter(`moot_relay_frames_total{direction="in"}`),
		framesOut:      set.NewCounter(`moot_relay_frames_total{direction="out"}`),
		bytesIn:        set.NewCounter(`moot_relay_bytes_total{direction="in"}`),
		bytesOut:       set.NewCounter(`moot_relay_bytes_total{direction="out"}`),
		byteWaits:      set.NewCounter(`moot_relay_waits_total{limit="bytes"}`),
		frameWaits:     set.NewCounter(`moot_relay_waits_total{limit="frames"}`),
		slow:           set.NewCounter("moot_relay_slow_readers_total"),
		evicted:        set.NewCounter("moot_relay_half_open_evicted_total"),
		violations:     set.NewCounter("moot_relay_violations_total"),
		groupIn:        set.NewCounter(`moot_relay_nats_frames_total{direction="in"}`),
		groupOut:       set.NewCounter(`moot_relay_nats_frames_total{direction="out"}`),
		groupUnsent:    set.NewCounter("moot_relay_nats_unsent_total"),
		groupOverflows: set.NewCounter("moot_relay_nats_overflows_total"),
		malformed:      set.NewCounter("moot_relay_nats_malformed_total"),
		moved:          set.NewCounter("moot_relay_moved_total"),
	}
	for code := frame.RejectAuth; code <= frame.RejectVersion; code++ {
		c.rejects[code] = set.NewCounter(fmt.Sprintf("moot_relay_rejects_total{code=%q}", code))
	}
	for reason := range c.gone {
		c.gone[reason] = set.NewCounter(fmt.Sprintf("moot_relay_gone_total{reason=%q}", frame.GoneReason(reason)))
	}
	set.NewGauge("moot_relay_devices", func() float64 { return float64(devices()) })
	return c
}
