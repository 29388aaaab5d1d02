package timeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
)

// question shows a form that an agent asks a person to fill in. All that the agent
// says stands behind a bar.
func (p *Printer) question(b room.PermissionAsked) string {
	if p.forms == nil {
		p.forms = map[string]bool{}
	}
	p.forms[b.ID] = true
	q := b.Permission.Question
	lines := strings.Split(q.Message, "\n")
	for _, f := range q.Fields {
		lines = append(lines, fieldLines(f)...)
	}
	head := fmt.Sprintf("%s asks question %s, in its own words:", p.label(b.Participant), b.ID)
	return p.hang(yellow, "? ", head) + p.unsaid(strings.Join(lines, "\n")) + "\n"
}

// fieldLines describes a field and its options.
func fieldLines(f endpoint.Field) []string {
	kind := map[string]string{endpoint.FieldString: "text", endpoint.FieldNumber: "number", endpoint.FieldInteger: "whole number", endpoint.FieldBoolean: "yes or no", endpoint.FieldArray: "any of"}[f.Type]
	if f.Type == endpoint.FieldString && len(f.Options) > 0 {
		kind = "one of"
	}
	facts := []string{kind}
	if f.Required {
		facts = append(facts, "required")
	}
	if f.Format != "" {
		facts = append(facts, f.Format)
	}
	for _, bound := range []struct {
		name  string
		value *float64
	}{{"at least", f.Minimum}, {"at most", f.Maximum}} {
		if bound.value != nil {
			facts = append(facts, fmt.Sprintf("%s %v", bound.name, *bound.value))
		}
	}
	if f.Default != nil {
		facts = append(facts, "default "+exact(string(f.Default)))
	}
	head := "field " + exact(f.Name) + " (" + strings.Join(facts, ", ") + ")"
	if about := cmp.Or(f.Title, f.Description); about != "" {
		head += ": " + about
	}
	lines := []string{head}
	if f.Title != "" && f.Description != "" {
		lines = append(lines, "  "+strings.ReplaceAll(f.Description, "\n", " "))
	}
	for i, o := range f.Options {
		line := fmt.Sprintf("  #%d %s", i+1, exact(o.Value))
		if o.Title != "" && o.Title != o.Value {
			line += ": " + o.Title
		}
		if o.Description != "" {
			line += " - " + strings.ReplaceAll(o.Description, "\n", " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// questionAnswered shows the answer to a question, or why there is none.
func (p *Printer) questionAnswered(e room.Event, b room.PermissionAnswered) string {
	id := "question " + term.Line(b.ID)
	switch {
	case b.Values != nil:
		return p.notice(green, id+" answered"+p.by(e.Actor)+from(e)+": "+exact(string(b.Values)))
	case e.Actor == room.ActorRoom:
		return p.notice(yellow, id+" closed"+because(b.Reason))
	}
	return p.notice(yellow, id+" declined"+p.by(e.Actor)+from(e)+because(b.Reason))
}

// replyTo returns the command that fills in the form of a question: the oldest
// one, or the one that is named.
func replyTo(s *Session, rest string) (room.Act, error) {
	r, text, err := s.request(rest)
	if err != nil {
		return nil, err
	}
	q := r.Permission.Question
	if q == nil {
		return nil, usage("request "+r.ID+" is no question", "allow or deny it")
	}
	values, err := typedValues(q, text)
	return room.Permit{ID: r.ID, Allowed: true, Values: values}, err
}

// typedValues returns the values of a line that a person has typed.
func typedValues(q *room.Question, line string) ([]byte, error) {
	values, err := q.Values(q.Words(line))
	if err != nil {
		return nil, usage("nothing was answered: "+term.Line(err.Error()), "reply NAME=VALUE...; #2 is the second option; deny declines")
	}
	return values, nil
}

// replyChosen fills in the form of the chosen item.
func (x *screen) replyChosen(line string) {
	e, ok := x.waits.current()
	if !ok || e.ended != "" || e.Question == nil {
		x.answerChosen(inbox.Answer{Answer: inbox.Edit})
		return
	}
	answer := inbox.Answer{Answer: inbox.Approve}
	values, err := typedValues(e.Question, line)
	if err == nil {
		err = json.Unmarshal(values, &answer.Values)
	}
	if err != nil {
		x.answer(err)
		return
	}
	x.answerChosen(answer)
}
