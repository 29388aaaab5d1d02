package invariant

import (
	"cmp"
	"fmt"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// people is what the events have said about seats and persons.
type people struct {
	seat    map[string]*seat
	claimed bool            // a coordinator has opened the room
	permits map[string]bool // permission requests; true once allowed
}

// A seat is a seat as its events tell it.
type seat struct {
	room.Participant
	standing   room.Standing
	set        room.Mode
	takenBy    string
	here       bool // its session holds a lease
	ready      bool // its agent runs
	last       int  // turn
	violations int
	sides      int // messages outside its turns since the last turn
}

func (p *people) init() { *p = people{seat: map[string]*seat{}, permits: map[string]bool{}} }

// seatOf returns the seat with id; one that nothing is known of if there is none.
func (p *people) seatOf(id string) *seat {
	if x := p.seat[id]; x != nil {
		return x
	}
	return &seat{}
}

func (x *seat) mode() room.Mode { return cmp.Or(x.set, x.Mode, room.Manual) }

// driven reports whether the room calls the seat.
func (x *seat) driven() bool { return x.ID != "" && x.Kind != policy.Human && !x.Caller }

// control reports whether actor is the host or a person on its device.
func (p *people) control(actor string) bool {
	x := p.seat[actor]
	return actor == room.ActorHost || x != nil && x.Kind == policy.Human && x.Device == "" && x.standing != room.Removed
}

// moderates reports whether actor may change the standing of others.
func (p *people) moderates(actor string) bool {
	x := p.seat[actor]
	return p.control(actor) || x != nil && x.Moderator && x.standing == room.Active
}

// controlled checks that an actor with control is the cause of what needs one.
func (c *Checker) controlled(e step) string {
	ok := true
	switch b := e.Body.(type) {
	case room.Paused:
		ok = b.Cause != room.CausePerson || c.control(e.Actor)
	case room.Stopped:
		ok = b.Cause != room.CausePerson || c.control(e.Actor)
	case room.Completed:
		ok = b.Cause != room.CausePerson || c.control(e.Actor)
	case room.Resumed, room.SeatTaken, room.SeatReleased, room.PolicyChanged, room.TurnApproved, room.TurnEdited:
		ok = c.control(e.Actor)
	case room.TurnRejected:
		ok = c.control(e.Actor) || e.Actor == room.ActorRoom
	case room.SeatChanged:
		ok = b.Failed && e.Actor == room.ActorRoom || !b.Failed && c.moderates(e.Actor)
	case room.Redacted:
		ok = c.moderates(e.Actor)
	case room.Joined:
		ok = !c.claimed || c.control(e.Actor)
	}
	if !ok {
		return e.Actor + " has caused " + e.Body.Type()
	}
	return ""
}

func (c *Checker) limitsByPerson(e step) string {
	if _, ok := e.Body.(room.LimitsChanged); ok && !c.control(e.Actor) {
		return e.Actor + " has changed the limits"
	}
	if _, ok := e.Body.(room.LimitsChanged); !ok && c.seq > 0 && e.s.Limits != c.was.limits {
		return e.Body.Type() + " has changed the limits"
	}
	return ""
}

func (c *Checker) modeByPerson(e step) string {
	if _, ok := e.Body.(room.ModeChanged); ok && !c.control(e.Actor) {
		return e.Actor + " has changed the mode of a seat"
	}
	return ""
}

// modesEnd checks that the modes that persons have set last until the room ends.
func (c *Checker) modesEnd(e step) string {
	switch e.Body.(type) {
	case room.Stopped, room.Completed, room.Errored:
	default:
		return ""
	}
	for _, x := range e.s.Seats {
		if x.SetMode != "" {
			return x.ID + " keeps the mode that a person has set"
		}
	}
	return ""
}

// oneOwner checks that a person takes over a free seat between its turns, and writes for
// no other.
func (c *Checker) oneOwner(e step) string {
	switch b := e.Body.(type) {
	case room.SeatTaken:
		if c.turn != nil && c.turn.Participant == b.Participant {
			return b.Participant + " is taken over with a turn open"
		}
		if by := c.seatOf(b.Participant).takenBy; by != "" && by != b.By {
			return b.Participant + " is taken over, and " + by + " has it"
		}
	case room.MessagePosted:
		x := c.seat[b.Message.From]
		if x != nil && b.Message.By != "" && b.Message.By != x.takenBy {
			return fmt.Sprintf("%q has written for %s, which %q has", b.Message.By, x.ID, x.takenBy)
		}
		if x != nil && b.Turn != 0 && x.takenBy != "" && b.Message.By == "" {
			return "the agent of " + x.ID + " answers in a turn, and " + x.takenBy + " has the seat"
		}
	}
	return ""
}

// learnPeople notes what the checks of seats need to know.
func (c *Checker) learnPeople(e step) {
	switch b := e.Body.(type) {
	case room.Joined:
		c.seat[b.Participant.ID] = &seat{Participant: b.Participant, standing: room.Active}
	case room.Claimed:
		c.claimed = true
		for _, x := range c.seat {
			x.ready, x.here = false, false
		}
	case room.SeatChanged:
		x := c.seatOf(b.Participant)
		if x.standing, x.ready = b.Standing, false; b.Standing == room.Active {
			x.violations = 0
		}
	case room.SeatTaken:
		c.seatOf(b.Participant).takenBy = b.By
	case room.SeatReleased:
		x := c.seatOf(b.Participant)
		x.takenBy, x.ready = "", false
	case room.ModeChanged:
		c.seatOf(b.Participant).set = b.Mode
	case room.Stopped, room.Completed, room.Errored:
		for _, x := range c.seat {
			x.set = ""
		}
	default:
		c.learnSeat(e)
	}
}

// learnSeat notes what agents did.
func (c *Checker) learnSeat(e step) {
	switch b := e.Body.(type) {
	case room.SeatReady:
		c.seatOf(b.Participant).ready = true
	case room.SeatFailed:
		c.seatOf(b.Participant).ready = false
	case room.PresenceChanged:
		x := c.seatOf(b.Participant)
		x.here = b.Presence != room.Away
		if x.here {
			x.Device, x.Owner = b.Device, b.Owner
		}
	case room.TurnGranted:
		x := c.seatOf(b.Participant)
		x.last, x.sides = b.Turn, 0
	case room.TurnFailed:
		switch b.Code {
		case room.FailTimeout, room.FailExited, room.FailInterrupted, room.FailFailed:
			c.lose()
		}
	case room.TurnInterrupted:
		if c.inFlight() {
			c.lose()
		}
	case room.Violation:
		c.seatOf(b.Participant).violations += b.Count
	case room.PermissionAsked:
		c.permits[b.ID] = false
	case room.PermissionAnswered:
		c.permits[b.ID] = b.Allowed
	}
}

// lose notes that the agent that has the turn may have ended.
func (c *Checker) lose() {
	if c.turn != nil {
		c.seatOf(c.turn.Participant).ready = false
	}
}
