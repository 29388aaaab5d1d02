package invariant

import (
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// askedInTurn checks that only the agent that has the turn asks, under a new id, and
// only its owner's device is asked.
func (c *Checker) askedInTurn(e step) string {
	b, ok := e.Body.(room.PermissionAsked)
	if !ok {
		return ""
	}
	x := c.seatOf(b.Participant)
	_, known := c.permits[b.ID]
	switch {
	case !c.inFlight() || c.turn.Turn != b.Turn || c.turn.Participant != b.Participant:
		return b.Participant + " asks for a permission outside its turn"
	case known:
		return "the permission " + b.ID + " is asked twice"
	case x.takenBy != "" || x.Kind == policy.Remote:
		return b.Participant + " asks for a permission, and has no agent of this device"
	}
	return ""
}

// answeredOnce checks that an answer is to a request that waits.
func (c *Checker) answeredOnce(e step) string {
	b, ok := e.Body.(room.PermissionAnswered)
	if ok && (c.turn == nil || c.turn.Turn != b.Turn || !c.turn.asked[b.ID]) {
		return "the permission " + b.ID + " is answered, and does not wait"
	}
	return ""
}

// noneWaits checks that no request waits when the work on its turn ends.
func (c *Checker) noneWaits(e step) string {
	_, drafted := e.Body.(room.TurnDrafted)
	n, ends := ending(e.Body)
	if c.turn == nil || !drafted && !(ends && n == c.turn.Turn) {
		return ""
	}
	for id, waits := range c.turn.asked {
		if waits {
			return "the permission " + id + " waits after the work on its turn"
		}
	}
	return ""
}

// deniedByDefault checks that a permission is given by a person with control or by a
// rule of the owner, and by no one else.
func (c *Checker) deniedByDefault(e step) string {
	b, ok := e.Body.(room.PermissionAnswered)
	if !ok {
		return ""
	}
	person := e.Actor == b.By && c.control(b.By)
	ruled := b.By == endpoint.RuledBy && e.Actor == room.ActorRoom && !b.Always
	switch {
	case b.Allowed && !person && !ruled:
		return "the permission " + b.ID + " is given by " + b.By + " as " + e.Actor
	case b.Always && !b.Allowed:
		return "the permission " + b.ID + " is refused for good"
	}
	return ""
}

// ownEvents checks that the standing, the owner and the mode of a seat, and the policy,
// change by their own events only. No text of an agent is one.
func (c *Checker) ownEvents(e step) string {
	if c.seq == 0 || len(c.was.seats) > len(e.s.Seats) {
		return ""
	}
	changes := ""
	switch e.Body.(type) {
	case room.SeatChanged, room.Joined:
		changes = "standing"
	case room.SeatTaken, room.SeatReleased:
		changes = "owner"
	case room.ModeChanged, room.Stopped, room.Completed, room.Errored:
		changes = "mode"
	case room.PolicyChanged:
		changes = "policy"
	}
	if changes != "policy" && e.s.Policy.Ref.Name != c.was.policy {
		return e.Body.Type() + " has changed the policy"
	}
	for i, was := range c.was.seats {
		switch x := e.s.Seats[i]; {
		case changes != "standing" && x.Standing != was.standing:
			return e.Body.Type() + " has changed the standing of " + x.ID
		case changes != "owner" && x.TakenBy != was.takenBy:
			return e.Body.Type() + " has changed who has the seat " + x.ID
		case changes != "mode" && x.SetMode != was.set:
			return e.Body.Type() + " has changed the mode of " + x.ID
		}
	}
	return ""
}
