package transcripts

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A record is a message, a declined round or a passed turn as readers at one level see it, for
// exports with one row or object for each.
type record struct {
	seq     int64
	clock   time.Duration
	at      time.Time
	sender  room.Participant // only the id for the host and other senders without a seat
	message room.Message
	posted  room.MessagePosted // of a message; use message instead of posted.Message
	shown   string             // one of the constants below
	granted *room.TurnGranted  // the decision that led to it
	decline *room.RoundDeclined
	passed  *room.TurnPassed // of the participant in sender
}

// isSilence reports whether s is no message: a declined round or a passed turn.
func (s *record) isSilence() bool { return s.decline != nil || s.passed != nil }

// silent returns who could speak and did not; an empty id stands for all participants.
func (s *record) silent() []string {
	switch {
	case s.passed != nil:
		return []string{s.sender.ID}
	case len(s.decline.Silent) == 0:
		return []string{""}
	}
	return s.decline.Silent
}

// Values of record.shown.
const (
	shownWhole    = "whole"
	shownSummary  = "summary"  // only the summary is visible
	shownHidden   = "hidden"   // not visible at this level
	shownRedacted = "redacted" // removed from the log
)

// A recordReader converts the events of a room to records.
type recordReader struct {
	redact       redactor
	spec         room.Spec
	participants map[string]room.Participant
	grant        *room.TurnGranted
}

// records yields the records of a room. It sets spec before the first.
func (h *recordReader) records(entries iter.Seq2[log.Entry, error], level Level) iter.Seq2[record, error] {
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
	case room.TurnPassed:
		if h.grant == nil || h.grant.Turn != b.Turn {
			return s, false // the grant was redacted
		}
		s.passed, s.sender = &b, h.participant(h.grant.Participant)
		return s, true
	case room.MessagePosted:
		s.message, s.posted, s.sender = b.Message, b, h.participant(b.Message.From)
		s.message.Text = cmp.Or(b.Message.Text, b.Message.Summary)
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

// receivers returns the receivers of a message, none for a broadcast.
func (s *record) receivers() []string {
	m := s.message
	if m.To != "" && m.To != room.Broadcast {
		return []string{m.To}
	}
	return slices.Clone(m.Addressed)
}

// kindOf returns the kind of a participant in the neutral format.
func kindOf(p room.Participant) string {
	switch {
	case p.Kind == policy.Human:
		return KindHuman
	case p.Role == KindTool:
		return KindTool
	}
	return KindAgent
}
