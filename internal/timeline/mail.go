package timeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/plan"
)

// mail shows an event about messages between participants, a hand-off or the plan.
func (p *Printer) mail(e room.Event) string {
	switch b := e.Body.(type) {
	case room.MessageDead:
		return p.dead(b)
	case room.AckMissed:
		return p.notice(yellow, fmt.Sprintf("%s has not acknowledged message %d in time, attempt %d: it is delivered again", p.label(b.Participant), b.Target, b.Attempt))
	case room.MessageReleased:
		return p.notice("", fmt.Sprintf("message %d is handed over to %s now", b.Target, p.label(b.Participant)))
	case room.HandoffAsked:
		if b.Refused != "" {
			return p.notice(yellow, p.label(b.From)+" hands off to "+p.label(b.To)+", refused"+because(b.Refused))
		}
		return p.notice("", p.label(b.From)+" hands off to "+p.label(b.To)+because(b.Reason))
	case room.PlanChanged:
		return p.plan(b)
	}
	return ""
}

// dead shows a dead letter.
func (p *Printer) dead(b room.MessageDead) string {
	if b.Target != 0 {
		return p.notice(yellow, fmt.Sprintf("dead letter: message %d was never acknowledged by %s", b.Target, p.label(b.Participant))+codeOf(b.Code))
	}
	m := b.Message
	text := "dead letter: a message of " + p.label(m.From)
	if m.To != "" && m.To != room.Broadcast {
		text += " to " + p.label(m.To)
	}
	return p.notice(yellow, text+" was refused"+because(b.Reason)+codeOf(b.Code))
}

// typed describes the kind of a message that is no ordinary talk, and how it is
// delivered.
func (p *Printer) typed(b room.MessagePosted) (facts []string) {
	m := b.Message
	if kinds.Typed(m.Kind) {
		facts = append(facts, m.Kind)
	}
	if kinds.Urgent(m.Priority) {
		facts = append(facts, m.Priority)
	}
	if m.RequiresAck {
		facts = append(facts, "asks for an acknowledgement")
	}
	if b.HeldUntil > 0 {
		facts = append(facts, "held: "+b.Held)
	}
	return facts
}

// shownDigest is how much of a digest is shown, in characters.
const shownDigest = 12

// content returns the text of a message. The summary and the size of the payload are
// shown also where the payload is stored apart, or where there is no text.
func (p *Printer) content(m room.Message) string {
	text, summary, payload := strings.TrimSpace(m.Text), strings.TrimSpace(m.Summary), ""
	if ref, ok := m.PayloadRef(); ok {
		payload = fmt.Sprintf("payload: %d bytes, SHA-256 %s…", ref.Bytes, ref.Digest[:shownDigest])
	} else if len(m.Payload) > 0 {
		payload = p.payload(m.Payload)
	}
	out := ""
	if summary != "" && (text == "" || kinds.Typed(m.Kind) && summary != text) {
		out += p.body(m.Summary, "  ")
	}
	if text != "" || out == "" && payload == "" {
		out += p.body(m.Text, "  ")
	}
	if payload != "" {
		out += p.hang(dim, "  ", payload)
	}
	return out
}

// payload returns what a payload holds on one line: its short values by name, and how
// many values its lists have.
func (p *Printer) payload(b policy.JSON) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil || len(fields) == 0 {
		return fmt.Sprintf("payload: %d bytes", len(b))
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		parts = append(parts, name+valueOf(fields[name]))
	}
	return clip("payload: "+strings.Join(parts, ", "), p.width()-2)
}

// maxValue is the width to which a value of a payload is cut.
const maxValue = 40

// valueOf returns a value of a payload, or how much a list or an object has.
func valueOf(b json.RawMessage) string {
	var text string
	var list []json.RawMessage
	var fields map[string]json.RawMessage
	switch {
	case json.Unmarshal(b, &text) == nil:
		return " " + clip(text, maxValue)
	case json.Unmarshal(b, &list) == nil:
		return fmt.Sprintf(" (%d)", len(list))
	case json.Unmarshal(b, &fields) == nil:
		return ""
	}
	return " " + clip(string(b), maxValue)
}

// plan shows a change of the plan: a line for the intent, for each task and each
// proposal.
func (p *Printer) plan(b room.PlanChanged) string {
	var lines []string
	if i := b.Intent; i != nil {
		lines = append(lines, fmt.Sprintf("%s sets the intent, version %d%s", p.label(b.Participant), i.Version, because(i.Objective)))
	}
	for _, t := range b.Tasks {
		lines = append(lines, p.task(t))
	}
	if b.Proposed != nil {
		lines = append(lines, fmt.Sprintf("%s proposes changes of the plan: %s", p.label(b.Participant), tasksOf(b.Proposed.Tasks)))
	}
	if n := len(b.Accepted) + len(b.Rejected); n > 0 {
		lines = append(lines, fmt.Sprintf("%s has accepted %d and rejected %d of the proposals", p.label(b.Participant), len(b.Accepted), len(b.Rejected)))
	}
	out := ""
	for _, line := range lines {
		out += p.hang(dim, "── ", line)
	}
	if out == "" {
		return ""
	}
	return out + "\n"
}

// task returns a line about a task of the plan.
func (p *Printer) task(t plan.Task) string {
	text := "task " + t.ID + " is " + string(t.State)
	if t.Owner != "" {
		text += ", owner " + p.label(t.Owner)
	}
	if len(t.After) > 0 {
		text += ", after " + strings.Join(t.After, ", ")
	}
	if t.Title != "" {
		text += ": " + t.Title
	}
	if t.Reason != "" {
		text += " (" + t.Reason + ")"
	}
	return term.Line(text)
}

// tasksOf returns the ids of proposed tasks.
func tasksOf(list []plan.Patch) string {
	ids := make([]string, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	return strings.Join(ids, ", ")
}
