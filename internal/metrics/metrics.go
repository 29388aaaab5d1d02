// Package metrics counts what rooms do, for Prometheus.
//
// A [Registry] is told of each append by the rooms of a Host, and reads at each scrape
// how much they have to do. The figures of all rooms together are exact and have labels
// with a fixed set of values. Figures by room and participant exist for at most
// [maxRooms] rooms, so that the number of series does not grow with the number of rooms.
// No label has a text of a message, a reason, or the name of a person.
package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A Registry holds the metrics of the rooms of a Host. It implements
// [coordinator.Observer]. It is safe for concurrent use.
type Registry struct {
	prometheus *prometheus.Registry
	totals     totals
	rooms      roomTable

	mu    sync.Mutex
	loads func() []coordinator.Load
}

// New makes a Registry.
func New() *Registry {
	m := &Registry{prometheus: prometheus.NewRegistry()}
	m.totals = newTotals(m.prometheus)
	m.prometheus.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m)
	return m
}

// Watch sets what returns the loads of the rooms, at each scrape.
func (m *Registry) Watch(loads func() []coordinator.Load) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loads = loads
}

// Handler serves the metrics in the text format of Prometheus.
func (m *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(m.prometheus, promhttp.HandlerOpts{DisableCompression: true})
}

// Unloaded implements [coordinator.Observer]. The figures of a room stay, because it may
// be loaded again.
func (m *Registry) Unloaded(string) {}

// Committed implements [coordinator.Observer].
func (m *Registry) Committed(c coordinator.Commit) {
	m.totals.append.Observe(c.Took.Seconds())
	m.totals.events.Add(float64(len(c.Events)))
	turn := c.Turn
	for _, e := range c.Events {
		if b, ok := e.Body.(room.TurnGranted); ok {
			turn = room.Turn{Participant: b.Participant, Tokens: b.Tokens}
		}
		f, ok := factOf(e, turn)
		if !ok {
			continue
		}
		m.totals.add(f)
		m.rooms.add(c.Room, e.At, f)
	}
}

// A fact is what one event says of a room, as it is counted.
type fact struct {
	participant string
	outcome     string // of a turn
	seconds     float64
	timed       bool // seconds is the duration of the turn
	code        string
	usage       room.Usage
	estimated   int64 // tokens of a turn whose usage is unknown

	action   string // of a decision
	decision *policy.Record

	bid       string // posted or failed
	late      bool
	violation int
	suspended bool
	ending    *ending
}

// An ending is a pause or an end of a room. Name is a limit, a loop guard, or a code.
type ending struct{ kind, cause, name string }

// Outcomes of turns.
const (
	posted, passed, failed, rejected, interrupted = "posted", "passed", "failed", "rejected", "interrupted"
)

// factOf returns what is counted of an event. turn is the open turn.
func factOf(e room.Event, turn room.Turn) (f fact, ok bool) {
	f.participant = turn.Participant
	switch b := e.Body.(type) {
	case room.MessagePosted:
		f.outcome, f.seconds, f.timed, f.usage = posted, b.Latency.Seconds(), true, b.Usage
		f.participant = b.Message.From
		if !b.Usage.Known {
			f.estimated = turn.Tokens
		}
		return f, b.Turn != 0
	case room.TurnPassed:
		f.outcome, f.seconds, f.timed, f.usage = passed, b.Latency.Seconds(), true, b.Usage
	case room.TurnFailed:
		f.outcome, f.seconds, f.timed, f.usage, f.code = failed, b.Latency.Seconds(), true, b.Usage, b.Code
	case room.TurnRejected:
		f.outcome = rejected
		if turn.Draft != nil {
			f.seconds, f.timed, f.usage = turn.Draft.Latency.Seconds(), true, turn.Draft.Usage
		}
	case room.TurnInterrupted:
		f.outcome = interrupted
	case room.SeatFailed:
		f.participant, f.code = b.Participant, b.Code
	case room.SeatChanged:
		f.participant, f.suspended = b.Participant, b.Failed
		return f, b.Failed
	case room.ReplyLate:
		f.participant, f.late = b.Participant, true
	case room.Violation:
		f.participant, f.violation = b.Participant, max(1, b.Count)
	case room.BidPosted:
		f.participant, f.bid = b.Participant, posted
		if b.Failed != "" {
			f.bid = failed
		}
	default:
		return factOfPolicy(e)
	}
	return f, true
}

// factOfPolicy returns what is counted of a decision or an ending.
func factOfPolicy(e room.Event) (f fact, ok bool) {
	switch b := e.Body.(type) {
	case room.TurnGranted:
		f.action, f.decision = "speak", b.Record
		return f, b.Record != nil
	case room.RoundDeclined:
		f.action, f.decision = "decline", &b.Record
	case room.Paused:
		f.ending = &ending{"paused", b.Cause, b.Code}
		if b.Record != nil {
			f.action, f.decision = failed, b.Record
		}
	case room.Completed:
		f.ending = &ending{"completed", b.Cause, ""}
		if b.Record != nil {
			f.action, f.decision = "finish", b.Record
		}
	case room.Stopped:
		f.ending = &ending{"stopped", b.Cause, b.Name}
		if b.Cause == room.CausePerson {
			f.ending.name = "" // of the person
		}
	case room.Errored:
		f.ending = &ending{"error", "", b.Code}
	default:
		return f, false
	}
	return f, true
}
