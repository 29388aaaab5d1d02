package inflight

import (
	"context"
	"errors"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// A Request is a prompt that was sent to an agent.
type Request struct {
	Context context.Context // ends when the caller stops waiting
	Prompt  endpoint.Prompt
	// Late is closed by Table.Late: the request was abandoned and its response
	// has arrived after all.
	Late chan struct{}
	// Resent counts how often the request was sent again. The agent may answer
	// as many times more.
	Resent int

	result chan Result // holds one
}

// A Result is the outcome of a request: a reply, or an error with at most the
// usage of a reply.
type Result struct {
	Reply endpoint.Reply
	Err   error
}

// Result returns the channel that receives the one result of the request.
func (r *Request) Result() <-chan Result { return r.result }

// A State says how far a request has come.
type State int

// States of a request.
const (
	Unknown   State = iota
	Asked           // in flight
	Abandoned       // ended without a response, which may still arrive
	Answered        // its response has arrived, in time or late
)

// ErrUsed means that an earlier request had the same id.
var ErrUsed = errors.New("inflight: the request id was used before")

// maxRecent bounds the requests whose outcome a Table remembers. A response
// to an older request counts as one to an unknown request.
const maxRecent = 256

// A Table holds the request in flight and the outcome of recent requests. The
// zero Table is empty. It has no lock: the caller guards it with its own.
type Table struct {
	open   *Request
	recent map[string]*outcome // by request id
	order  []string            // the ids of recent, oldest first
}

type outcome struct {
	state State
	left  *Request // of an abandoned request
	extra int      // further responses that Resent accounts for
}

// Open returns the request in flight, or nil.
func (t *Table) Open() *Request { return t.open }

// Begin makes p the request in flight. Its error is endpoint.ErrBusy when
// there is one already, and ErrUsed when p's id is not new.
func (t *Table) Begin(ctx context.Context, p endpoint.Prompt) (*Request, error) {
	switch {
	case t.open != nil:
		return nil, endpoint.ErrBusy
	case t.recent[p.Request] != nil:
		return nil, ErrUsed
	}
	t.open = &Request{Context: ctx, Prompt: p, Late: make(chan struct{}), result: make(chan Result, 1)}
	t.put(p.Request, &outcome{state: Asked})
	return t.open, nil
}

// Answer ends r with the result of its response. It reports false when r is
// nil or has ended.
func (t *Table) Answer(r *Request, res Result) bool { return t.end(r, Answered, &res) }

// Fail ends r with an error. A response may still arrive. It reports false
// when r is nil or has ended.
func (t *Table) Fail(r *Request, err error) bool { return t.end(r, Abandoned, &Result{Err: err}) }

// Abandon ends r without a result: the caller has stopped waiting. It reports
// false when r has ended; its result is then in the channel.
func (t *Table) Abandon(r *Request) bool { return t.end(r, Abandoned, nil) }

// Withdraw ends r, which was never sent, without a result.
func (t *Table) Withdraw(r *Request) bool { return t.end(r, Answered, nil) }

func (t *Table) end(r *Request, s State, res *Result) bool {
	if r == nil || t.open != r {
		return false
	}
	t.open = nil
	o := &outcome{state: s, extra: r.Resent}
	if s == Abandoned {
		o.left = r
	}
	t.put(r.Prompt.Request, o)
	if res != nil {
		r.result <- *res
	}
	return true
}

// State returns what is known of the request with the given id.
func (t *Table) State(id string) State {
	if o := t.recent[id]; o != nil {
		return o.state
	}
	return Unknown
}

// Late records a response to a request that is not in flight. It returns the
// state that the request had, and the request if it was abandoned.
func (t *Table) Late(id string) (State, *Request) {
	o := t.recent[id]
	if o == nil {
		return Unknown, nil
	}
	was, left := o.state, o.left
	if was == Abandoned {
		o.state, o.left = Answered, nil
		close(left.Late)
	}
	return was, left
}

// Repeated reports whether a further response to an answered request is due
// because the request was sent again, and counts it.
func (t *Table) Repeated(id string) bool {
	o := t.recent[id]
	if o == nil || o.extra == 0 {
		return false
	}
	o.extra--
	return true
}

func (t *Table) put(id string, o *outcome) {
	if t.recent == nil {
		t.recent = map[string]*outcome{}
	}
	if t.recent[id] == nil {
		t.order = append(t.order, id)
		if len(t.order) > maxRecent {
			delete(t.recent, t.order[0])
			t.order = t.order[1:]
		}
	}
	t.recent[id] = o
}
