package ndjson

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
)

// take handles one line of the agent's output. cut marks a last line without a
// newline: if it is malformed, the end of the output says more than the line.
func (w *wire) take(b []byte, cut bool) {
	f, ok := findFrame(b)
	if !ok || cut && f.err != nil {
		return
	}
	w.countNoise(f)
	switch {
	case f.err != nil:
		w.failRequest(faultf("bad_frame", endpoint.ErrProtocol, "a frame cannot be read: %v", f.err))
	case f.typ == "":
	case f.typ == typeReply || f.typ == typeBidReply:
		w.respond(f)
	case f.typ == typeReady:
		w.markReady()
	case f.typ == typeMessage || f.typ == typeCall:
		w.raise(f.raw)
	case f.typ == typePermission:
		w.permit(f.raw)
	case f.typ == typeAck:
		w.acknowledge(f.raw)
	case f.typ == typeClaim:
		w.claim(f.raw)
	default:
		w.signals.Violation("unknown_frame", "no such frame: "+endpoint.Quote(f.typ))
	}
}

// markReady records that the agent says that it is ready.
func (w *wire) markReady() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.ready:
	default:
		close(w.ready)
	}
}

// countNoise counts lines without a frame. Too many since the last frame fail
// the request in flight.
func (w *wire) countNoise(f frame) {
	w.mu.Lock()
	if f.noise {
		w.noise++
		w.totalNoise++
	}
	n := w.noise
	if f.typ != "" || n > w.maxNoise {
		w.noise = 0
	}
	w.mu.Unlock()
	if f.typ == "" && n > w.maxNoise {
		w.failRequest(faultf("noise", endpoint.ErrProtocol, "%d lines that are no frames; write logs to standard error", n))
	}
}

// failRequest reports a violation that belongs to no response. It fails the
// request in flight, whose response may be the line that cannot be read.
func (w *wire) failRequest(f *fault) {
	w.signals.Violation(f.rule, f.text)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests.Fail(w.requests.Open(), f.problem())
}

// respond matches a response to its request.
func (w *wire) respond(f frame) {
	r, err := responseOf(f)
	w.mu.Lock()
	x := w.requests.Open()
	w.mu.Unlock()
	switch {
	case x != nil && r.RequestID == x.Prompt.Request:
		w.accept(x, r, err)
	case err != nil && r.RequestID == "":
		w.failRequest(faultf("bad_frame", endpoint.ErrProtocol, "a response cannot be read: %s", describe(err)))
	default:
		w.stray(r)
	}
}

// accept ends the request in flight with its response.
func (w *wire) accept(x *inflight.Request, r response, err error) {
	var f *fault
	var reply endpoint.Reply
	if err != nil {
		f = faultf("bad_frame", endpoint.ErrProtocol, "the response cannot be read: %s", describe(err))
	} else {
		reply, f = replyTo(x.Prompt, r)
	}
	if f != nil && f.rule != "" {
		w.signals.Violation(f.rule, f.text)
	}
	w.mu.Lock()
	if x.Prompt.Kind == endpoint.Bid {
		w.unansweredBids = -1
	}
	ok := w.requests.Answer(x, inflight.Result{Reply: reply, Err: f.problem()})
	w.mu.Unlock()
	if !ok {
		w.stray(r) // the request has ended meanwhile
	}
}

// stray handles a response whose request is not in flight. It only raises a
// signal.
func (w *wire) stray(r response) {
	w.mu.Lock()
	state, left := w.requests.Late(r.RequestID)
	w.mu.Unlock()
	switch state {
	case inflight.Abandoned:
		if left.Prompt.Kind != endpoint.Bid { // a bid has no text
			w.signals.Late(r.RequestID, r.Draft)
		}
	case inflight.Answered:
		w.signals.Violation("duplicate_response", "a second response to "+endpoint.Quote(r.RequestID))
	default:
		w.signals.Violation("unknown_request", "a response to "+endpoint.Quote(r.RequestID)+", which is no request of this seat")
	}
}

// raise raises a message or a call of the agent.
func (w *wire) raise(raw []byte) {
	var m sideMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		w.refuseMessage(idOf(raw), "bad_frame", "a message cannot be read: "+describe(err))
		return
	}
	limit := defaultOutputChars
	w.mu.Lock()
	if x := w.requests.Open(); x != nil {
		limit = x.Prompt.MaxOutputChars
	}
	w.mu.Unlock()
	s := endpoint.Signal{Kind: endpoint.SignalMessage, To: m.To, Detail: m.Text, Body: append([]byte(nil), raw...)}
	then := func(a endpoint.Answer, err error) { w.answer(m, a, err) }
	switch n := utf8.RuneCountInString(m.Text); {
	case n > limit:
		w.refuseMessage(m, "too_large", fmt.Sprintf("a message of %d characters, and the limit is %d", n, limit))
	case m.Type == typeCall:
		s.Kind = endpoint.SignalCall
		w.signals.Call(s, then)
	case m.Kind != "":
		s.Post, s.Body = &m.Post, nil
		w.signals.Ask(s, then)
	case strings.TrimSpace(m.Text) == "":
		w.refuseMessage(m, "bad_frame", "a message without text")
	default:
		w.signals.Ask(s, then)
	}
}

// idOf returns the type and the id of a message of which the rest cannot be read.
func idOf(raw []byte) (m sideMessage) {
	var head struct {
		Type      string          `json:"type"`
		MessageID json.RawMessage `json:"message_id"`
		CallID    json.RawMessage `json:"call_id"`
	}
	if json.Unmarshal(raw, &head) == nil {
		m.Type = head.Type
		if json.Unmarshal(head.MessageID, &m.ID) != nil {
			m.ID = ""
		}
		if json.Unmarshal(head.CallID, &m.CallID) != nil {
			m.CallID = ""
		}
	}
	return m
}

// refuseMessage reports a message that breaks the protocol, and answers it if its id
// can be read.
func (w *wire) refuseMessage(m sideMessage, rule, why string) {
	broken := endpoint.Signal{Kind: endpoint.SignalViolation, Code: rule, Detail: endpoint.CleanLine(why, maxReason)}
	w.signals.Ask(broken, func(endpoint.Answer, error) { w.answer(m, endpoint.Answer{Reason: why}, nil) })
}

// answer sends the agent the room's answer to a message or call that has an id.
func (w *wire) answer(m sideMessage, a endpoint.Answer, err error) {
	v := messageReply{Type: typeMessageReply, MessageID: m.ID, Allowed: a.Allowed && err == nil, Reason: a.Reason, Body: a.Body}
	id := m.ID
	if m.Type == typeCall {
		v.Type, v.MessageID, v.CallID = typeCallReply, "", m.CallID
		id = m.CallID
	}
	if id == "" {
		return
	}
	if err != nil {
		v.Reason, v.Body = notTaken, nil
	}
	w.reply(v)
}
