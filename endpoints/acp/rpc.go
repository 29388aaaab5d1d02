package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/subprocess"
	"github.com/folkmoot/moot/internal/spawn"
)

// A conn is one JSON-RPC 2.0 connection with a message on each line. It matches
// responses to the calls in progress and gives everything else to its peer.
type conn struct {
	out      *subprocess.Writer
	peer     peer
	maxLine  int
	maxNoise int
	outbox   chan []byte // lines that the reader must not wait for

	mu         sync.Mutex
	last       int64                    // id of the latest call
	calls      map[int64]func(response) // in progress, by id
	noise      int                      // lines without a message since the latest message
	totalNoise int
	err        error
	done       chan struct{} // closed when err is set
}

// A peer handles what is no response to a call. The reader calls its methods one
// after the other, so they must not wait for the room or the agent.
type peer interface {
	notified(method string, params json.RawMessage)
	requested(id json.RawMessage, method string, params json.RawMessage)
	stray(id json.RawMessage, ours bool) // a response to no call in progress; ours: the call has been answered
	unreadable(f *fault)                 // a line that may be a part of the answer
	overflowed()                         // the outbox is full
	exitError(what string) error         // the error of an agent that can never answer
}

// A response is the end of a call: a result, an error of the agent, or the end of
// the connection.
type response struct {
	result json.RawMessage
	failed *rpcError
	cause  error
}

// maxOutbox bounds the lines that wait for an agent that does not read.
const maxOutbox = 256

func newConn(stdin io.Writer, cfg Config) *conn {
	c := &conn{
		maxLine: cfg.MaxLine, maxNoise: cfg.MaxNoise, outbox: make(chan []byte, maxOutbox),
		calls: map[int64]func(response){}, done: make(chan struct{}),
	}
	c.out = subprocess.NewWriter(stdin, c.done)
	return c
}

// begin sends a request. Its response goes to then, on the goroutine of the reader
// or of End. An error means that the agent got nothing and then is not called: it
// is that of ctx, or the cause of the end.
func (c *conn) begin(ctx context.Context, method string, params any, then func(response)) (id int64, err error) {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return 0, c.err
	}
	c.last++
	id = c.last
	c.calls[id] = then
	c.mu.Unlock()
	line, err := encode(message{ID: rawID(id), Method: method}, params)
	if err == nil {
		_, err = c.out.Send(ctx, line)
	}
	switch {
	case errors.Is(err, subprocess.ErrTorn):
		c.End(c.peer.exitError("the agent stopped reading in the middle of a message"))
	case err != nil && ctx.Err() != nil && c.take(id) != nil:
		return 0, ctx.Err()
	case err != nil: // the exit status of the process tells more than a closed pipe
		what := "the agent has closed its input: " + err.Error()
		time.AfterFunc(exitDelay, func() { c.End(c.peer.exitError(what)) })
	}
	return id, nil
}

// exitDelay is the time until a process whose input is closed is known to have
// ended.
const exitDelay = 2 * time.Second

