package relay

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// An EndpointConfig says which agent of another owner to seat.
type EndpointConfig struct {
	Post   *Post
	Device identity.DeviceID // that the agent is on
	Remote string            // its profile there
	// Profile of this device, on whose behalf the agent is asked.
	Profile Profile
	Gate    *Gate
	// Trusted says whether the device may still be spoken to; it is asked now and
	// then while an answer is awaited. Nil: yes, for as long as the Link sends.
	Trusted func() error
	// Refused is told of what this device did not let out. May be nil.
	Refused func(p endpoint.Prompt, err error)
}

// An Endpoint drives one remote seat. Its methods may be used concurrently,
// though only one Speak at a time gets through.
type Endpoint struct {
	cfg   EndpointConfig
	slot  chan struct{} // a token: the request in flight
	notes *notes
	over  chan struct{} // closed by Close

	mu     sync.Mutex
	floor  endpoint.Floor
	open   *exchange
	last   *exchange // the newest, open or not
	past   history
	memory string // of the agent when it last answered; "" is unknown
	closed bool
	sends  sync.WaitGroup
}

// An exchange is the request in flight.
type exchange struct {
	ctx    context.Context
	prompt endpoint.Prompt
	result chan result   // holds one
	again  chan struct{} // the other device was started again

	repeats int       // of the request
	shown   time.Time // when a sign of its agent's work was shown last
}

type result struct {
	reply  endpoint.Reply
	err    error
	memory string // of the agent; see memory.go
	lost   bool   // and that what it was before is gone
}

// New returns the endpoint of a remote seat.
func New(cfg EndpointConfig) *Endpoint {
	e := &Endpoint{cfg: cfg, slot: make(chan struct{}, 1), over: make(chan struct{})}
	e.notes = newNotes(e.listener)
	cfg.Post.add(e)
	return e
}

// Speak asks the remote agent and waits for its one answer. Errors wrap
// endpoint's: beside those of every agent ErrDenied, ErrLimited, ErrUntrusted,
// ErrUnreachable and ErrInterrupted. A request whose context ends is cancelled
// on the other device too.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	if err := e.enter(ctx); err != nil {
		return endpoint.Reply{}, err
	}
	defer func() { <-e.slot }()
	if p.Timeout <= 0 {
		p.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer e.sends.Wait()
	defer cancel()
	x, err := e.begin(ctx, p, floor)
	if err != nil {
		return endpoint.Reply{}, err
	}
	leave, message, err := e.leave(ctx, p)
	if err != nil {
		e.settle(x, answered)
		if e.cfg.Refused != nil && (errors.Is(err, endpoint.ErrDenied) || errors.Is(err, endpoint.ErrLimited)) {
			e.cfg.Refused(p, err)
		}
		return endpoint.Reply{}, err
	}
	defer leave()
	return e.await(ctx, x, message)
}

