package room

import (
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
)

// HandOff is an act of the agent that has the turn: it wishes that another one goes
// on. To is the id of a participant, or a role that one participant has.
type HandOff struct{ To, Reason string }

func (HandOff) act() {}

// HandoffAsked records that an agent hands off. The wish counts when its turn ends with
// a message or without one, and a draft's when the draft is posted; it does not count
// if the turn fails, is interrupted or its draft is rejected. Refused says why the room
// refuses it; the policy is not handed a refused one.
type HandoffAsked struct {
	Turn    int    `json:"turn"`
	From    string `json:"from"`
	To      string `json:"to"`
	Reason  string `json:"reason,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// Type returns the stable name of the body.
func (HandoffAsked) Type() string { return "handoff.asked" }

// maxTurnHandOffs bounds the hand-offs of one turn. The last one that is not refused
// counts.
const maxTurnHandOffs = 8

// HandOffRefused returns why the room has refused the hand-off of a command, or "".
// events are those of the command.
func HandOffRefused(events []Event) string {
	for _, e := range events {
		if b, ok := e.Body.(HandoffAsked); ok {
			return b.Refused
		}
	}
	return ""
}

// decideHandOff records the hand-off of an agent during its turn.
func (s *State) decideHandOff(actor string, do HandOff) ([]Body, error) {
	x := s.seat(actor)
	switch {
	case x == nil || x.TakenBy != "" || s.Phase != PhaseLive || !s.hasTurn(x):
		return nil, invalidError("SEAT-REQUEST", quote(cut(validUTF8(actor), maxID))+" has no open turn", "hand off during a turn, before you answer it")
	case s.Turn.HandOffs >= maxTurnHandOffs:
		return nil, invalidError("ROOM-ASIDES", x.ID+" has handed off "+count(s.Turn.HandOffs, "time")+" in this turn", "end the turn")
	}
	return []Body{s.handOff(x, endpoint.Handoff(do))}, nil
}

// withHandOff returns the bodies that end a turn, after the hand-off of the reply.
func (s *State) withHandOff(x *Seat, h *endpoint.Handoff, bodies []Body) []Body {
	if h == nil {
		return bodies
	}
	return append([]Body{s.handOff(x, *h)}, bodies...)
}

// handOff returns the event that records the hand-off of x.
func (s *State) handOff(x *Seat, h endpoint.Handoff) HandoffAsked {
	h = h.Bounded()
	to := s.resolve(validUTF8(h.To))
	return HandoffAsked{Turn: s.Turn.Number, From: x.ID, To: cut(to, maxID), Reason: cut(validUTF8(h.Reason), policy.MaxHandoff), Refused: s.refuseHandOff(x, to)}
}

// refuseHandOff says why x may not hand off to a participant, or returns "". A person
// is never given the turn, so only a seat that names the person may hand off to one.
func (s *State) refuseHandOff(x *Seat, to string) string {
	y := s.seat(to)
	switch {
	case to == "":
		return "it names no participant"
	case y == nil || y.Standing == Removed:
		return quote(cut(to, maxID)) + " is no participant of the room"
	case y == x:
		return x.ID + " cannot hand off to itself"
	case !x.mayHandOffTo(y):
		if len(x.HandoffTo) == 0 {
			return y.ID + " is no agent; send a message instead"
		}
		return x.ID + " may hand off to " + strings.Join(x.HandoffTo, ", ") + " only"
	}
	return s.cannotFollow(y)
}

// mayHandOffTo reports whether the settings of the seat allow a hand-off to y.
func (x *Seat) mayHandOffTo(y *Seat) bool {
	if len(x.HandoffTo) == 0 {
		return y.Driven()
	}
	for _, id := range x.HandoffTo {
		if id == y.ID {
			return true
		}
	}
	return false
}

// cannotFollow says why y cannot get the next turn, or returns "". An agent that starts
// may be ready by then.
func (s *State) cannotFollow(y *Seat) string {
	after := *s
	after.Turn = nil
	switch why := after.Ineligible(y); why {
	case "", "attends", "busy":
		return ""
	case reasonAway:
		return "the session of " + y.ID + " is away"
	case "cooldown":
		return y.ID + " is in its cooldown"
	case "budget":
		return y.ID + " has used up its budget"
	default:
		return y.ID + " is " + why
	}
}

// applyHandOff keeps a hand-off with the open turn until it ends.
func (s *State) applyHandOff(b HandoffAsked) {
	t := s.Turn
	if t == nil || t.Number != b.Turn {
		return
	}
	if t.HandOffs++; b.Refused == "" {
		t.Handoff = &policy.Handoff{From: b.From, To: b.To, Reason: b.Reason}
	}
}

// keepHandOff hands the policy the hand-off of a turn that ended with an answer, until
// the next turn is granted.
func (s *State) keepHandOff(t *Turn) {
	if t.Handoff != nil {
		s.Handoff = t.Handoff
	}
}

// handoff returns the hand-off for the input of the policy, or nil.
func (s *State) handoff() *policy.Handoff {
	if s.Handoff == nil {
		return nil
	}
	h := *s.Handoff
	return &h
}
