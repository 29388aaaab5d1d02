package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/folkmoot/moot/room"
)

// Bounds of the figures by room and participant: rooms that have them, and participants
// of a room and codes of a participant before the rest is counted as [other]. A room
// gives its place to another one once it has been quiet for that time.
const (
	maxRooms        = 200
	maxParticipants = 32
	maxCodes        = 8
	quiet           = 10 * time.Minute
)

// A roomTable has the figures of the rooms that have a place. It is safe for concurrent
// use.
type roomTable struct {
	mu    sync.Mutex
	rooms map[string]*roomFigures
}

// roomFigures are the figures of one room.
type roomFigures struct {
	last         time.Time // of its last counted event
	decisions    map[string]duration
	endings      map[ending]float64
	participants map[string]*figures
}

// figures are those of one participant.
type figures struct {
	turns, tokens, failures map[string]float64
	duration                duration
	late, violations        float64
	suspensions, cost       float64
}

// A duration is a sum of durations and their number.
type duration struct {
	count   uint64
	seconds float64
}

func (d *duration) add(seconds float64) { d.count, d.seconds = d.count+1, d.seconds+seconds }

// add counts a fact of a room that has a place, or gets one.
func (t *roomTable) add(id string, at time.Time, f fact) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.place(id, at)
	if r == nil {
		return
	}
	r.last = at
	if f.decision != nil {
		d := r.decisions[f.action]
		d.add(float64(f.decision.Micros) / 1e6)
		r.decisions[f.action] = d
	}
	if e := f.ending; e != nil {
		if len(r.endings) >= maxCodes {
			e = &ending{e.kind, e.cause, other}
		}
		r.endings[*e]++
	}
	if f.participant != "" {
		r.participant(f.participant).add(f)
	}
}

// place returns the figures of a room, or nil if there is no place for it. The caller
// holds mu.
func (t *roomTable) place(id string, at time.Time) *roomFigures {
	if r := t.rooms[id]; r != nil {
		return r
	}
	if len(t.rooms) >= maxRooms && !t.free(at.Add(-quiet)) {
		return nil
	}
	if t.rooms == nil {
		t.rooms = map[string]*roomFigures{}
	}
	r := &roomFigures{decisions: map[string]duration{}, endings: map[ending]float64{}, participants: map[string]*figures{}}
	t.rooms[id] = r
	return r
}

// free removes the rooms that were quiet since then, and reports whether there were any.
func (t *roomTable) free(since time.Time) (some bool) {
	for id, r := range t.rooms {
		if r.last.Before(since) {
			delete(t.rooms, id)
			some = true
		}
	}
	return some
}

func (r *roomFigures) participant(id string) *figures {
	if p := r.participants[id]; p != nil {
		return p
	}
	if len(r.participants) >= maxParticipants && id != other {
		return r.participant(other)
	}
	p := &figures{turns: map[string]float64{}, tokens: map[string]float64{}, failures: map[string]float64{}}
	r.participants[id] = p
	return p
}

