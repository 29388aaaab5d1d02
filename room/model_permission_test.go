package room_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// The rules of permissions, as the model states them.

// modelRequests are the permission requests of the open turn.
type modelRequests struct {
	asked  int
	open   []room.PermissionAsked
	since  []time.Duration // of each open one
	held   time.Duration   // how long the clock of the turn has stood
	heldAt time.Duration
}

const permissionTimeout = 90 * time.Second

// ask records a request of the agent that has the floor.
func (m *model) ask(do room.Asked) bool {
	x, t := m.seat(m.actor), m.turn
	works := t != nil && t.seat == x && t.draft == nil && t.Request == do.Request && x.takenBy == "" && m.phase == room.PhaseLive
	if x == nil || x.Kind == policy.Remote || !works || len(t.open) == 8 {
		return false
	}
	t.asked++
	e := room.PermissionAsked{Turn: t.Turn, Participant: x.ID, ID: fmt.Sprintf("%d.%d", t.Turn, t.asked), Permission: do.Permission, Timeout: permissionTimeout}
	m.holding(func() { t.open, t.since = append(t.open, e), append(t.since, max(m.clock, m.now)) })
	m.note(e)
	if a := do.Answer; a != nil {
		m.settle(e.ID, room.PermissionAnswered{Allowed: a.Allowed && a.By == endpoint.RuledBy, By: a.By})
	}
	return true
}

// permit answers a request for a person.
func (m *model) permit(do room.Permit, control bool) bool {
	i := m.request(do.ID)
	switch {
	case !control || i < 0:
		m.second = control && m.answered[do.ID]
		return false
	case do.Absent:
		return m.settle(do.ID, room.PermissionAnswered{By: endpoint.Unasked})
	case do.Always && !m.turn.open[i].Permission.Always:
		return false
	case do.Allowed && m.turn.open[i].Calls != nil:
		return m.permitCalls(m.turn.open[i])
	}
	return m.settle(do.ID, room.PermissionAnswered{Allowed: do.Allowed, Always: do.Allowed && do.Always, By: m.actor})
}

func (m *model) withdraw(do room.Withdrawn) bool {
	return m.request(do.ID) < 0 || m.turn.seat.ID != m.actor || m.settle(do.ID, room.PermissionAnswered{By: endpoint.Cancelled})
}

func (m *model) request(id string) int {
	if m.turn == nil {
		return -1
	}
	return slices.IndexFunc(m.turn.open, func(e room.PermissionAsked) bool { return e.ID == id })
}

// settle notes the answer to an open request.
func (m *model) settle(id string, b room.PermissionAnswered) bool {
	t, i := m.turn, m.request(id)
	b.Turn, b.Participant, b.ID = t.Turn, t.seat.ID, id
	if b.By != endpoint.RuledBy {
		m.answered[id] = true
	}
	m.holding(func() { t.open, t.since = slices.Delete(t.open, i, i+1), slices.Delete(t.since, i, i+1) })
	return m.note(b)
}

// cancel answers all open requests, because the work on the turn ends.
func (m *model) cancel() {
	for m.turn != nil && len(m.turn.open) > 0 {
		m.settle(m.turn.open[0].ID, room.PermissionAnswered{By: endpoint.Cancelled})
	}
}

// holding changes what the agent that has the turn waits for. While it waits for an
// answer or a call, the clock of the turn stands.
func (m *model) holding(do func()) {
	t, now := m.turn, max(m.clock, m.now)
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

func (m *model) holds(t *modelTurn) bool { return len(t.open) > 0 || m.waiting(t) }

// work returns a latency without the time in which the clock of the turn stood.
func (m *model) work(latency time.Duration) time.Duration {
	held := m.turn.held
	if m.holds(m.turn) {
		held += max(m.clock, m.now) - m.turn.heldAt
	}
	return max(0, latency-held)
}

// until returns when the turn fails, or its first request is refused. While it only
// waits for calls it does neither.
func (m *model) until(t *modelTurn) time.Duration {
	switch {
	case len(t.open) > 0:
		return slices.Min(t.since) + permissionTimeout
	case m.holds(t):
		return math.MaxInt64
	}
	return t.started + t.Timeout + t.held + time.Second
}

// refuseLate refuses the requests whose time is over.
func (m *model) refuseLate() bool {
	late := false
	for i := 0; i < len(m.turn.open); {
		if m.now < m.turn.since[i]+permissionTimeout {
			i++
			continue
		}
		late = m.settle(m.turn.open[i].ID, room.PermissionAnswered{By: endpoint.NoAnswer})
	}
	return late
}

// drawPermission draws a command about permissions in a turn of an agent.
func drawPermission(rt *rapid.T, m *model) (room.Command, bool) {
	if m.turn == nil || rapid.IntRange(0, 2).Draw(rt, "permission") > 0 {
		return room.Command{}, false
	}
	id := fmt.Sprintf("%d.1", rapid.IntRange(0, 3).Draw(rt, "other"))
	if n := len(m.turn.open); n > 0 {
		id = m.turn.open[rapid.IntRange(0, n-1).Draw(rt, "request")].ID
	}
	actor := rapid.SampledFrom([]string{"host", "me", "me", "eve", "a", "policy"}).Draw(rt, "who")
	flag := func() bool { return rapid.Bool().Draw(rt, "flag") }
	seldom := func() bool { return rapid.IntRange(0, 5).Draw(rt, "seldom") == 0 }
	if len(m.turn.open) > 0 && rapid.IntRange(0, 3).Draw(rt, "answer") > 0 {
		if seldom() {
			return room.Command{Actor: rapid.SampledFrom([]string{"a", "b", m.turn.seat.ID}).Draw(rt, "who"), Do: room.Withdrawn{ID: id}}, true
		}
		return room.Command{Actor: actor, Do: room.Permit{ID: id, Allowed: flag(), Always: flag(), Absent: seldom()}}, true
	}
	request := rapid.SampledFrom([]string{m.turn.Request, m.turn.Request, m.turn.Request, "none"}).Draw(rt, "turn")
	answer := rapid.SampledFrom([]*endpoint.Answer{
		nil, nil, nil, {Allowed: true, Always: true, By: endpoint.RuledBy}, {Allowed: true, By: endpoint.Unasked},
	}).Draw(rt, "rule")
	from := rapid.SampledFrom([]string{m.turn.seat.ID, m.turn.seat.ID, m.turn.seat.ID, "b", "me", "ghost"}).Draw(rt, "asker")
	return room.Command{Actor: from, Do: room.Asked{Request: request, Permission: room.Permission{Kind: endpoint.ActionRead, Always: flag()}, Answer: answer}}, true
}
