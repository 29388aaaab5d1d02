package ndjson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/internal/strict"
)

// A frameFloor writes what an agent raises in its turn as frames, and reads the room's
// answers. The host sends no other request meanwhile.
type frameFloor struct {
	out io.Writer

	mu    sync.Mutex // of one exchange
	in    *spawn.Lines
	calls int
}

// Raise writes a message, an acknowledgement, a claim or a call, and waits for the
// room's answer. Plain talk gets none. An agent has no frames for other signals.
func (f *frameFloor) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case s.Kind == endpoint.SignalMessage && s.Post == nil:
		err := write(f.out, map[string]string{"type": typeMessage, "to": s.To, "text": s.Detail})
		return endpoint.Answer{Allowed: err == nil}, err
	case s.Kind == endpoint.SignalMessage:
		return f.ask(sideMessage{Type: typeMessage, Post: *s.Post}, typeMessageReply)
	case s.Kind == endpoint.SignalAck:
		return f.ask(map[string]any{"type": typeAck, "message_ids": s.Of}, typeAckReply)
	case s.Kind == endpoint.SignalClaim:
		return f.ask(map[string]any{"type": typeClaim, "task": s.Code}, typeClaimReply)
	case s.Kind == endpoint.SignalCall:
		f.calls++
		q := map[string]json.RawMessage{}
		if err := json.Unmarshal(s.Body, &q); err != nil {
			return endpoint.Answer{}, err
		}
		q["type"], q["call_id"] = json.RawMessage(`"`+typeCall+`"`), json.RawMessage(`"call`+strconv.Itoa(f.calls)+`"`)
		return f.ask(q, typeCallReply)
	}
	return endpoint.Answer{Reason: "an agent has no frame for it"}, nil
}

// An answerFrame is any of the room's answers.
type answerFrame struct {
	Type    string          `json:"type"`
	Allowed bool            `json:"allowed"`
	Reason  string          `json:"reason"`
	Body    json.RawMessage `json:"body"`
	Acks    []acked         `json:"acks"`
}

// ask writes a frame and reads the answer to it.
func (f *frameFloor) ask(frame any, want string) (endpoint.Answer, error) {
	if err := write(f.out, frame); err != nil {
		return endpoint.Answer{}, err
	}
	b, err := f.in.Next()
	var a answerFrame
	if err == nil {
		if err = strict.Check(b, maxDepth, nil); err == nil {
			err = json.Unmarshal(b, &a)
		}
	}
	if err == nil && a.Type != want {
		err = fmt.Errorf("%s where %s belongs", endpoint.Quote(a.Type), want)
	}
	if err != nil {
		return endpoint.Answer{}, fmt.Errorf("reading an answer: %w", errors.Join(endpoint.ErrProtocol, err))
	}
	answer := endpoint.Answer{Allowed: a.Allowed, Reason: a.Reason, Body: a.Body}
	if want == typeAckReply {
		answer.Allowed = a.Reason == ""
		for _, one := range a.Acks {
			answer.Reasons = append(answer.Reasons, one.Reason)
			if !one.Allowed {
				answer.Allowed, answer.Reason = false, one.Reason
			}
		}
	}
	return answer, nil
}

// Show drops live text.
func (*frameFloor) Show(string) {}

// ShowTool drops tool calls.
func (*frameFloor) ShowTool(endpoint.ToolCall) {}
