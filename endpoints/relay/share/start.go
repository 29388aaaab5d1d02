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

// prepare starts the standby: the agent that the next room gets. Its start-up is
// then over, or has begun, when the first request of the room arrives.
func (p *sharedProfile) prepare() (*start, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.standby == nil {
		r, err := p.open()
		if err != nil {
			return nil, err
		}
		p.standby = r
	}
	return p.begin(p.standby, nil), nil
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

// prepareAll starts the standby of each profile that may be called, and closes
// s.prepared when all starts have ended. The caller holds mu.
func (s *Share) prepareAll() {
	var starts []*start
	for name, p := range s.profiles {
		p.ctx, p.work = s.ctx, &s.wg
		if !p.Profile.Allow || len(p.Profile.Devices) == 0 {
			continue
		}
		begun, err := p.prepare()
		if err != nil {
			s.logFailure(name, err)
			continue
		}
		starts = append(starts, begun)
		s.wg.Go(func() {
			if err := begun.wait(s.ctx); err != nil && s.ctx.Err() == nil {
				s.logFailure(name, err)
			}
		})
	}
	s.wg.Go(func() {
		defer close(s.prepared)
		for _, begun := range starts {
			<-begun.done
		}
	})
}

// Prepared is closed when the agents that Begin has started are ready for their
// first room, or have failed, which is logged.
func (s *Share) Prepared() <-chan struct{} { return s.prepared }
