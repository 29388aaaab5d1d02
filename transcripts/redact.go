package transcripts

import (
	"slices"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
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
		b.Spec.Policy, b.Spec.Agents = withoutSettings(b.Spec.Policy), withoutCommands(b.Spec.Agents)
		if r.level != Internal {
			b.Spec.Agents, b.Spec.Call = nil, nil
		}
		e.Body = b
	case room.Joined:
		b.Participant = withoutCommand(b.Participant)
		e.Body = b
	case room.PolicyChanged:
		b.Policy = withoutSettings(b.Policy)
		e.Body = b
	case room.MessagePosted:
		if b.Message = r.message(b.Message); r.level != Internal {
			b.Held, b.HeldUntil = "", 0
		}
		e.Body = b
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
		if _, ok := e.VisibleAt(r.level.visibility()); !ok {
			return withoutTexts(e)
		}
		e.Body = r.policyRecord(e.Body)
	}
	return e
}

// withoutTexts returns an event that readers of a level do not see, without what
// participants wrote. Ids, numbers and states remain, so that the event can be followed.
func withoutTexts(e room.Event) room.Event {
	e = e.Redacted()
	switch b := e.Body.(type) {
	case room.PlanChanged:
		e.Body = room.PlanChanged{Participant: b.Participant, Message: b.Message}
	case room.MessageDead: // the reason may quote the message
		m := b.Message
		b.Message = room.Message{ID: m.ID, Run: m.Run, From: m.From, Kind: m.Kind, Visibility: m.Visibility}
		b.Reason, b.Fix, b.Content = "", "", ""
		e.Body = b
	case room.HandoffAsked:
		if b.Refused != "" {
			b.To, b.Refused = "", "not shown"
		}
		e.Body = b
	case room.CallChanged:
		b.Canceling = ""
		e.Body = b
	case room.CallEnded:
		b.Result = calls.Result{Tools: []string{}, Errors: []string{}, Tokens: b.Result.Tokens, Cost: b.Result.Cost, Calls: b.Result.Calls}
		e.Body = b
	}
	return e
}

// withoutCommand returns a participant without what only its owner knows.
func withoutCommand(p room.Participant) room.Participant {
	p.Endpoint, p.Allow, p.Instructions, p.MayUse, p.MayDelegate = nil, nil, "", nil, nil
	return p
}

func withoutCommands(all []room.Participant) []room.Participant {
	all = slices.Clone(all)
	for i := range all {
		all[i] = withoutCommand(all[i])
	}
	return all
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
