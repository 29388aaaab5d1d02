package reference

import (
	"slices"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// The rules of hand-offs, as the model states them.

// turnHandOffs are what the model knows of the hand-offs of one turn.
type turnHandOffs struct {
	made    int
	handoff *policy.Handoff // the last one that was not refused
}

// handsOff records the hand-off of an agent during its turn.
func (m *Model) handsOff(do room.HandOff) bool {
	x, t := m.seat(m.actor), m.Turn
	works := x != nil && x.takenBy == "" && m.Phase == room.PhaseLive && t != nil && t.Draft == nil && t.Seat == x
	return works && t.made < 8 && m.handOff((*endpoint.Handoff)(&do))
}

// handOff records a hand-off of the agent that has the turn. One that is not refused
// counts for the loop guards.
func (m *Model) handOff(h *endpoint.Handoff) bool {
	if h == nil {
		return true
	}
	t, to := m.Turn, m.whom(h.To)
	e := room.HandoffAsked{Turn: t.Turn, From: t.Seat.ID, To: to, Reason: h.Reason, Refused: m.refusal(t.Seat, to)}
	m.note(e)
	if t.made++; e.Refused != "" {
		return true
	}
	t.handoff = &policy.Handoff{From: e.From, To: to, Reason: e.Reason}
	m.step(e.From, to)
	m.exchange(e.From, to)
	return true
}

// whom returns the one seat with that role, or the name itself.
func (m *Model) whom(name string) string {
	var ids []string
	for _, x := range m.Seats {
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
func (m *Model) refusal(x *Seat, to string) string {
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
	t := m.Turn
	m.Turn = nil
	why := m.ineligible(y)
	m.Turn = t
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
