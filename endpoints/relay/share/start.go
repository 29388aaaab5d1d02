package share

import (
	"context"
	"fmt"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// startTimeout bounds the start-up of an agent, as a room's startTimeout does by
// default.
const startTimeout = 120 * time.Second

// A starter is an [Agent] with a start phase. Start returns when the agent is ready
// for a prompt, at once if it is ready already.
type starter interface {
	Start(context.Context, endpoint.Floor) error
}

// A start is the start-up of an agent, in progress or ended.
type start struct {
	done chan struct{} // closed at the end
	err  error         // set before done is closed
}

// open makes an agent that has no room yet. The caller holds mu.
func (p *sharedProfile) open() (r *runningAgent, err error) {
	defer recovered(&err)
	a, err := p.Open(p.ctx)
	if err != nil {
		return nil, err
	}
	return &runningAgent{Agent: a}, nil
}

// begin starts the agent of r in the background, unless a start is in progress.
// The caller holds mu.
func (p *sharedProfile) begin(r *runningAgent, floor endpoint.Floor) *start {
	if s := r.start; s != nil {
		select {
		case <-s.done:
		default:
			return s
		}
	}
	s := &start{done: make(chan struct{})}
	r.start = s
	agent, ok := r.Agent.(starter)
	if !ok {
		close(s.done)
		return s
	}
	p.work.Go(func() {
		defer close(s.done)
		defer recovered(&s.err)
		ctx, cancel := context.WithTimeout(p.ctx, startTimeout)
		defer cancel()
		s.err = agent.Start(ctx, floor)
	})
	return s
}

// recovered makes a panic of an agent an error. It is deferred.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("the endpoint panicked: %v", v)
	}
}

// failed reports whether a start has ended with an error.
func (s *start) failed() bool {
	select {
	case <-s.done:
		return s.err != nil
	default:
		return false
	}
}

// wait waits for the end of a start and returns its error.
func (s *start) wait(ctx context.Context) error {
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return wire.Ended(ctx)
	}
}

// ready returns the agent of a prompt's room when it is ready for the prompt, and
// starts it if needed. The caller has acquired the profile. When ctx ends, the
// start goes on for the next request.
func (p *sharedProfile) ready(ctx context.Context, q endpoint.Prompt, floor endpoint.Floor) (Agent, error) {
	r, s, err := p.agent(q.Room, q.Host.Device, floor)
	if err != nil {
		return nil, err
	}
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	if _, ok := r.Agent.(starter); ok {
		_, _ = p.prepare() // an agent that cannot be opened fails the request that needs it
	}
	return r.Agent, nil
}
