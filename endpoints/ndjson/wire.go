package ndjson

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/endpoints/subprocess"
	"github.com/folkmoot/moot/internal/spawn"
)

// A wire speaks the protocol over one connection to an agent. It matches
// responses to the request in flight and turns all other frames into signals.
type wire struct {
	out     *subprocess.Writer
	signals *inflight.Queue
	dir     string        // working folder of the agent; "" is that of this process
	words   func() string // the last lines of the agent's standard error; may be nil

	maxLine, maxNoise int

	mu             sync.Mutex
	requests       inflight.Table
	noise          int // lines without a frame since the last frame
	totalNoise     int
	unansweredBids int // in a row; negative once a bid was answered
	err            error
	done           chan struct{} // closed when err is set
	ready          chan struct{} // closed when the agent has said that it is ready
}

// maxUnansweredBids in a row show that an agent does not know bids.
const maxUnansweredBids = 2

// Defaults of a prompt that states no limit (one-to-one note).
const (
	defaultOutputChars = 12_000
	defaultToolRounds  = 3
)

func newWire(out io.Writer, maxLine, maxNoise int, q *inflight.Queue) *wire {
	done := make(chan struct{})
	return &wire{out: subprocess.NewWriter(out, done), signals: q, maxLine: maxLine, maxNoise: maxNoise, done: done, ready: make(chan struct{})}
}

// ask sends p and returns its result. If ctx ends first, it returns the
// abandoned request, whose channel Late is closed if the response still comes.
func (w *wire) ask(ctx context.Context, p endpoint.Prompt) (endpoint.Reply, *inflight.Request, error) {
	x, err := w.begin(ctx, withLimits(p))
	if x == nil || err != nil {
		return endpoint.Reply{Outcome: endpoint.Passed}, nil, err
	}
	b, err := encodeLine(requestOf(x.Prompt))
	sent := false
	if err == nil {
		sent, err = w.send(ctx, b)
	}
	switch {
	case err == nil || sent:
	case ctx.Err() != nil: // the agent got nothing
		w.mu.Lock()
		w.requests.Fail(x, nil)
		w.mu.Unlock()
		return endpoint.Reply{}, nil, subprocess.ContextError(ctx)
	default:
		return w.notSent(x, err)
	}
	select {
	case r := <-x.Result():
		w.signals.Flush(ctx) // the messages before the answer are a part of the turn
		return r.Reply, nil, r.Err
	case <-ctx.Done():
	}
	return w.abandon(x)
}

// withLimits sets the limits that a request must state.
func withLimits(p endpoint.Prompt) endpoint.Prompt {
	if p.MaxOutputChars <= 0 {
		p.MaxOutputChars = defaultOutputChars
	}
	if p.AllowToolUse && p.MaxToolRounds <= 0 {
		p.MaxToolRounds = defaultToolRounds
	}
	return p
}

// begin makes p the request in flight. It returns nil for a bid to an agent that
// does not know bids.
func (w *wire) begin(ctx context.Context, p endpoint.Prompt) (*inflight.Request, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.requests.Open() != nil || w.requests.State(p.Request) != inflight.Unknown
	switch {
	case w.err != nil:
		return nil, w.err
	case !known && p.Kind == endpoint.Bid && w.unansweredBids >= maxUnansweredBids:
		return nil, nil
	}
	x, err := w.requests.Begin(ctx, p)
	if errors.Is(err, inflight.ErrUsed) {
		return nil, codedError("AGENT-PROTOCOL", "the request id "+endpoint.Quote(p.Request)+" was used before", "give every request an id of its own", endpoint.ErrProtocol)
	}
	return x, err
}

// exitDelay is the time until a process whose input is closed is known to have
// ended. Its exit status says more than a broken pipe.
const exitDelay = 2 * time.Second

// notSent ends a request that could not be written.
func (w *wire) notSent(x *inflight.Request, err error) (endpoint.Reply, *inflight.Request, error) {
	t := time.NewTimer(exitDelay)
	defer t.Stop()
	select {
	case r := <-x.Result():
		return r.Reply, nil, r.Err
	case <-t.C:
		w.End(w.exitError("the agent has closed its input: "+err.Error(), "let it read its standard input to the end"))
	}
	r := <-x.Result()
	return r.Reply, nil, r.Err
}

// exitError returns the error of an agent that has ended or can never answer, with
// the last lines of its standard error.
func (w *wire) exitError(what, fix string) error {
	words := ""
	if w.words != nil {
		words = w.words()
	}
	return subprocess.ExitError(what, fix, words)
}

// abandon ends x without a response, unless one has just come.
func (w *wire) abandon(x *inflight.Request) (endpoint.Reply, *inflight.Request, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.requests.Abandon(x) {
		r := <-x.Result()
		return r.Reply, nil, r.Err
	}
	if x.Prompt.Kind == endpoint.Bid && w.unansweredBids >= 0 {
		w.unansweredBids++
	}
	return endpoint.Reply{}, x, nil
}

// End fails the request in flight and all later ones. Later calls do nothing.
func (w *wire) End(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
		close(w.done)
	}
	w.requests.Fail(w.requests.Open(), w.err)
}

// send writes a whole line and reports whether any of it was written to an agent
// that may still read it. A line that ctx ends in the middle ends the wire.
func (w *wire) send(ctx context.Context, b []byte) (sent bool, err error) {
	sent, err = w.out.Send(ctx, b)
	if errors.Is(err, subprocess.ErrTorn) {
		w.End(w.exitError("the agent stopped reading in the middle of a frame", "let it read its standard input at all times"))
	}
	return sent, err
}

// Read handles lines until the input ends, and returns its error.
func (w *wire) Read(in io.Reader) error {
	lines := spawn.NewLines(in, w.maxLine)
	for {
		b, err := lines.Next()
		switch {
		case errors.Is(err, spawn.ErrLong):
			w.failRequest(faultf("line_too_long", endpoint.ErrTooLarge, "a line of more than %d bytes", w.maxLine))
		case err != nil:
			return err
		default:
			w.take(b, lines.Cut())
		}
	}
}

// Done is closed when the wire has ended.
func (w *wire) Done() <-chan struct{} { return w.done }

// Cause returns why the wire has ended, or nil.
func (w *wire) Cause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *wire) noiseSeen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.totalNoise
}