func (p *figures) add(f fact) {
	if f.outcome != "" {
		p.turns[f.outcome]++
	}
	if f.timed {
		p.duration.add(f.seconds)
	}
	if _, ok := p.failures[f.code]; f.code != "" && (ok || len(p.failures) < maxCodes) {
		p.failures[f.code]++
	} else if f.code != "" {
		p.failures[other]++
	}
	for kind, n := range tokensOf(f) {
		p.tokens[kind] += float64(n)
	}
	p.cost += dollars(f)
	p.violations += float64(f.violation)
	if f.late {
		p.late++
	}
	if f.suspended {
		p.suspensions++
	}
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Metrics that are made at each scrape.
var (
	roomsByPhase = describe("moot_rooms", "Rooms that are loaded.", "phase")
	watchersAll  = describe("moot_watchers", "Watchers of all rooms.")
	queuedAll    = describe("moot_requests_queued", "Commands and results that wait for the loops of rooms.")
	effectsAll   = describe("moot_effects_running", "Decisions, turns, bids, starts and calls that run.")

	roomWatchers    = describe("moot_room_watchers", "Watchers of the room.", "room")
	roomQueued      = describe("moot_room_requests_queued", "Commands and results that wait for the loop of the room.", "room")
	roomDecisions   = describe("moot_room_decision_duration_seconds", "Decisions of the policy and their time. The action decline is a round without a turn.", "room", "action")
	roomEndings     = describe("moot_room_endings_total", "Pauses and ends of the room.", "room", "ending", "cause", "name")
	roomTurns       = describe("moot_room_turns_total", "Turns of the participant that have ended.", "room", "participant", "outcome")
	roomDuration    = describe("moot_room_turn_duration_seconds", "Time until the participant had answered.", "room", "participant")
	roomTokens      = describe("moot_room_tokens_total", "Tokens of the turns of the participant.", "room", "participant", "type")
	roomFailures    = describe("moot_room_failures_total", "Failures of the participant.", "room", "participant", "code")
	roomViolations  = describe("moot_room_violations_total", "Violations of its protocol by the participant.", "room", "participant")
	roomLate        = describe("moot_room_late_replies_total", "Replies of the participant after the end of their turns.", "room", "participant")
	roomSuspensions = describe("moot_room_suspensions_total", "Suspensions of the participant by the room.", "room", "participant")
	roomCost        = describe("moot_room_cost_usd_total", "Cost of the participant in US dollars, as it states it.", "room", "participant")
)

// Describe implements [prometheus.Collector]. The collector describes nothing: which
// series it has depends on the rooms.
func (m *Registry) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (m *Registry) Collect(out chan<- prometheus.Metric) {
	m.rooms.mu.Lock()
	defer m.rooms.mu.Unlock()
	m.collectLoads(out)
	for id, r := range m.rooms.rooms {
		r.collect(out, id)
	}
}

// collectLoads sends what the rooms have to do now. The caller holds the lock of the
// table.
func (m *Registry) collectLoads(out chan<- prometheus.Metric) {
	m.mu.Lock()
	loads := m.loads
	m.mu.Unlock()
	if loads == nil {
		return
	}
	phases := map[room.Phase]float64{room.PhaseLive: 0, room.PhasePaused: 0}
	var watchers, queued, running float64
	for _, l := range loads() {
		phases[l.Phase]++
		watchers, queued, running = watchers+float64(l.Watchers), queued+float64(l.Queued), running+float64(l.Running)
		if m.rooms.rooms[l.Room] != nil {
			current(out, roomWatchers, float64(l.Watchers), l.Room)
			current(out, roomQueued, float64(l.Queued), l.Room)
		}
	}
	for phase, n := range phases {
		current(out, roomsByPhase, n, string(phase))
	}
	current(out, watchersAll, watchers)
	current(out, queuedAll, queued)
	current(out, effectsAll, running)
}

func (r *roomFigures) collect(out chan<- prometheus.Metric, id string) {
	for action, d := range r.decisions {
		summary(out, roomDecisions, d, id, action)
	}
	for e, n := range r.endings {
		count(out, roomEndings, n, id, e.kind, e.cause, e.name)
	}
	for who, p := range r.participants {
		for _, c := range []struct {
			desc *prometheus.Desc
			by   map[string]float64
		}{{roomTurns, p.turns}, {roomTokens, p.tokens}, {roomFailures, p.failures}} {
			for label, n := range c.by {
				count(out, c.desc, n, id, who, label)
			}
		}
		summary(out, roomDuration, p.duration, id, who)
		count(out, roomViolations, p.violations, id, who)
		count(out, roomLate, p.late, id, who)
		count(out, roomSuspensions, p.suspensions, id, who)
		count(out, roomCost, p.cost, id, who)
	}
}

func current(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func count(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

func summary(out chan<- prometheus.Metric, d *prometheus.Desc, v duration, labels ...string) {
	out <- prometheus.MustNewConstSummary(d, v.count, v.seconds, nil, labels...)
}
