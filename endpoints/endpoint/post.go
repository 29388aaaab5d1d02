package endpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
)

// A Post is a typed message that an agent posts apart from its answer. The JSON form is
// part of the protocols of agents. The room checks the values: its sender is always the
// agent, and a message that the room refuses becomes a dead letter.
type Post struct {
	ID          string          `json:"message_id,omitempty"` // the same id again posts nothing; without it the room names the message
	To          string          `json:"to,omitempty"`         // id or role; "" is all participants
	Kind        string          `json:"kind,omitempty"`       // "" is an utterance
	Text        string          `json:"text,omitempty"`
	Summary     string          `json:"summary,omitempty"`
	Payload     json.RawMessage `json:"payload,omitempty"` // a JSON object
	Priority    string          `json:"priority,omitempty"`
	RequiresAck bool            `json:"requires_ack,omitempty"`
	Correlation string          `json:"correlation_id,omitempty"`
	Parent      string          `json:"parent_id,omitempty"`
	Thread      string          `json:"thread_id,omitempty"`
	Visibility  string          `json:"visibility,omitempty"`
	Notify      string          `json:"notify,omitempty"`
}

// Line returns the text of p as agents are given it: with its payload.
func (p Post) Line() string {
	var payload bytes.Buffer
	text := cmp.Or(p.Text, p.Summary)
	if json.Compact(&payload, p.Payload) != nil || payload.Len() == 0 {
		return text
	}
	if text == "" {
		return "payload: " + payload.String()
	}
	return text + "\npayload: " + payload.String()
}

// A Mail is a message to the prompted agent that it has not been given before, or has
// not acknowledged. Its text stands in the prompt too. The JSON form is part of the
// protocols of agents.
type Mail struct {
	From string `json:"from"` // id of its sender
	Post
	For string `json:"for_agent,omitempty"` // the worker that a person addressed; the manager got the message
}

func (m Mail) cleaned() Mail {
	for _, s := range []*string{&m.From, &m.For, &m.ID, &m.To, &m.Kind, &m.Summary, &m.Priority, &m.Correlation, &m.Parent, &m.Thread, &m.Visibility, &m.Notify} {
		*s = oneLine(*s)
	}
	m.Text, m.Payload = Clean(m.Text), cleanJSON(m.Payload)
	return m
}

// Check returns an error if p has no content.
func (p Post) Check() error {
	if strings.TrimSpace(p.Text) == "" && strings.TrimSpace(p.Summary) == "" && len(p.Payload) == 0 {
		return errors.New("the message has no text, summary or payload")
	}
	return nil
}
