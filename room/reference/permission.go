package reference

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// The rules of permissions, as the model states them.

// requests are the permission requests of the open turn.
type requests struct {
	asked    int
	Requests []room.PermissionAsked
	since    []time.Duration // of each open one
	held     time.Duration   // how long the clock of the turn has stood
	heldAt   time.Duration
}

// ask records a request of the agent that has the floor.
func (m *Model) ask(do room.Asked) bool {
	x, t := m.seat(m.actor), m.Turn
	works := t != nil && t.Seat == x && t.Draft == nil && t.Request == do.Request && x.takenBy == "" && m.Phase == room.PhaseLive
	if x == nil || x.Kind == policy.Remote || !works || len(t.Requests) == 8 {
		return false
	}
	t.asked++
	e := room.PermissionAsked{Turn: t.Turn, Participant: x.ID, ID: fmt.Sprintf("%d.%d", t.Turn, t.asked), Permission: do.Permission, Timeout: m.Limits.PermissionTimeout}
	m.holding(func() { t.Requests, t.since = append(t.Requests, e), append(t.since, max(m.clock, m.now)) })
	m.note(e)
	a := do.Answer
	if x.Role == "manager" && do.Permission.Kind != endpoint.ActionRead { // it only reads
		a = &endpoint.Answer{By: endpoint.RuledBy}
	}
	if a != nil {
		m.settle(e.ID, room.PermissionAnswered{Allowed: a.Allowed && a.By == endpoint.RuledBy, By: a.By})
	}
	return true
}

// permit answers a request for a person.
func (m *Model) permit(do room.Permit, control bool) bool {
	i := m.request(do.ID)
	switch {
	case !control || i < 0:
		m.second = control && m.answered[do.ID]
		return false
	case do.Absent:
		return m.settle(do.ID, room.PermissionAnswered{By: endpoint.Unasked})
	case do.Always && !m.Turn.Requests[i].Permission.Always:
		return false
	case do.Allowed && m.Turn.Requests[i].Calls != nil:
		return m.permitCalls(m.Turn.Requests[i])
	}
	return m.settle(do.ID, room.PermissionAnswered{Allowed: do.Allowed, Always: do.Allowed && do.Always, By: m.actor})
}

func (m *Model) withdraw(do room.Withdrawn) bool {
	return m.request(do.ID) < 0 || m.Turn.Seat.ID != m.actor || m.settle(do.ID, room.PermissionAnswered{By: endpoint.Cancelled})
}

func (m *Model) request(id string) int {
	if m.Turn == nil {
		return -1
	}
	return slices.IndexFunc(m.Turn.Requests, func(e room.PermissionAsked) bool { return e.ID == id })
}

// settle notes the answer to an open request.
func (m *Model) settle(id string, b room.PermissionAnswered) bool {
	t, i := m.Turn, m.request(id)
	b.Turn, b.Participant, b.ID = t.Turn, t.Seat.ID, id
	if b.By != endpoint.RuledBy {
		m.answered[id] = true
	}
	m.holding(func() { t.Requests, t.since = slices.Delete(t.Requests, i, i+1), slices.Delete(t.since, i, i+1) })
	return m.note(b)
}

// cancel answers all open requests, because the work on the turn ends.
func (m *Model) cancel() {
	for m.Turn != nil && len(m.Turn.Requests) > 0 {
		m.settle(m.Turn.Requests[0].ID, room.PermissionAnswered{By: endpoint.Cancelled})
	}
}

// holding changes what the agent that has the turn waits for. While it waits for an
// answer or a call, the clock of the turn stands.
func (m *Model) holding(do func()) {
	t, now := m.Turn, max(m.clock, m.now)
	was := t != nil && m.holds(t)
	do()
	switch {
	case t == nil || was == m.holds(t):
	case was:
		t.held += now - t.heldAt
	default:
		t.heldAt = now
	}
}

func (m *Model) holds(t *Turn) bool { return len(t.Requests) > 0 || m.waiting(t) }

// work returns a latency without the time in which the clock of the turn stood.
func (m *Model) work(latency time.Duration) time.Duration {
	held := m.Turn.held
	if m.holds(m.Turn) {
		held += max(m.clock, m.now) - m.Turn.heldAt
	}
	return max(0, latency-held)
}

// until returns when the turn fails, or its first request is refused. While it only
// waits for calls it does neither.
func (m *Model) until(t *Turn) time.Duration {
	switch {
	case len(t.Requests) > 0:
		return slices.Min(t.since) + m.Limits.PermissionTimeout
	case m.holds(t):
		return math.MaxInt64
	}
	return t.started + t.Timeout + t.held + time.Second
}

// refuseLate refuses the requests whose time is over.
func (m *Model) refuseLate() bool {
	late := false
	for i := 0; i < len(m.Turn.Requests); {
		if m.now < m.Turn.since[i]+m.Limits.PermissionTimeout {
			i++
			continue
		}
		late = m.settle(m.Turn.Requests[i].ID, room.PermissionAnswered{By: endpoint.NoAnswer})
	}
	return late
}
