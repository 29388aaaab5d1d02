package transcripts

import (
	"iter"
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A spoken is a message or a declined round as a reader of one level sees it,
// for exports that are a row or a record of each.
type spoken struct {
	seq     int64
	clock   time.Duration
	at      time.Time
	who     room.Participant // a seat; of the host or another without one the id alone
	message room.Message
	posted  room.MessagePosted // of a message; its own message is not to be used
	shown   string             // one of the constants below
	granted *room.TurnGranted  // the decision that led to it
	decline *room.RoundDeclined
}

// How much of a message is shown.
const (
	shownWhole    = "whole"
	shownSummary  = "summary"  // a message of which this reader sees the summary
	shownNot      = "hidden"   // one that is not for this reader
	shownRedacted = "redacted" // one that was removed
)

// A hearing goes through the events of a room and keeps what rows need.
type hearing struct {
	cut   redactor
	spec  room.Spec
	seats map[string]room.Participant
	grant *room.TurnGranted
}

// heard yields what is said in a room. spec is filled in before the first.
func (h *hearing) heard(entries iter.Seq2[log.Entry, error], level Level) iter.Seq2[spoken, error] {
	h.cut, h.seats = redactor{level: level}, map[string]room.Participant{}
	return func(yield func(spoken, error) bool) {
		for e, err := range entries {
			if err != nil {
				yield(spoken{}, err)
				return
			}
			if s, ok := h.event(e); ok && !yield(s, nil) {
				return
			}
		}
	}
}

func (h *hearing) event(e log.Entry) (spoken, bool) {
	s := spoken{seq: int64(e.Seq), clock: e.Event.Clock, at: e.Event.At, shown: shownWhole}
	if e.Redacted && e.Event.Body == nil {
		s.shown = shownRedacted
		return s, true
	}
	switch b := h.cut.event(e.Event).Body.(type) {
	case room.Opened:
		h.spec = b.Spec
	case room.Joined:
		h.seats[b.Participant.ID] = b.Participant
	case room.TurnGranted:
		h.grant = &b
	case room.RoundDeclined:
		s.decline, s.who.ID = &b, room.ActorPolicy
		return s, true
	case room.MessagePosted:
		s.message, s.posted, s.who = b.Message, b, h.seat(b.Message.From)
		if b.Turn > 0 {
			s.granted, h.grant = h.grant, nil
		}
		s.shown = h.howMuch(e)
		return s, true
	}
	return s, false
}

func (h *hearing) seat(id string) room.Participant {
	if p, ok := h.seats[id]; ok {
		return p
	}
	return room.Participant{ID: id, Kind: policy.Human}
}

func (h *hearing) howMuch(e log.Entry) string {
	m := original(e)
	_, seen := m.VisibleAt(h.cut.level.visibility())
	switch {
	case e.Redacted:
		return shownRedacted
	case !seen:
		return shownNot
	case m.Visibility == room.UserRedacted && h.cut.level == UserVisible:
		return shownSummary
	}
	return shownWhole
}

// to returns whom a message is for, nobody for everybody.
func (s *spoken) to() []string {
	m := s.message
	if m.To != "" && m.To != room.Broadcast {
		return []string{m.To}
	}
	return slices.Clone(m.Addressed)
}

// kindOf returns the neutral form's kind of a participant.
func kindOf(p room.Participant) string {
	switch {
	case p.Kind == policy.Human:
		return KindHuman
	case p.Role == KindTool:
		return KindTool
	}
	return KindAgent
}
