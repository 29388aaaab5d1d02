package transcripts

import (
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A redactor removes from events the content that readers of a level may not
// see. It needs all events of a room in order, because an edit has the
// visibility of its draft.
type redactor struct {
	level  Level
	drafts map[int]room.Visibility // by turn
}

// event returns e with hidden content removed. The event itself always remains,
// so that events can be followed and counted.
func (r *redactor) event(e room.Event) room.Event {
	if r.level == All {
		return e
	}
	switch b := e.Body.(type) {
	case room.Opened:
		b.Spec.Secret, b.Spec.Dir, b.Spec.Observers = "", "", nil
		b.Spec.Policy = withoutSettings(b.Spec.Policy)
		e.Body = b
	case room.Joined:
		b.Participant.Endpoint, b.Participant.Allow, b.Participant.Instructions = nil, nil, ""
		b.Participant.MayUse, b.Participant.MayDelegate = nil, nil
		e.Body = b
	case room.PolicyChanged:
		b.Policy = withoutSettings(b.Policy)
		e.Body = b
	case room.MessagePosted:
		b.Message = r.message(b.Message)
		e.Body = b
	case room.PermissionAsked, room.PermissionAnswered:
		if r.level != Internal { // only the owner of an agent sees what it does
			return e.Redacted()
		}
	case room.SummaryMade:
		if r.level != Internal {
			b.Text = "" // made from messages of every level
		}
		e.Body = b
	case room.TurnDrafted:
		if r.drafts == nil {
			r.drafts = map[int]room.Visibility{}
		}
		r.drafts[b.Turn] = b.Message.Visibility
		b.Message = r.message(b.Message) // like the message that the draft would become
		e.Body = b
	case room.TurnEdited:
		b.Text = r.message(room.Message{Text: b.Text, Visibility: r.drafts[b.Turn]}).Text
		e.Body = b
	default:
		e.Body = r.policyRecord(e.Body)
	}
	return e
}

// message returns m with hidden content removed.
func (r *redactor) message(m room.Message) room.Message {
	seen, ok := m.VisibleAt(r.level.visibility())
	if ok {
		return seen
	}
	return room.Message{
		ID: m.ID, Run: m.Run, From: m.From, To: m.To, Kind: m.Kind, Visibility: m.Visibility,
		CreatedAt: m.CreatedAt, Turn: m.Turn, Source: m.Source,
	}
}

// policyRecord removes the state and the log of a policy, which may quote any
// message that the policy has seen.
func (r *redactor) policyRecord(body room.Body) room.Body {
	public := func(record *policy.Record) *policy.Record {
		if record == nil {
			return nil
		}
		public := *record
		public.Log, public.StateJSON = "", nil
		return &public
	}
	switch b := body.(type) {
	case room.RoundDeclined:
		b.Record = *public(&b.Record)
		return b
	case room.TurnGranted:
		b.Record = public(b.Record)
		return b
	case room.Completed:
		b.Record = public(b.Record)
		return b
	case room.Paused:
		b.Record = public(b.Record)
		return b
	}
	return body
}

// withoutSettings removes the settings of a policy.
func withoutSettings(p room.PolicyRef) room.PolicyRef {
	p.Settings, p.Config = nil, nil
	return p
}
