package ndjson

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// take handles one line of the agent's output. Half a frame at the end of the
// output says less than the end itself does.
func (w *wire) take(b []byte, cut bool) {
	p, some := read(b)
	if !some || cut && p.err != nil {
		return
	}
	w.count(p)
	switch {
	case p.err != nil:
		w.breach("bad_frame", faultf("bad_frame", endpoint.ErrProtocol, "a frame cannot be read: %v", p.err))
	case p.typ == "":
	case p.typ == typeReply || p.typ == typeBidReply:
		w.respond(p.raw)
	case p.typ == typeMessage || p.typ == typeCall:
		w.aside(p.raw)
	default:
		w.notes.violation("unknown_frame", "no such frame: "+brief(p.typ))
	}
}

// count keeps track of noise and fails the turn when there is too much.
func (w *wire) count(p piece) {
	w.mu.Lock()
	if p.blot {
		w.noise++
		w.skipped++
	}
	n := w.noise
	if p.typ != "" {
		w.noise = 0
	}
	if n > w.maxNoise {
		w.noise = 0
	}
	w.mu.Unlock()
	if p.typ == "" && n > w.maxNoise {
		w.breach("noise", faultf("noise", endpoint.ErrProtocol, "%d lines that are no frames; write logs to standard error", n))
	}
}

func (w *wire) overlong() {
	w.breach("line_too_long", faultf("line_too_long", endpoint.ErrTooLarge, "a line of more than %d bytes", w.maxLine))
}

// breach records a broken rule that hangs on no request, and fails the one in
// flight: its answer may be what was lost.
func (w *wire) breach(code string, f *fault) {
	w.notes.violation(code, f.text)
	w.giveUp(w.current(), f.problem())
}

// respond matches a response to its request.
func (w *wire) respond(raw []byte) {
	r, err := responseOf(raw)
	x := w.current()
	if x != nil && r.RequestID == x.prompt.Request {
		w.accept(x, r, err)
		return
	}
	if err != nil && r.RequestID == "" {
		w.breach("bad_frame", faultf("bad_frame", endpoint.ErrProtocol, "a response cannot be read: %s", mismatch(err)))
		return
	}
	w.stray(r)
}

// accept ends the exchange in flight with its response.
func (w *wire) accept(x *exchange, r response, err error) {
	var f *fault
	var out endpoint.Reply
	if err != nil {
		f = faultf("bad_frame", endpoint.ErrProtocol, "the response cannot be read: %s", mismatch(err))
	} else {
		out, f = reply(r, x.prompt)
	}
	if f != nil && f.rule != "" {
		w.notes.violation(f.rule, f.text)
	}
	if x.prompt.Kind == endpoint.Bid {
		w.knowsBids()
	}
	if !w.finish(x, result{out, f.problem()}) {
		w.stray(r) // it had ended meanwhile
	}
}

func (w *wire) knowsBids() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bids = -1
}

// stray handles a response whose request is not in flight. It changes nothing
// but the log (rules R1 and R2).
func (w *wire) stray(r response) {
	w.mu.Lock()
	state := w.recent.state(r.RequestID)
	left := w.recent.settle(r.RequestID)
	w.mu.Unlock()
	switch state {
	case abandoned:
		if left.prompt.Kind != endpoint.Bid { // a bid is no reply
			w.notes.late(r.RequestID, r.Draft)
		}
		close(left.late)
	case answered:
		w.notes.violation("duplicate_response", "a second response to "+brief(r.RequestID))
	default:
		w.notes.violation("unknown_request", "a response to "+brief(r.RequestID)+", which is no request of this seat")
	}
}

// aside raises a message or a call.
func (w *wire) aside(raw []byte) {
	var a aside
	if err := json.Unmarshal(raw, &a); err != nil {
		w.notes.violation("bad_frame", "a message cannot be read: "+mismatch(err))
		return
	}
	limit := 12_000
	if x := w.current(); x != nil {
		limit = x.prompt.MaxOutputChars
	}
	s := endpoint.Signal{Kind: endpoint.SignalMessage, To: a.To, Detail: a.Text, Body: append([]byte(nil), raw...)}
	switch n := utf8.RuneCountInString(a.Text); {
	case n > limit:
		w.notes.violation("too_large", fmt.Sprintf("a message of %d characters, and the limit is %d", n, limit))
		return
	case a.Type == typeCall:
		s.Kind = endpoint.SignalCall
	case strings.TrimSpace(a.Text) == "":
		w.notes.violation("bad_frame", "a message without text")
		return
	}
	x := note{s, func(ans endpoint.Answer, err error) { w.answer(a, ans, err) }}
	if s.Kind == endpoint.SignalCall {
		w.notes.call(x)
	} else {
		w.notes.put(x)
	}
}

// answer tells the agent what became of an aside, if it gave it an id.
func (w *wire) answer(a aside, ans endpoint.Answer, err error) {
	v := verdict{Type: typeMessageDone, MessageID: a.MessageID, Allowed: ans.Allowed && err == nil, Reason: ans.Reason, Body: ans.Body}
	id := a.MessageID
	if a.Type == typeCall {
		v.Type, v.MessageID, v.CallID = typeCallDone, "", a.CallID
		id = a.CallID
	}
	if id == "" {
		return
	}
	if err != nil {
		v.Reason, v.Body = "the room did not take it", nil
	}
	if b, err := line(v); err == nil {
		_, _ = w.send(w.notes.ctx, b) // an agent that has gone needs no verdict
	}
}
