package transcripts

import (
	"iter"
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A record is a message or a declined round as a reader of one level sees it,
// for exports that are a row or a record of each.
type record struct {
	seq     int64
	clock   time.Duration
	at      time.Time
	sender  room.Participant // a seat; of the host or another without one the id alone
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
	shownHidden   = "hidden"   // one that is not for this reader
	shownRedacted = "redacted" // one that was removed
)

// A recordReader goes through the events of a room and keeps what rows need.
type recordReader struct {
	redact       redactor
	spec         room.Spec
	participants map[string]room.Participant
	grant        *room.TurnGranted
}

// heard yields what is said in a room. spec is filled in before the first.
func (h *recordReader) heard(entries iter.Seq2[log.Entry, error], level Level) iter.Seq2[record, error] {
	h.redact, h.participants = redactor{level: level}, map[string]room.Participant{}
	return func(yield func(record, error) bool) {
		for e, err := range entries {
			if err != nil {
				yield(record{}, err)
				return
			}
			if s, ok := h.record(e); ok && !yield(s, nil) {
				return
			}
		}
	}
}

func (h *recordReader) record(e log.Entry) (record, bool) {
	s := record{seq: int64(e.Seq), clock: e.Event.Clock, at: e.Event.At, shown: shownWhole}
	if e.Redacted && e.Event.Body == nil {
		s.shown = shownRedacted
		return s, true
	}
	switch b := h.redact.event(e.Event).Body.(type) {
	case room.Opened:
		h.spec = b.Spec
	case room.Joined:
		h.participants[b.Participant.ID] = b.Participant
	case room.TurnGranted:
		h.grant = &b
	case room.RoundDeclined:
		s.decline, s.sender.ID = &b, room.ActorPolicy
		return s, true
	case room.MessagePosted:
		s.message, s.posted, s.sender = b.Message, b, h.participant(b.Message.From)
		if b.Turn > 0 {
			s.granted, h.grant = h.grant, nil
		}
		s.shown = h.shown(e)
		return s, true
	}
	return s, false
}

func (h *recordReader) participant(id string) room.Participant {
	if p, ok := h.participants[id]; ok {
		return p
	}
	return room.Participant{ID: id, Kind: policy.Human}
}

func (h *recordReader) shown(e log.Entry) string {
	m := original(e)
	_, seen := m.VisibleAt(h.redact.level.visibility())
	switch {
	case e.Redacted:
		return shownRedacted
	case !seen:
		return shownHidden
	case m.Visibility == room.UserRedacted && h.redact.level == UserVisible:
		return shownSummary
	}
	return shownWhole
}

// receivers returns whom a message is for, nobody for everybody.
func (s *record) receivers() []string {
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
