package callcontext

import (
	"cmp"
	"unicode"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// Kinds of messages about the tools of an agent (manager/worker note).
const (
	toolIntent = "tool_intent"
	toolResult = "tool_result"
)

// nameRunes bounds an id and a kind, which rooms of earlier releases did not.
const nameRunes = 80

// nobody is an id that no participant has, so that it is no sender and no receiver.
const nobody = "?"

// line returns what e is in a context. ok is false for an event that is no message,
// for one without a text, and for one that the caller or the called agent may not
// read, which is counted.
func (b *builder) line(e room.Event) (l endpoint.ContextLine, ok bool) {
	posted, ok := e.Body.(room.MessagePosted)
	if !ok {
		text := eventText(e.Body)
		if text == "" || !b.roles(endpoint.RoleSystem) {
			return endpoint.ContextLine{}, false // room events are no messages that could be left out
		}
		return endpoint.ContextLine{Seq: e.Seq, From: room.ActorRoom, Role: endpoint.RoleSystem, Text: endpoint.Clean(text)}, true
	}
	m, ok := posted.Message.VisibleTo(cmp.Or(b.in.Caller, nobody))
	if ok {
		m, ok = m.VisibleTo(cmp.Or(b.in.Called, nobody))
	}
	if !ok {
		b.LeftOut.Private++
		return endpoint.ContextLine{}, false
	}
	text := endpoint.Clean(cmp.Or(m.Text, m.Summary))
	return endpoint.ContextLine{Seq: e.Seq, From: endpoint.CleanLine(m.From, nameRunes), Role: b.role(m), Kind: endpoint.CleanLine(m.Kind, nameRunes), Text: text}, text != ""
}

// role returns the role of a message by its kind and its sender.
func (b *builder) role(m room.Message) string {
	switch {
	case m.Kind == toolIntent || m.Kind == toolResult:
		return endpoint.RoleTool
	case m.From == room.ActorRoom || m.From == room.ActorPolicy:
		return endpoint.RoleSystem
	case m.By != "" || m.From == room.ActorHost || b.in.Person != nil && b.in.Person(m.From):
		return endpoint.RoleUser
	}
	return endpoint.RoleAssistant
}

// eventText returns a sentence about an event that every participant may know, ""
// for the others.
func eventText(body room.Body) string {
	switch b := body.(type) {
	case room.Joined:
		return b.Participant.ID + " has joined"
	case room.SeatChanged:
		return b.Participant + " is " + string(b.Standing) + because(b.Reason)
	case room.SeatTaken:
		return b.By + " has taken the seat of " + b.Participant
	case room.SeatReleased:
		return b.Participant + " has its seat back"
	case room.PolicyChanged:
		return "the policy is " + b.Policy.Name
	case room.Paused:
		return "paused" + because(b.Reason)
	case room.Resumed:
		return "resumed"
	case room.Stopped:
		return "stopped" + because(b.Reason)
	case room.Completed:
		return "completed" + because(b.Reason)
	}
	return ""
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// folded returns the keywords in the form in which they are compared.
func folded(words []string) (all []string) {
	for _, w := range words {
		all = append(all, fold(w))
	}
	return all
}

// fold returns s so that texts that differ in case alone are equal: each character
// is the smallest of those that Unicode's simple case folding takes for the same. So
// "Σ", "σ" and "ς" are one, and "K" and the sign for kelvin; "ß" and "ss" are not.
func fold(s string) string {
	b := make([]rune, 0, len(s))
	for _, r := range s {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		b = append(b, least)
	}
	return string(b)
}
