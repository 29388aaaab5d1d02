package room

import (
	"cmp"
	"slices"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// maxSeats is the largest roster, as in room.yaml.
const maxSeats = 256

// Controls reports whether the seat is that of a person with control: one on the
// host's device. A person on another device may only speak.
func (x *Seat) Controls() bool {
	return x.Kind == policy.Human && x.Device == "" && x.Standing != Removed
}

// decideJoin adds a person of another device to the roster. It takes only the
// identity from p, so that no one joins with rights or under another's name.
func (s *State) decideJoin(actor string, p Participant) ([]Body, error) {
	if err := s.checkControl(actor, "add a participant"); err != nil {
		return nil, err
	}
	switch {
	case p.Kind != policy.Human || p.Device == "" || !validID(p.Device):
		return nil, invalidError("ROOM-COMMAND", "only a person of another device joins a room that runs", "name agents in room.yaml")
	case p.ID == "" || !validID(p.ID) || reservedIDs()[strings.ToLower(p.ID)] || s.nameTaken(p.ID):
		return nil, invalidError("ROOM-ID", "participant id "+quote(cut(validUTF8(p.ID), maxID))+" is empty, reserved or taken", "choose another id")
	case len(s.Seats) >= maxSeats:
		return nil, invalidError("ROOM-SEATS", "the room has "+itoa(maxSeats)+" participants, and takes no more", "open another room")
	}
	return []Body{Joined{Participant{ID: p.ID, Kind: policy.Human, Owner: cut(validUTF8(p.Owner), maxID), Device: p.Device}}}, nil
}

// nameTaken reports whether a participant has or had that id or display name,
// without regard to case.
func (s *State) nameTaken(name string) bool {
	return slices.ContainsFunc(s.Seats, func(x *Seat) bool { return strings.EqualFold(x.ID, name) || strings.EqualFold(x.Name, name) })
}

// decideSeat takes a seat over for a person or releases it. Either interrupts
// the turn of the seat.
func (s *State) decideSeat(c Command) ([]Body, error) {
	if err := s.checkControl(c.Actor, "take over or release a seat"); err != nil {
		return nil, err
	}
	switch do := c.Do.(type) {
	case TakeOver:
		x := s.seat(do.Participant)
		if x == nil || !x.Driven() || x.Standing == Removed {
			return nil, invalidError("ROOM-UNKNOWN", quote(do.Participant)+" is no agent of this room", "name an agent of the roster")
		}
		if x.TakenBy != "" && x.TakenBy != c.Actor {
			return nil, deniedError(c.Actor, "take over a seat that "+x.TakenBy+" has")
		}
		if x.TakenBy == c.Actor {
			return nil, nil
		}
		return append(s.interruptSeat(x, "taken over by "+c.Actor), SeatTaken{Participant: x.ID, By: c.Actor}), nil
	case Release:
		x := s.seat(do.Participant)
		if x == nil || x.TakenBy == "" {
			return nil, nil
		}
		return append(s.interruptSeat(x, "released by "+c.Actor), SeatReleased{Participant: x.ID}), nil
	}
	return nil, nil
}

func (s *State) decideModeration(c Command) ([]Body, error) {
	if !s.moderates(c.Actor) {
		return nil, deniedError(c.Actor, "moderate")
	}
	switch do := c.Do.(type) {
	case SetStanding:
		return s.decideStanding(do)
	case Redact:
		if do.Target < 1 || do.Target > s.Seq {
			return nil, invalidError("ROOM-UNKNOWN", "no event "+itoa(do.Target), "name an event of the log")
		}
		bodies := []Body{Redacted{Target: do.Target, Reason: cleanReason(do.Reason)}}
		for _, seq := range do.Drafts {
			bodies = append(bodies, Redacted{Target: seq, Reason: cleanReason(do.Reason)})
		}
		return bodies, nil
	}
	return nil, nil
}

func (s *State) decideStanding(do SetStanding) ([]Body, error) {
	x := s.seat(do.Participant)
	switch do.Standing {
	case Active, Muted, Suspended, Removed:
	default:
		return nil, invalidError("ROOM-STANDING", "no standing "+quote(string(do.Standing)), "use active, muted, suspended or removed")
	}
	if x == nil {
		return nil, invalidError("ROOM-UNKNOWN", "no participant "+quote(do.Participant), "name one of the roster")
	}
	if x.Standing == do.Standing {
		return nil, nil
	}
	var bodies []Body
	if do.Standing != Active {
		bodies = s.interruptSeat(x, x.ID+" "+string(do.Standing))
	}
	return s.withSeatChange(bodies, x, SeatChanged{Participant: x.ID, Standing: do.Standing, Reason: cleanReason(do.Reason)}), nil
}

// withSuspension adds to bodies the suspension of a seat by the room itself.
// bodies end the turn of x, if x has it.
func (s *State) withSuspension(bodies []Body, x *Seat, reason string) []Body {
	return s.withSeatChange(bodies, x, SeatChanged{Participant: x.ID, Standing: Suspended, Reason: reason, Failed: true})
}

// withSeatChange adds to bodies a change of standing and the end of a room
// without a seat that could speak. A person's seat never ends the room.
func (s *State) withSeatChange(bodies []Body, x *Seat, b SeatChanged) []Body {
	bodies = append(bodies, b)
	to, reason := b.Standing, b.Reason
	if s.Phase != PhaseLive || to == Active || !x.Driven() {
		return bodies
	}
	why := x.ID + " is " + string(to)
	if reason != "" {
		why += ", " + reason
	}
	var end Errored
	switch {
	case !s.anyoneLeftWithout(x):
		end = Errored{Code: "ROOM-NOBODY", Reason: "no seat can speak: " + why}
	case to == Suspended && s.Spec.OneToOne: // the note's error: a person decides how the two go on
		end = Errored{Code: "ROOM-ONE-TO-ONE", Reason: "one of the two is left: " + why}
	default:
		return bodies
	}
	if s.Turn != nil && s.Turn.Participant != x.ID {
		bodies = append(bodies, s.abandon("the room cannot go on")...)
	}
	return append(bodies, end)
}

func (s *State) anyoneLeft() bool { return s.anyoneLeftWithout(nil) }

// anyoneLeftWithout reports whether a seat other than x could get the floor.
func (s *State) anyoneLeftWithout(x *Seat) bool {
	return slices.ContainsFunc(s.Seats, func(y *Seat) bool { return y != x && y.Driven() && y.Standing == Active })
}

// ModeNow returns the mode in force: the one that a person has set, else the one
// with which the seat joined, else Manual.
func (x *Seat) ModeNow() Mode { return cmp.Or(x.SetMode, x.Mode, Manual) }

// decideMode changes the mode of a seat of a room that runs. A draft that waits
// keeps waiting: it needs the answer of a person also if the seat needs none now.
func (s *State) decideMode(actor string, do SetMode) ([]Body, error) {
	if err := s.checkControl(actor, "change how a seat is reviewed"); err != nil {
		return nil, err
	}
	x := s.seat(do.Participant)
	switch {
	case s.Phase != PhaseLive && s.Phase != PhasePaused:
		return nil, invalidError("ROOM-MODE", "the room is "+string(s.Phase)+", and a mode lasts until a room ends", "resume the room first")
	case x == nil || !x.Driven() || x.Standing == Removed:
		return nil, invalidError("ROOM-UNKNOWN", quote(do.Participant)+" is no agent of this room", "name an agent of the roster")
	case do.Mode != "" && do.Mode != Manual && do.Mode != SemiAuto && do.Mode != FullAuto:
		return nil, invalidError("ROOM-MODE", "no mode "+quote(string(do.Mode)), "use manual, semi_auto or full_auto")
	case x.SetMode == do.Mode:
		return nil, nil
	}
	return []Body{ModeChanged(do)}, nil
}

func (s *State) applyMode(b ModeChanged) {
	if x := s.seat(b.Participant); x != nil {
		x.SetMode = b.Mode
	}
}

// restoreModes ends the modes that persons have set, because the room has ended.
func (s *State) restoreModes() {
	for _, x := range s.Seats {
		x.SetMode = ""
	}
}
