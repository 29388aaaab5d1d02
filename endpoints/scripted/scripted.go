// Package scripted is an agent that follows a script, for demos, tests and
// simulations. Each turn takes the next step of the script. After the last step
// the agent passes. The same script gives the same answers.
package scripted

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Fail is an outcome of a step besides those of a turn: the agent reports an
// error.
const Fail = "failed"

// A Step is one turn of the agent.
type Step struct {
	Outcome    string // endpoint.Said, Passed or Refused, or Fail; "" is Said with a text and else Passed
	Text       string
	Reason     string
	Bid        *float64 // for this turn; nil is 0.5 for a step that says a text, else 0
	Confidence *float64
	Usage      endpoint.Usage
	Handoff    *endpoint.Handoff // with the answer
	Delay      time.Duration     // before the answer

	// Acts are done at once. If the room refuses one of them, the agent passes with
	// the room's reason, and the rest of the step is not done.
	Acts
}

// An Endpoint follows a script. Its methods may be called concurrently.
type Endpoint struct {
	steps []Step

	mu     sync.Mutex
	next   int
	busy   bool
	closed chan struct{}
	once   sync.Once
}

// New returns an endpoint that takes steps in order.
func New(steps ...Step) *Endpoint {
	return &Endpoint{steps: steps, closed: make(chan struct{})}
}

// Speak takes the next step. A bid takes none. A step counts as taken even if ctx
// ends during its delay. Errors wrap endpoint's: ErrBusy, ErrClosed, ErrTimeout,
// ErrTooLarge and, for a step that fails, ErrAgent.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (endpoint.Reply, error) {
	step, err := e.begin(p.Kind)
	if err != nil {
		return endpoint.Reply{}, err
	}
	defer e.end()
	if p.Kind == endpoint.Bid {
		return endpoint.Reply{Outcome: endpoint.Passed, Bid: step.bid(), Reason: step.Reason}, ctx.Err()
	}
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Timeout)
		defer cancel()
	}
	refused, err := step.raise(ctx, p, floor)
	if err != nil {
		return endpoint.Reply{}, err
	}
	if refused != "" {
		return endpoint.Reply{Outcome: endpoint.Passed, Reason: refused, Usage: step.Usage}, nil
	}
	if err := e.wait(ctx, step.Delay); err != nil {
		return endpoint.Reply{}, err
	}
	return step.reply(p.MaxOutputChars)
}

// Close ends a delay in progress.
func (e *Endpoint) Close() error {
	e.once.Do(func() { close(e.closed) })
	return nil
}

// begin returns the next step, and takes it unless the prompt is a bid.
func (e *Endpoint) begin(kind string) (Step, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.closed:
		return Step{}, endpoint.ErrClosed
	default:
	}
	if e.busy {
		return Step{}, endpoint.ErrBusy
	}
	e.busy = true
	if e.next >= len(e.steps) {
		return Step{Outcome: endpoint.Passed, Reason: "nothing left to say"}, nil
	}
	s := e.steps[e.next]
	if kind != endpoint.Bid {
		e.next++
	}
	return s, nil
}

func (e *Endpoint) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = false
}

func (e *Endpoint) wait(ctx context.Context, d time.Duration) error {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-e.closed:
			return endpoint.ErrClosed
		case <-ctx.Done():
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: the script waits %s", endpoint.ErrTimeout, d)
	}
	return ctx.Err()
}

func (s Step) outcome() string {
	switch {
	case s.Outcome == "" && s.Text != "":
		return endpoint.Said
	case s.Outcome == "", s.Outcome == endpoint.Said && strings.TrimSpace(s.Text) == "":
		return endpoint.Passed
	}
	return s.Outcome
}

func (s Step) bid() *float64 {
	if s.Bid != nil {
		return s.Bid
	}
	bid := 0.0
	if s.outcome() == endpoint.Said {
		bid = 0.5
	}
	return &bid
}

func (s Step) reply(limit int) (endpoint.Reply, error) {
	r := endpoint.Reply{Outcome: s.outcome(), Reason: s.Reason, Confidence: s.Confidence, Usage: s.Usage, Handoff: s.Handoff}
	if r.Outcome == endpoint.Said {
		r.Text = s.Text
	}
	if r.Outcome == Fail {
		return endpoint.Reply{Usage: s.Usage}, fmt.Errorf("%w: %s", endpoint.ErrAgent, s.Reason)
	}
	if n := utf8.RuneCountInString(r.Text); limit > 0 && n > limit {
		return endpoint.Reply{Usage: s.Usage}, fmt.Errorf("%w: %d characters, and the limit is %d", endpoint.ErrTooLarge, n, limit)
	}
	return r, nil
}
