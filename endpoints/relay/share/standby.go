package share

import (
	"context"
	"errors"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// prepare returns the start of the standby: the agent that the next room gets. It
// makes and starts one if there is none, or if that has ended. Its start-up is then
// over, or has begun, when the first request of the room arrives.
func (p *sharedProfile) prepare() (*start, error) {
	var unused []*runningAgent
	defer func() { closeAll(unused) }() // after mu is unlocked
	p.mu.Lock()
	defer p.mu.Unlock()
	unused = p.removeEnded()
	if p.standby != nil {
		return p.standby.start, nil
	}
	r, err := p.open()
	if err != nil {
		return nil, err
	}
	p.standby = r
	begun := p.begin(r, standbyFloor{p, r})
	p.work.Go(func() {
		err := begun.wait(p.ctx)
		if err != nil && p.ctx.Err() == nil && !errors.Is(err, endpoint.ErrExited) { // of that the floor is told
			p.logUnused(r, "a shared agent cannot be started", err.Error(), "see the error; the next request starts another")
		}
	})
	return begun, nil
}

// removeEnded removes a standby that has ended or that could not start, and returns
// it: no start replaces its process, so that a room gets an agent with all its
// restarts. The caller holds mu, and closes the agent later.
func (p *sharedProfile) removeEnded() []*runningAgent {
	r := p.standby
	if r == nil || !r.ended && !r.start.failed() {
		return nil
	}
	p.standby = nil
	return []*runningAgent{r}
}

// logUnused tells the owner what happened to an agent that has no room. With a room,
// a request of the room fails with that.
func (p *sharedProfile) logUnused(r *runningAgent, what, why, fix string) {
	p.mu.Lock()
	used := r.device != ""
	p.mu.Unlock()
	if !used {
		p.log.Warn(what, "profile", p.Profile.Name, "error", why, "fix", fix)
	}
}

// A standbyFloor is the endpoint.Floor of an agent until the first prompt of its
// room.
type standbyFloor struct {
	profile *sharedProfile
	agent   *runningAgent
}

// Raise takes the end of the agent's process, and drops other signals.
func (f standbyFloor) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	if s.Kind == endpoint.SignalExited {
		f.profile.mu.Lock()
		f.agent.ended = true
		f.profile.mu.Unlock()
		f.profile.logUnused(f.agent, "a shared agent's process has ended before a room used it", s.Detail, "see its last words; the next room gets another")
	}
	return endpoint.Answer{Reason: "there is no room to tell"}, nil
}

// Show drops live text.
func (standbyFloor) Show(string) {}

// ShowTool drops tool calls.
func (standbyFloor) ShowTool(endpoint.ToolCall) {}
