package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// maxValues bounds the values of a label that come from outside of this program, such as
// a code that the log of a newer release has.
const maxValues = 32

// other replaces the values of a label above its bound.
const other = "other"

// totals are the figures of all rooms together.
type totals struct {
	events, late, violations, suspensions, cost prometheus.Counter
	append                                      prometheus.Histogram
	turns, failures, tokens, bids, endings      *prometheus.CounterVec
	duration, decisions                         *prometheus.HistogramVec
	codes, names                                *bound
}

// Buckets of durations in seconds: of appends and decisions, and of turns.
var (
	shortBuckets = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5, 30}
	turnBuckets  = []float64{.01, .05, .1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900}
)

func newTotals(reg *prometheus.Registry) totals {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		reg.MustRegister(c)
		return c
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		reg.MustRegister(c)
		return c
	}
	histograms := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
		reg.MustRegister(h)
		return h
	}
	t := totals{
		events:      counter("moot_log_events_total", "Events appended to the log."),
		late:        counter("moot_late_replies_total", "Replies that came after their turn had ended."),
		violations:  counter("moot_violations_total", "Violations of their protocol by agents."),
		suspensions: counter("moot_suspensions_total", "Seats that rooms have suspended."),
		cost:        counter("moot_cost_usd_total", "Cost of turns in US dollars, as agents state it."),
		append:      prometheus.NewHistogram(prometheus.HistogramOpts{Name: "moot_log_append_seconds", Help: "Time until an append was durable.", Buckets: shortBuckets}),
		turns:       counters("moot_turns_total", "Turns that have ended.", "outcome"),
		failures:    counters("moot_failures_total", "Failures of agents, in turns and at starts.", "code"),
		tokens:      counters("moot_tokens_total", "Tokens of turns. The type estimated is of prompts whose usage is unknown.", "type"),
		bids:        counters("moot_bids_total", "Bids of agents.", "result"),
		endings:     counters("moot_endings_total", "Pauses and ends of rooms.", "ending", "cause", "name"),
		duration:    histograms("moot_turn_duration_seconds", "Time until the agent had answered.", turnBuckets, "outcome"),
		decisions:   histograms("moot_decision_duration_seconds", "Time that a policy needed for a decision.", shortBuckets, "action"),
		codes:       &bound{max: maxValues},
		names:       &bound{max: maxValues},
	}
	reg.MustRegister(t.append)
	return t
}

func (t *totals) add(f fact) {
	if f.outcome != "" {
		t.turns.WithLabelValues(f.outcome).Inc()
	}
	if f.timed {
		t.duration.WithLabelValues(f.outcome).Observe(f.seconds)
	}
	if f.code != "" {
		t.failures.WithLabelValues(t.codes.value(f.code)).Inc()
	}
	for kind, n := range tokensOf(f) {
		t.tokens.WithLabelValues(kind).Add(float64(n))
	}
	if f.usage.CostKnown {
		t.cost.Add(dollars(f))
	}
	if f.decision != nil {
		t.decisions.WithLabelValues(f.action).Observe(float64(f.decision.Micros) / 1e6)
	}
	if f.bid != "" {
		t.bids.WithLabelValues(f.bid).Inc()
	}
	if f.late {
		t.late.Inc()
	}
	t.violations.Add(float64(f.violation))
	if f.suspended {
		t.suspensions.Inc()
	}
	if e := f.ending; e != nil {
		t.endings.WithLabelValues(e.kind, e.cause, t.names.value(e.name)).Inc()
	}
}

// tokensOf yields the tokens of a turn by their type. A counter never falls, so that
// negative figures of old logs count as zero.
func tokensOf(f fact) func(func(string, int64) bool) {
	return func(yield func(string, int64) bool) {
		for _, n := range []struct {
			kind string
			n    int64
		}{{"input", f.usage.Input}, {"output", f.usage.Output}, {"estimated", f.estimated}} {
			if n.n > 0 && !yield(n.kind, n.n) {
				return
			}
		}
	}
}

// dollars returns the cost of a turn in US dollars.
func dollars(f fact) float64 { return float64(max(0, f.usage.Cost)) / 1e6 }

// A bound limits the values of a label.
type bound struct {
	mu   sync.Mutex
	max  int
	seen map[string]bool
}

// value returns v, or [other] if there are too many values before it.
func (b *bound) value(v string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen[v] {
		return v
	}
	if len(b.seen) >= b.max {
		return other
	}
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	b.seen[v] = true
	return v
}
