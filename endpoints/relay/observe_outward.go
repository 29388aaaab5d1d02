package relay

import (
	"bytes"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/room"
)

// Bounds of an event on its way to another owner's device.
const (
	maxShown   = 96 << 10 // bytes of one event
	payloadToo = 8        // deeper payloads stay here: an envelope is no deeper than envelope.MaxDepth
)

// outward is what of an event may leave for another owner's device, as a
// reader with that level sees it, and whether anything. What is not named here
// stays: the room's secret, folders, commands and settings, the requests and
// prompts of agents, drafts and what reviewers say of them, bids, what a
// policy noted, and the words in which programs of this machine failed.
func outward(e room.Event, level room.Visibility) (room.Event, bool) {
	if level != room.UserVisible && level != room.UserRedacted {
		return room.Event{}, false
	}
	e, ok := e.VisibleAt(level)
	if !ok {
		return room.Event{}, false
	}
	e.Command = ""
	e.Body = publicBody(e.Body)
	return e, e.Body != nil
}

func publicBody(body room.Body) room.Body {
	switch b := body.(type) {
	case room.Opened:
		return room.Opened{Spec: publicSpec(b.Spec)}
	case room.Claimed:
		return room.Claimed{Restart: b.Restart}
	case room.Joined:
		p := b.Participant
		return room.Joined{Participant: room.Participant{ID: p.ID, Name: p.Name, Kind: p.Kind, Role: p.Role, Domains: p.Domains, Owner: p.Owner, Device: p.Device, Mode: p.Mode}}
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
	case room.SeatChanged, room.SeatTaken, room.SeatReleased, room.LimitsChanged, room.Redacted, room.Resumed, room.Stopped, room.Errored:
		return b
	}
	return publicTurn(body)
}

// publicTurn is what may leave of the events of turns, nil when nothing may.
func publicTurn(body room.Body) room.Body {
	switch b := body.(type) {
	case room.TurnGranted:
		return room.TurnGranted{Turn: b.Turn, Participant: b.Participant, Reason: b.Reason, Confidence: b.Confidence, Tokens: b.Tokens, Timeout: b.Timeout}
	case room.TurnDrafted:
		return room.TurnDrafted{Turn: b.Turn, Message: room.Message{From: b.Message.From, To: b.Message.To, Visibility: b.Message.Visibility}}
	case room.TurnEdited:
		return room.TurnEdited{Turn: b.Turn}
	case room.TurnApproved:
		return room.TurnApproved{Turn: b.Turn}
	case room.TurnRejected:
		return room.TurnRejected{Turn: b.Turn}
	case room.TurnPassed:
		return b
	case room.TurnFailed:
		return room.TurnFailed{Turn: b.Turn, Code: b.Code, Usage: b.Usage, Latency: b.Latency}
	case room.TurnInterrupted:
		return b
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
	m.Session, m.Trace = "", nil
	if !strict.Shallow(m.Payload, payloadToo) {
		m.Payload = nil
	}
	return b
}

// written is an event as it travels: what is too long of it is cut off.
func written(e room.Event) ([]byte, error) {
	b, err := room.MarshalEvent(e)
	for size := maxShown / 2; err == nil && len(b) > maxShown; size /= 2 {
		e.Body = shortened(e.Body, size)
		b, err = room.MarshalEvent(e)
	}
	return bytes.TrimSpace(b), err
}

// shortened cuts what a body may hold much of.
func shortened(body room.Body, size int) room.Body {
	switch b := body.(type) {
	case room.MessagePosted:
		b.Message.Payload = nil
		b.Message.Text, b.Message.Summary = cutAt(b.Message.Text, size), cutAt(b.Message.Summary, size)
		if size < maxShown/16 { // names do not fit either: nobody has so many
			b.Message = room.Message{ID: b.Message.ID, From: b.Message.From, To: b.Message.To, Kind: b.Message.Kind, Visibility: b.Message.Visibility, Text: b.Message.Text, Source: b.Message.Source}
		}
		return b
	case room.Opened:
		b.Spec.Constraints, b.Spec.Objective = nil, cutAt(b.Spec.Objective, size)
		return b
	case room.Joined:
		b.Participant.Domains, b.Participant.Role = nil, cutAt(b.Participant.Role, size)
		return b
	case room.LimitsChanged, room.Resumed:
		return b
	}
	return room.Redacted{Reason: "too long to be shown"} // reasons are bounded, so this does not happen
}

// cutMark stands at the end of what was cut off.
const cutMark = " [...]"

func cutAt(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + cutMark
}