// enter takes the slot. A request whose context has ended is about to give it
// back, which is waited for: a room that was paused and resumed is that fast.
func (e *Endpoint) enter(ctx context.Context) error {
	select {
	case e.slot <- struct{}{}:
		return nil
	default:
	}
	e.mu.Lock()
	busy := e.open != nil && e.open.ctx.Err() == nil
	e.mu.Unlock()
	if busy {
		return problemOf("AGENT-BUSY", "the remote agent has a request in flight", "wait for its answer", endpoint.ErrBusy)
	}
	select {
	case e.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

func (e *Endpoint) begin(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (*exchange, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	if _, ok := e.past.state(p.Request); ok {
		return nil, problemOf("AGENT-PROTOCOL", "the request id "+quote(p.Request)+" was used before", "give every request an id of its own", endpoint.ErrProtocol)
	}
	e.floor = floor
	e.open = &exchange{ctx: ctx, prompt: p, result: make(chan result, 1), again: make(chan struct{}, 1)}
	e.last = e.open
	return e.open, nil
}

// leave checks what this device's own policy says, and writes the request.
func (e *Endpoint) leave(ctx context.Context, p endpoint.Prompt) (leave func(), message []byte, err error) {
	t, err := e.cfg.Profile.begin(e.cfg.Post.self, e.cfg.Device, p.Trace, traceID(p))
	if err != nil {
		return nil, nil, err
	}
	if message, err = request(p, e.cfg.Remote, e.builds(p), t); err != nil {
		return nil, nil, err
	}
	kind := p.Kind
	if kind == "" {
		kind = endpoint.Turn
	}
	leave, err = e.cfg.Gate.enter(ctx, asking, e.cfg.Profile, e.cfg.Device, kind)
	return leave, message, err
}

// settle ends x without an answer, unless one has just come.
func (e *Endpoint) settle(x *exchange, how fate) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open != x {
		return false
	}
	e.open = nil
	e.past.put(x.prompt.Request, how)
	e.past.expect(x.prompt.Request, x.repeats)
	return true
}

// cancel tells the other device that nobody waits any more.
func (e *Endpoint) cancel(p endpoint.Prompt) {
	if p.Kind == endpoint.Bid {
		return
	}
	e.cfg.Post.send(e.cfg.Device, envelope.Envelope{ID: p.Request, Type: envelope.TurnCancel, Profile: e.cfg.Remote, Room: p.Room, Epoch: p.Epoch, Turn: p.Turn})
}

// take handles an answer or a message, if it belongs to this seat.
func (e *Endpoint) take(m envelope.Envelope) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	x := e.open
	if x != nil && x.prompt.Request == m.ID {
		if m.Type == envelope.Message {
			e.aside(x, m)
			return true
		}
		e.conclude(x, m)
		return true
	}
	how, ok := e.past.state(m.ID)
	switch {
	case !ok:
		return false
	case m.Type == envelope.Message && how == answered && e.last.prompt.Request == m.ID:
		e.aside(e.last, m) // the two leave the agent's process on ways of their own
	case m.Type == envelope.Message:
		e.notes.put(violation("unsolicited", "a message for a request that has ended"))
	case how == abandoned:
		e.past.put(m.ID, answered)
		e.late(m)
	case e.past.more[m.ID] > 0:
		e.past.more[m.ID]-- // it was asked again, so it answers again
	default:
		e.notes.put(violation("duplicate_response", "a second answer to "+quote(m.ID)))
	}
	return true
}

// conclude ends x with its answer.
func (e *Endpoint) conclude(x *exchange, m envelope.Envelope) {
	r, b := read(x.prompt, m)
	e.learn(r)
	if b != nil {
		e.notes.put(violation(b.rule, b.what))
		r.err = b.problem()
	}
	e.open = nil
	e.past.put(x.prompt.Request, answered)
	e.past.expect(x.prompt.Request, x.repeats)
	x.result <- r
}

// read is the result of an answer.
func read(p endpoint.Prompt, m envelope.Envelope) (result, *breach) {
	want := envelope.TurnResponse
	if p.Kind == endpoint.Bid {
		want = envelope.BidResponse
	}
	if m.Type != want && m.Type != envelope.Error {
		return result{}, &breach{"wrong_type", endpoint.ErrProtocol, quote(string(m.Type)) + " is no answer to this request"}
	}
	var a answer
	if err := m.DecodeBody(&a); err != nil {
		return result{}, &breach{"bad_frame", endpoint.ErrProtocol, "its answer cannot be read: " + err.Error()}
	}
	switch {
	case a.Status == statusError || m.Type == envelope.Error:
		lost := a.Code == codeForgot || a.Code == codeRestarts || a.Code == "interrupted"
		return result{err: faultOf(a.Code, a.Reason), memory: a.Memory, lost: lost}, nil
	case a.Status != statusOK:
		return result{}, &breach{"bad_status", endpoint.ErrProtocol, "its status is " + quote(a.Status)}
	}
	reply, b := a.reply(p)
	return result{reply: reply, memory: a.Memory}, b
}

func (b *breach) problem() error {
	if errors.Is(b.kind, endpoint.ErrTooLarge) {
		return faultOf("too_large", b.what)
	}
	return faultOf("protocol", b.what)
}

// late notes an answer that came after its request had ended. That there is
// none is not worth a note.
func (e *Endpoint) late(m envelope.Envelope) {
	var a answer
	if m.Type != envelope.TurnResponse || m.DecodeBody(&a) != nil || a.Status != statusOK {
		return
	}
	e.notes.put(endpoint.Signal{Kind: endpoint.SignalLate, Code: m.ID, Detail: a.Text})
}

// aside raises what the agent says beside its answer.
func (e *Endpoint) aside(x *exchange, m envelope.Envelope) {
	var v message
	limit := orElse(x.prompt.MaxOutputChars, 12_000)
	switch err := m.DecodeBody(&v); {
	case err != nil || v.Text == "":
		e.notes.put(violation("bad_frame", "a message that cannot be read"))
	case len([]rune(v.Text)) > limit:
		e.notes.put(violation("too_large", "a message over the limit of an answer"))
	default:
		e.notes.put(endpoint.Signal{Kind: endpoint.SignalMessage, To: v.To, Detail: v.Text, Body: m.Body})
	}
}

// repeat asks again what is open.
func (e *Endpoint) repeat() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		return
	}
	select {
	case e.open.again <- struct{}{}:
	default:
	}
}

func (e *Endpoint) listener() endpoint.Floor {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.floor
}

// Close ends the request in flight, which is cancelled on the other device,
// and waits for what the endpoint has started.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	was, x := e.closed, e.open
	e.closed = true
	e.mu.Unlock()
	if was {
		return nil
	}
	if x != nil {
		e.cancel(x.prompt)
	}
	close(e.over)
	e.cfg.Post.remove(e)
	e.notes.close()
	return nil
}

// traceID names the chain that a request begins.
func traceID(p endpoint.Prompt) string { return "t_" + digest(p.Room+"\x00"+p.Request) }

// request writes the envelope of a prompt.
func request(p endpoint.Prompt, remote, knows string, t envelope.Trace) ([]byte, error) {
	e := envelope.Envelope{ID: p.Request, Type: envelope.TurnRequest, Profile: remote, Room: p.Room, Epoch: p.Epoch, Turn: p.Turn, Trace: &t}
	if p.Kind == endpoint.Bid {
		e.Type = envelope.BidRequest
	}
	for {
		q := questionOf(p)
		q.Knows = knows
		e.Body = body(q)
		b, err := envelope.Encode(e)
		if err == nil && len(b) <= session.MaxMessage {
			return b, nil
		}
		if len(e.Body) < session.MaxMessage/2 { // its size is not what is wrong
			return nil, problemOf("AGENT-PROTOCOL", "the request cannot be written", "", endpoint.ErrProtocol)
		}
		if !shorten(&p, len(e.Body)) {
			return nil, unsent(session.ErrTooLarge)
		}
	}
}

func body(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`{"status":"error","code":"failed"}`) // hints were checked, the rest is plain
	}
	return b
}

// response is the envelope that ends a request.
func response(q envelope.Envelope, b json.RawMessage) envelope.Envelope {
	t := envelope.TurnResponse
	if q.Type == envelope.BidRequest {
		t = envelope.BidResponse
	}
	return envelope.Envelope{ID: q.ID, Type: t, Profile: q.Profile, Room: q.Room, Epoch: q.Epoch, Turn: q.Turn, Body: b}
}

// defaultTimeout bounds a request that says nothing.
const defaultTimeout = 300 * time.Second
