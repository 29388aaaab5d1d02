package room

import (
	"slices"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// maxSeats bounds the roster, as room.yaml does.
const maxSeats = 256

// Controls reports whether the seat is that of a person who holds the reins. A
// person on another device only speaks.
func (x *Seat) Controls() bool {
	return x.Kind == policy.Human && x.Device == "" && x.Standing != Removed
}

// decideJoin seats a person of another device. Of p only what says who that is
// counts, so that nobody joins with rights, or under a name of somebody else.
func (s *State) decideJoin(actor string, p Participant) ([]Body, error) {
	if !s.control(actor) {
		return nil, denied(actor, "seat somebody")
	}
	if s.ended() {
		return nil, over(s)
	}
	switch {
	case p.Kind != policy.Human || p.Device == "" || !validID(p.Device):
		return nil, invalid("ROOM-COMMAND", "only a person of another device joins a room that runs", "name agents in room.yaml")
	case p.ID == "" || !validID(p.ID) || reservedIDs()[strings.ToLower(p.ID)] || s.answersTo(p.ID):
		return nil, invalid("ROOM-ID", "participant id "+quote(cut(valid(p.ID), maxID))+" is empty, reserved or taken", "choose another id")
	case len(s.Seats) >= maxSeats:
		return nil, invalid("ROOM-SEATS", "the room has "+itoa(maxSeats)+" participants, and takes no more", "remove nobody: open another room")
	}
	return []Body{Joined{Participant{ID: p.ID, Kind: policy.Human, Owner: cut(valid(p.Owner), maxID), Device: p.Device}}}, nil
}

// answersTo reports whether somebody has had that name, in any case: who comes
// later is taken for nobody else.
func (s *State) answersTo(name string) bool {
	return slices.ContainsFunc(s.Seats, func(x *Seat) bool { return strings.EqualFold(x.ID, name) || strings.EqualFold(x.Name, name) })
}
