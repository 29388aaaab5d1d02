package ndjson

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/spawn"
)

// A wire speaks the frames over one connection to an agent: it matches
// responses to the request in flight and turns everything else into signals.
type wire struct {
	out   io.Writer
	turn  chan struct{} // a token: who holds it may write
	notes *notes

	maxLine, maxNoise int

	mu      sync.Mutex
	open    *exchange
	recent  history
	noise   int // lines since the last frame
	skipped int // lines of noise in all
	bids    int // bids unanswered in a row; negative once one was answered
	ended   error
	done    chan struct{} // closed with ended
}

// An exchange is a request and where its result goes.
type exchange struct {
	prompt endpoint.Prompt
	result chan result // holds one
	late   chan struct{}
}

type result struct {
	reply endpoint.Reply
	err   error
}

// enoughBids unanswered in a row show that an agent does not know bids.
const enoughBids = 2

func newWire(out io.Writer, maxLine, maxNoise int, n *notes) *wire {
	return &wire{out: out, turn: make(chan struct{}, 1), notes: n, maxLine: maxLine, maxNoise: maxNoise, done: make(chan struct{})}
}

// ask sends p and returns its result. When ctx ends first it returns the open
// exchange too, whose late channel is closed if the answer comes after all.
func (w *wire) ask(ctx context.Context, p endpoint.Prompt) (endpoint.Reply, *exchange, error) {
	p = bounded(p)
	x := &exchange{prompt: p, result: make(chan result, 1), late: make(chan struct{})}
	if skip, err := w.begin(x); skip || err != nil {
		return endpoint.Reply{Outcome: endpoint.Passed}, nil, err
	}
	b, err := line(asRequest(p))
	sent := false
	if err == nil {
		sent, err = w.send(ctx, b)
	}
	switch {
	case err == nil || sent:
	case ctx.Err() != nil: // it knows of nothing, so it is in step
		w.giveUp(x, nil)
		return endpoint.Reply{}, nil, ended(ctx)
	default:
		return w.unsent(x, err)
	}
	select {
	case r := <-x.result:
		return r.reply, nil, r.err
	case <-ctx.Done():
	}
	return w.abandon(x)
}

// bounded fills in the limits that must not be absent (one-to-one note).
func bounded(p endpoint.Prompt) endpoint.Prompt {
	if p.MaxOutputChars <= 0 {
		p.MaxOutputChars = 12_000
	}
	if p.AllowToolUse && p.MaxToolRounds <= 0 {
		p.MaxToolRounds = 3
	}
	return p
}

// begin makes x the exchange in flight. It reports whether there is no use in
// asking.
func (w *wire) begin(x *exchange) (skip bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended != nil:
		return false, w.ended
	case w.open != nil:
		return false, endpoint.ErrBusy
	case w.recent.state(x.prompt.Request) != unknown:
		return false, fail("AGENT-PROTOCOL", "the request id "+brief(x.prompt.Request)+" was used before", "give every request an id of its own", endpoint.ErrProtocol)
	case x.prompt.Kind == endpoint.Bid && w.bids >= enoughBids:
		return true, nil
	}
	w.open = x
	w.recent.put(x.prompt.Request, record{state: asked})
	return false, nil
}

// unsent waits a moment for the reader to learn why nothing can be written:
// the process's exit says more than a broken pipe.
func (w *wire) unsent(x *exchange, err error) (endpoint.Reply, *exchange, error) {
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case r := <-x.result:
		return r.reply, nil, r.err
	case <-t.C:
		w.end(fail("AGENT-EXITED", "the agent has closed its input: "+err.Error(), "let it read its standard input to the end", endpoint.ErrExited))
	}
	r := <-x.result
	return r.reply, nil, r.err
}

// abandon ends x without an answer, unless one has just come.
func (w *wire) abandon(x *exchange) (endpoint.Reply, *exchange, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case r := <-x.result:
		return r.reply, nil, r.err
	default:
	}
	w.open = nil
	w.recent.put(x.prompt.Request, record{abandoned, x})
	if x.prompt.Kind == endpoint.Bid && w.bids >= 0 {
		w.bids++
	}
	return endpoint.Reply{}, x, nil
}

// finish gives x its one result, its answer. It reports false when x had
// ended.
func (w *wire) finish(x *exchange, r result) bool { return w.conclude(x, r, record{state: answered}) }

// giveUp gives x a result that is no answer; one may still come, late.
func (w *wire) giveUp(x *exchange, err error) {
	w.conclude(x, result{err: err}, record{abandoned, x})
}

func (w *wire) conclude(x *exchange, r result, past record) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x == nil || w.open != x {
		return false
	}
	w.open = nil
	w.recent.put(x.prompt.Request, past)
	x.result <- r
	return true
}

// current returns the exchange in flight, or nil.
func (w *wire) current() *exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

// end fails what is in flight and everything after. The first call counts.
func (w *wire) end(err error) {
	w.mu.Lock()
	if w.ended == nil {
		w.ended = err
		close(w.done)
	}
	err, x := w.ended, w.open
	w.mu.Unlock()
	w.giveUp(x, err)
}

// send writes a whole line. An error after a part of it has gone out ends the
// wire. It reports whether anything was written.
func (w *wire) send(ctx context.Context, b []byte) (sent bool, err error) {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	case <-w.done:
		return false, io.ErrClosedPipe
	}
	defer func() { <-w.turn }()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	stop := w.limitWrite(ctx)
	n, err := w.out.Write(b)
	stop()
	if err != nil && n > 0 {
		w.end(fail("AGENT-EXITED", "the agent stopped reading in the middle of a frame", "let it read its standard input at all times", endpoint.ErrExited))
	}
	return n > 0, err
}

// limitWrite makes a write fail when ctx ends. The caller calls stop.
func (w *wire) limitWrite(ctx context.Context) (stop func()) {
	d, ok := w.out.(interface{ SetWriteDeadline(time.Time) error })
	if !ok {
		return func() {}
	}
	_ = d.SetWriteDeadline(time.Time{})
	fired := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(fired)
		_ = d.SetWriteDeadline(time.Unix(1, 0))
	})
	return func() {
		if !cancel() {
			<-fired // else it could hit the next write
		}
	}
}

// read takes lines until the input ends, and returns its error.
func (w *wire) read(in io.Reader) error {
	lines := spawn.NewLines(in, w.maxLine)
	for {
		b, err := lines.Next()
		switch {
		case errors.Is(err, spawn.ErrLong):
			w.overlong()
		case err != nil:
			return err
		default:
			w.take(b, lines.Cut())
		}
	}
}

// cause returns why the wire has ended, or nil.
func (w *wire) cause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

func (w *wire) noiseSeen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.skipped
}
