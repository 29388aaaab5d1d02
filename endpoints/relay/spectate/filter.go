package spectate

import (
	"bytes"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/room"
)

// Bounds of an event that leaves for another owner's device.
const (
	maxEventSize    = 96 << 10 // bytes of one event
	maxPayloadDepth = 8        // deeper payloads stay here, to keep the envelope within envelope.MaxDepth
)

// PublicEvent returns the part of an event that may leave for another owner's
// device, as a reader of the level sees it. It reports false when no part may.
// A field that is not named here stays: the room's secret, folders, commands
// and settings, the requests and prompts of agents, drafts and reviews, bids,
// records of the policy, and error texts of programs on this machine.
func PublicEvent(e room.Event, level room.Visibility) (room.Event, bool) {
	if level != room.UserVisible && level != room.UserRedacted {
		return room.Event{}, false
	}
	e, ok := e.VisibleAt(level)
	if !ok {
		return room.Event{}, false
	}
	e.Command, e.Via = "", ""
	e.Body = publicBody(e.Body)
	return e, e.Body != nil
}

func publicBody(body room.Body) room.Body {
	switch b := body.(type) {
	case room.Opened:
		return room.Opened{Spec: publicSpec(b.Spec)}
	case room.Claimed:
		return room.Claimed{Restart: b.Restart}
	case room.PresenceChanged:
		return room.PresenceChanged{Participant: b.Participant, Presence: b.Presence}
	case room.BudgetChanged:
		return room.BudgetChanged{Participant: b.Participant, BudgetMark: room.BudgetMark{Window: b.Window, Level: b.Level}}
	case room.SeatFailed:
		return room.SeatFailed{Participant: b.Participant, Code: b.Code, Latency: b.Latency}
	case room.Joined:
		p := b.Participant
		return room.Joined{Participant: room.Participant{ID: p.ID, Name: p.Name, Kind: p.Kind, Role: p.Role, Domains: p.Domains, Owner: p.Owner, Device: p.Device, Mode: p.Mode, Session: p.Session}}
	case room.PolicyChanged:
		return room.PolicyChanged{Policy: publicPolicy(b.Policy)}
	case room.RoundDeclined:
		return room.RoundDeclined{Reason: b.Reason, Retry: b.Retry}
	case room.MessagePosted:
		return publicMessage(b)
	case room.Paused:
		b.Record = nil
		return b
	case room.Completed:
		b.Record = nil
		return b
	case room.SeatChanged, room.SeatTaken, room.SeatReleased, room.SeatReady, room.LimitsChanged, room.Redacted, room.Resumed, room.Stopped, room.Errored:
		return b
	}
	return publicTurn(body)
}

// publicTurn is publicBody for the events of turns. It returns nil when no part
// may leave.
func publicTurn(body room.Body) room.Body {
	switch b := body.(type) {
	case room.TurnGranted:
		return room.TurnGranted{Turn: b.Turn, Participant: b.Participant, Reason: b.Reason, Confidence: b.Confidence, Tokens: b.Tokens, Timeout: b.Timeout, Exploration: b.Exploration}
	case room.TurnDrafted:
		return room.TurnDrafted{Turn: b.Turn, Message: room.Message{From: b.Message.From, To: b.Message.To, Visibility: b.Message.Visibility}}
	case room.TurnEdited:
		return room.TurnEdited{Turn: b.Turn}
	case room.TurnApproved:
		return room.TurnApproved{Turn: b.Turn}
	case room.TurnRejected:
		return room.TurnRejected{Turn: b.Turn}
	case room.TurnPassed:
		return room.TurnPassed{Turn: b.Turn, Reason: b.Reason, Usage: b.Usage, Latency: b.Latency}
	case room.TurnFailed:
		return room.TurnFailed{Turn: b.Turn, Code: b.Code, Usage: b.Usage, Latency: b.Latency}
	case room.TurnInterrupted:
		return room.TurnInterrupted{Turn: b.Turn, Reason: b.Reason}
	case room.Violation:
		return room.Violation{Participant: b.Participant, Code: b.Code, Count: b.Count}
	}
	return nil
}

func publicSpec(s room.Spec) room.Spec {
	return room.Spec{
		Room: s.Room, Name: s.Name, Objective: s.Objective, Constraints: s.Constraints, OneToOne: s.OneToOne, Limits: s.Limits, Policy: publicPolicy(s.Policy),
	}
}

func publicPolicy(p room.PolicyRef) room.PolicyRef {
	return room.PolicyRef{Use: p.Name, Name: p.Name, Version: p.Version, Digest: p.Digest}
}

func publicMessage(b room.MessagePosted) room.Body {
	m := &b.Message
	m.Session, m.Applet, m.Trace = "", "", nil // an applet has the name of a credential
	if !strict.Shallow(m.Payload, maxPayloadDepth) {
		m.Payload = nil
	}
	return b
}

// encodeEvent encodes an event for the wire. It cuts texts that are too long.
func encodeEvent(e room.Event) ([]byte, error) {
	b, err := room.MarshalEvent(e)
	for size := maxEventSize / 2; err == nil && len(b) > maxEventSize; size /= 2 {
		e.Body = shorten(e.Body, size)
		b, err = room.MarshalEvent(e)
	}
	return bytes.TrimSpace(b), err
}

// shorten cuts the fields of a body that have no bound of their own.
func shorten(body room.Body, size int) room.Body {
	switch b := body.(type) {
	case room.MessagePosted:
		b.Message.Payload = nil
		b.Message.Text, b.Message.Summary = cut(b.Message.Text, size), cut(b.Message.Summary, size)
		if size < maxEventSize/16 { // the lists of names are too long too
			b.Message = room.Message{ID: b.Message.ID, From: b.Message.From, To: b.Message.To, Kind: b.Message.Kind, Visibility: b.Message.Visibility, Text: b.Message.Text, Source: b.Message.Source}
		}
		return b
	case room.Opened:
		b.Spec.Constraints, b.Spec.Objective = nil, cut(b.Spec.Objective, size)
		return b
	case room.Joined:
		b.Participant.Domains, b.Participant.Role = nil, cut(b.Participant.Role, size)
		return b
	case room.LimitsChanged, room.Resumed:
		return b
	}
	return room.Redacted{Reason: "too long to be shown"} // cannot happen: reasons are bounded
}

// cutMark ends a text that was cut.
const cutMark = " [...]"

// cut returns at most size bytes of s, and the mark if that is not all.
func cut(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + cutMark
}
