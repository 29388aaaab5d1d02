package room_test

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// The rules of hand-offs, as the model states them.

// A modelHandOff is what the model knows of the hand-offs of one turn.
type modelHandOff struct {
	handOffs int
	handoff  *policy.Handoff // the last one that was not refused
}

// handsOff records the hand-off of an agent during its turn.
func (m *model) handsOff(do room.HandOff) bool {
	x, t := m.seat(m.actor), m.turn
	works := x != nil && x.takenBy == "" && m.phase == room.PhaseLive && t != nil && t.draft == nil && t.seat == x
	return works && t.handOffs < 8 && m.handOff((*endpoint.Handoff)(&do))
}

// handOff records a hand-off of the agent that has the turn. One that is not refused
// counts for the loop guards.
func (m *model) handOff(h *endpoint.Handoff) bool {
	if h == nil {
		return true
	}
	t, to := m.turn, m.whom(h.To)
	e := room.HandoffAsked{Turn: t.Turn, From: t.seat.ID, To: to, Reason: h.Reason, Refused: m.refusal(t.seat, to)}
	m.note(e)
	if t.handOffs++; e.Refused != "" {
		return true
	}
	t.handoff = &policy.Handoff{From: e.From, To: to, Reason: e.Reason}
	m.step(e.From, to)
	m.exchange(e.From, to)
	return true
}

// whom returns the one seat with that role, or the name itself.
func (m *model) whom(name string) string {
	var ids []string
	for _, x := range m.seats {
		if x.ID == name {
			return name
		}
		if x.Role == name && name != "" && x.standing != room.Removed {
			ids = append(ids, x.ID)
		}
	}
	if len(ids) == 1 {
		return ids[0]
	}
	return name
}

// refusal says why a seat may not hand off to another one.
func (m *model) refusal(x *modelSeat, to string) string {
	y := m.seat(to)
	switch {
	case to == "":
		return "it names no participant"
	case y == nil || y.standing == room.Removed:
		return `"` + to + `" is no participant of the room`
	case x == y:
		return x.ID + " cannot hand off to itself"
	case x.HandoffTo == nil && y.Kind == policy.Human:
		return y.ID + " is no agent; send a message instead"
	case x.HandoffTo != nil && !slices.Contains(x.HandoffTo, to):
		return x.ID + " may hand off to " + strings.Join(x.HandoffTo, ", ") + " only"
	}
	t := m.turn
	m.turn = nil
	why := m.ineligible(y)
	m.turn = t
	switch why {
	case "", "attends", "busy":
		return ""
	case "away":
		return "the session of " + y.ID + " is away"
	case "cooldown":
		return y.ID + " is in its cooldown"
	case "budget":
		return y.ID + " has used up its budget"
	}
	return y.ID + " is " + why
}

// drawHandOff draws the wish of an agent, seldom none, and mostly one that is allowed.
func drawHandOff(rt *rapid.T, m *model) *endpoint.Handoff {
	if m.turn == nil || rapid.IntRange(0, 2).Draw(rt, "hand-off") > 0 {
		return nil
	}
	to := rapid.SampledFrom([]string{"a", "b", "c", "a", "b", "c", "me", "ghost", "dba", ""}).Draw(rt, "to")
	return &endpoint.Handoff{To: to, Reason: rapid.SampledFrom([]string{"", "locks are hers"}).Draw(rt, "why")}
}