// call sends a request, waits for its response and decodes the result. The error
// is an *rpcError of the agent, the cause of the end, a *problem.Error for a result
// that cannot be read, or that of ctx. A call that ctx ends is cancelled, and its
// response goes to late, which may be nil.
func (c *conn) call(ctx context.Context, method string, params, result any, late func(response)) error {
	out := make(chan response, 1)
	var mu sync.Mutex
	left := false
	id, err := c.begin(ctx, method, params, func(r response) {
		mu.Lock()
		defer mu.Unlock()
		if !left {
			out <- r
		} else if late != nil {
			late(r)
		}
	})
	if err != nil {
		return err
	}
	select {
	case r := <-out:
		return r.decode(method, result)
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	left = true
	select {
	case r := <-out:
		return r.decode(method, result)
	default:
	}
	c.notify(methodCancelRequest, cancelRequest{RequestID: rawID(id)})
	return ctx.Err()
}

// decode decodes the result into v, which may be nil.
func (r response) decode(method string, v any) error {
	switch {
	case r.cause != nil:
		return r.cause
	case r.failed != nil:
		return r.failed
	case v == nil || len(r.result) == 0 || string(r.result) == "null":
		return nil
	}
	if err := json.Unmarshal(r.result, v); err != nil {
		return faultf("bad_result", endpoint.ErrProtocol, "the response to %s cannot be read: %s", method, describe(err)).problem()
	}
	return nil
}

// ask queues a request whose response does not matter.
func (c *conn) ask(method string, params any) {
	c.mu.Lock()
	c.last++
	id := c.last
	c.calls[id] = func(response) {}
	c.mu.Unlock()
	c.post(message{ID: rawID(id), Method: method}, params)
}

// notify queues a notification.
func (c *conn) notify(method string, params any) { c.post(message{Method: method}, params) }

// answer queues the response to a request of the agent.
func (c *conn) answer(id json.RawMessage, result any) {
	b, err := json.Marshal(result)
	if err != nil {
		panic(fmt.Sprintf("acp: encoding a response: %v", err)) // our own types have a JSON form
	}
	c.post(message{ID: id, Result: b}, nil)
}

// refuse queues an error as the response to a request of the agent.
func (c *conn) refuse(id json.RawMessage, code int, text string) {
	c.post(message{ID: id, Error: &rpcError{Code: code, Message: text}}, nil)
}

func (c *conn) post(m message, params any) {
	line, err := encode(m, params)
	if err != nil {
		panic(fmt.Sprintf("acp: encoding a message: %v", err))
	}
	select {
	case c.outbox <- line:
	default:
		c.peer.overflowed()
	}
}

// Read handles lines until the input ends, and returns its error.
func (c *conn) Read(in io.Reader) error {
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { c.writeOutbox(ctx) })
	defer wg.Wait()
	defer stop()
	lines := spawn.NewLines(in, c.maxLine)
	for {
		b, err := lines.Next()
		switch {
		case errors.Is(err, spawn.ErrLong):
			c.peer.unreadable(faultf("line_too_long", endpoint.ErrTooLarge, "a line of more than %d bytes", c.maxLine))
		case err != nil:
			return err
		default:
			c.handle(b, lines.Cut())
		}
	}
}

// writeOutbox writes queued lines until ctx ends.
func (c *conn) writeOutbox(ctx context.Context) {
	for {
		select {
		case line := <-c.outbox:
			_, _ = c.out.Send(ctx, line) // the end of the process tells more than a closed pipe
		case <-ctx.Done():
			return
		}
	}
}

// handle handles one line. cut marks a last line without a newline: if it is
// malformed, the end of the output says more than the line.
func (c *conn) handle(line []byte, cut bool) {
	m, noise, err := decode(line)
	if cut && err != nil {
		return
	}
	c.countNoise(noise, m != nil)
	switch {
	case err != nil:
		c.peer.unreadable(faultf("bad_message", endpoint.ErrProtocol, "a message cannot be read: %v", err))
	case m == nil:
	case m.Method != "" && m.hasID():
		c.peer.requested(m.ID, m.Method, m.Params)
	case m.Method != "":
		c.peer.notified(m.Method, m.Params)
	default:
		c.respond(m)
	}
}

// respond gives a response to its call.
func (c *conn) respond(m *message) {
	id, err := m.ourID()
	if err == nil {
		if then := c.take(id); then != nil {
			then(response{result: m.Result, failed: m.Error})
			return
		}
	}
	if !m.hasID() && m.Error != nil {
		c.peer.unreadable(faultf("bad_message", endpoint.ErrProtocol, "the agent cannot read a request: %s", m.Error.describe()))
		return
	}
	c.mu.Lock()
	ours := err == nil && id > 0 && id <= c.last
	c.mu.Unlock()
	c.peer.stray(m.ID, ours)
}

// take returns and removes a call in progress, or nil.
func (c *conn) take(id int64) func(response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	then := c.calls[id]
	delete(c.calls, id)
	return then
}

// countNoise counts lines without a message. Too many since the latest message may
// have replaced the answer.
func (c *conn) countNoise(noise, found bool) {
	c.mu.Lock()
	if noise {
		c.noise++
		c.totalNoise++
	}
	n := c.noise
	over := n > c.maxNoise && !found
	if over || found {
		c.noise = 0
	}
	c.mu.Unlock()
	if over {
		c.peer.unreadable(faultf("noise", endpoint.ErrProtocol, "%d lines that are no messages; write logs to standard error", n))
	}
}

func (c *conn) clearNoise() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noise = 0
}

func (c *conn) noiseSeen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.totalNoise
}

// End fails the calls in progress and all later ones with err. Only the first call
// has an effect.
func (c *conn) End(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	close(c.done)
	calls := c.calls
	c.calls = map[int64]func(response){}
	c.mu.Unlock()
	for _, then := range calls {
		then(response{cause: err})
	}
}

// Done is closed by End.
func (c *conn) Done() <-chan struct{} { return c.done }

// Cause returns the error that End was given, or nil before.
func (c *conn) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
