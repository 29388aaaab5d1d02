package seat

import (
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// Take handles a response, a side message or a status of the seat's device. It
// reports false when the message belongs to no request of the seat.
func (e *Endpoint) Take(m envelope.Envelope) bool {
	if m.Type == envelope.Status {
		return e.takeStatus(m)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	x := e.requests.Open()
	switch {
	case m.Type == envelope.Offered:
		return e.takeOffered(m)
	case x != nil && x.Prompt.Request == m.ID && m.Type == envelope.Message:
		e.sideMessage(x.Prompt, m)
	case x != nil && x.Prompt.Request == m.ID:
		e.respond(x, m)
	case m.Type == envelope.Message:
		return e.strayMessage(m)
	default:
		return e.strayResponse(m)
	}
	return true
}

// respond ends the request in flight with its response.
func (e *Endpoint) respond(x *inflight.Request, m envelope.Envelope) {
	r := read(x.Prompt, m)
	if r.sessionLost {
		e.sessionID = ""
	} else {
		e.learnSession(r.sessionID)
	}
	if r.violation != nil {
		e.signals.Violation(r.violation.Rule, r.violation.Detail)
		r.Err = r.violation.Problem()
	}
	e.requests.Answer(x, r.Result)
}

// strayMessage handles a side message whose request is not in flight.
func (e *Endpoint) strayMessage(m envelope.Envelope) bool {
	switch s := e.requests.State(m.ID); {
	case s == inflight.Unknown:
		return false
	case s == inflight.Answered && e.last.Request == m.ID:
		e.sideMessage(e.last, m) // it can be overtaken by the response
	default:
		e.signals.Violation("unsolicited", "a message for a request that has ended")
	}
	return true
}

// strayResponse handles a response whose request is not in flight.
func (e *Endpoint) strayResponse(m envelope.Envelope) bool {
	switch s, _ := e.requests.Late(m.ID); {
	case s == inflight.Unknown:
		return false
	case s == inflight.Abandoned:
		e.late(m)
	case e.requests.Repeated(m.ID):
	default:
		e.signals.Violation("duplicate_response", "a second answer to "+endpoint.Quote(m.ID))
	}
	return true
}

// late reports the text of a response whose request was abandoned. Errors and
// bids are not reported.
func (e *Endpoint) late(m envelope.Envelope) {
	var a wire.Response
	if m.Type != envelope.TurnResponse || m.DecodeBody(&a) != nil || a.Status != wire.StatusOK {
		return
	}
	e.signals.Late(m.ID, a.Text)
}

// sideMessage raises a message of the agent, apart from its answer to p.
func (e *Endpoint) sideMessage(p endpoint.Prompt, m envelope.Envelope) {
	var v wire.SideMessage
	switch err := m.DecodeBody(&v); {
	case err == nil && v.Number != 0:
		e.typedMessage(p, v)
	case err != nil || v.Text == "":
		e.signals.Violation("bad_frame", "a message that cannot be read")
	case utf8.RuneCountInString(v.Text) > wire.OutputLimit(p):
		e.signals.Violation("too_large", "a message over the limit of an answer")
	default:
		e.signals.Put(endpoint.Signal{Kind: endpoint.SignalMessage, To: wire.ParticipantOf(p, v.To), Detail: v.Text, Body: m.Body})
	}
}

// received is a decoded response.
type received struct {
	inflight.Result
	sessionID   string // of the agent; "" when not stated
	sessionLost bool   // the agent has lost what it was told before
	violation   *wire.Violation
}

// read decodes the response to p.
func read(p endpoint.Prompt, m envelope.Envelope) received {
	violation := func(rule, detail string) received {
		return received{violation: &wire.Violation{Rule: rule, Kind: endpoint.ErrProtocol, Detail: detail}}
	}
	want := envelope.TurnResponse
	if p.Kind == endpoint.Bid {
		want = envelope.BidResponse
	}
	if m.Type != want && m.Type != envelope.Error {
		return violation("wrong_type", endpoint.Quote(string(m.Type))+" is no answer to this request")
	}
	var a wire.Response
	if err := m.DecodeBody(&a); err != nil {
		return violation("bad_frame", "its answer cannot be read: "+err.Error())
	}
	switch {
	case a.Status == wire.StatusError || m.Type == envelope.Error:
		lost := a.Code == wire.CodeForgot || a.Code == wire.CodeRestarts || a.Code == wire.CodeInterrupted
		return received{Result: inflight.Result{Err: wire.ErrorOf(a.Code, a.Reason)}, sessionID: a.SessionID, sessionLost: lost}
	case a.Status != wire.StatusOK:
		return violation("bad_status", "its status is "+endpoint.Quote(a.Status))
	}
	reply, v := a.Reply(p)
	return received{Result: inflight.Result{Reply: reply}, sessionID: a.SessionID, violation: v}
}

// heartbeatMark is the live text that a watcher sees for a heartbeat.
const heartbeatMark = "·"

// minHeartbeat is the shortest time between two heartbeats that are shown,
// however many the other device sends.
const minHeartbeat = time.Second

// takeStatus handles a heartbeat or the announcement of a restart.
func (e *Endpoint) takeStatus(m envelope.Envelope) bool {
	var s wire.Status
	switch err := m.DecodeBody(&s); {
	case err != nil:
		return false
	case s.State == wire.StateRestarted:
		e.sessionEnded(m.Profile, m.Room)
		return true
	}
	return e.takeHeartbeat(m.ID)
}

// takeHeartbeat shows that the agent works on a request, and reports whether the
// request is one of this seat. An abandoned request shows nothing: its response
// is still due.
func (e *Endpoint) takeHeartbeat(id string) bool {
	e.mu.Lock()
	var floor endpoint.Floor
	switch e.requests.State(id) {
	case inflight.Unknown:
		e.mu.Unlock()
		return false
	case inflight.Asked:
		if now := time.Now(); now.Sub(e.heartbeat) >= minHeartbeat {
			e.heartbeat, floor = now, e.floor
		}
	case inflight.Answered:
		e.signals.Violation("late_status", "work on "+endpoint.Quote(id)+", which has been answered")
	}
	e.mu.Unlock()
	if floor != nil {
		floor.Show(heartbeatMark)
	}
	return true
}

// PeerRestarted sends the request in flight again.
func (e *Endpoint) PeerRestarted() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inquiry.tries, e.inquiry.known, e.inquiry.typed = 0, false, false // it may have another release
	if e.requests.Open() == nil {
		return
	}
	select {
	case e.resend <- struct{}{}:
	default:
	}
}

// Violation tells the room that the seat's device broke a rule.
func (e *Endpoint) Violation(code, detail string) { e.signals.Violation(code, detail) }
