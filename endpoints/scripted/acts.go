package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Acts are what a step does in the room before its answer, in this order.
type Acts struct {
	Ack      []string          // ids of messages; AckAll is all of the prompt that ask for it
	Claim    string            // id of a task
	Messages []Message         // plain talk
	Post     []endpoint.Post   // typed messages
	Call     []json.RawMessage // arguments of calls, made at once
}

// AckAll acknowledges each message of the prompt whose sender asks for it.
const AckAll = "*"

// A Message is raised as a side message. To is empty for all participants.
type Message struct{ To, Text string }

// raise does what a step does before its answer. It stops at the first one that the
// room refuses, and returns the room's reason. The room may refuse plain talk unnoticed.
func (a Acts) raise(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (refused string, err error) {
	if floor == nil {
		return "", nil
	}
	for _, s := range a.signals(p) {
		answer, err := floor.Raise(ctx, s)
		if err != nil {
			return "", fmt.Errorf("raising %s: %w", s.Kind, err)
		}
		if !answer.Allowed && (s.Kind != endpoint.SignalMessage || s.Post != nil) {
			return "the room refuses the " + s.Kind + " of the script: " + answer.Reason, nil
		}
	}
	return "", nil
}

func (a Acts) signals(p endpoint.Prompt) (all []endpoint.Signal) {
	if ids := named(a.Ack, p); len(ids) > 0 {
		all = append(all, endpoint.Signal{Kind: endpoint.SignalAck, Of: ids})
	}
	if a.Claim != "" {
		all = append(all, endpoint.Signal{Kind: endpoint.SignalClaim, Code: a.Claim})
	}
	for _, m := range a.Messages {
		all = append(all, endpoint.Signal{Kind: endpoint.SignalMessage, To: m.To, Detail: m.Text})
	}
	for i := range a.Post {
		m := &a.Post[i]
		all = append(all, endpoint.Signal{Kind: endpoint.SignalMessage, To: m.To, Detail: m.Text, Post: m})
	}
	if len(a.Call) > 0 {
		body, _ := json.Marshal(map[string]any{"calls": a.Call}) // objects that have been parsed
		all = append(all, endpoint.Signal{Kind: endpoint.SignalCall, Body: body})
	}
	return all
}

// named returns the messages that the entries of Ack name.
func named(entries []string, p endpoint.Prompt) (ids []string) {
	for _, id := range entries {
		if id != AckAll {
			ids = append(ids, id)
			continue
		}
		for _, m := range p.Mail {
			if m.RequiresAck {
				ids = append(ids, m.ID)
			}
		}
	}
	return ids
}

// acts reads the fields of a JSON row that are acts.
func (p *parser) acts(r row) error {
	for _, m := range r.Messages {
		if err := p.message(m.To, m.Text); err != nil {
			return err
		}
	}
	p.next.Ack, p.next.Claim, p.next.Handoff = r.Ack, r.Claim, r.Handoff
	for _, id := range r.Ack {
		if strings.TrimSpace(id) == "" {
			return p.errorf("acknowledges a message without an id")
		}
	}
	if r.Handoff != nil && r.Handoff.To == "" {
		return p.errorf("hands off without a receiver in to")
	}
	for _, raw := range r.Post {
		m, err := postOf(raw)
		if err != nil {
			return p.errorf("has a post that cannot be sent: %v", err)
		}
		p.next.Post = append(p.next.Post, m)
	}
	for _, c := range r.Call {
		if !bytes.HasPrefix(c, []byte("{")) {
			return p.errorf("has a call that is no object")
		}
		p.next.Call = append(p.next.Call, c)
	}
	return nil
}

func postOf(raw json.RawMessage) (m endpoint.Post, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return m, err
	}
	if m.ID == "" {
		return m, errors.New("a post of a script has a message_id")
	}
	return m, m.Check()
}
