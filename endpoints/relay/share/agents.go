package share

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// maxAgents bounds the running agents of a profile. The least recently used one
// is closed for another room (LRU).
const maxAgents = 8

// defaultTimeout bounds a turn of an agent whose AgentConfig states none.
const defaultTimeout = 300 * time.Second

// An Agent answers prompts. Any endpoint is one.
type Agent interface {
	Speak(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)
	Close() error
}

// An AgentConfig is one profile that is shared.
type AgentConfig struct {
	Profile quota.Profile
	// Open starts an agent. Each room of each device gets its own.
	Open func(context.Context) (Agent, error)
	// Timeout bounds one turn, whatever the room allows; 0 is 300 s.
	Timeout time.Duration
	// Caps limit what a host may ask of the agent.
	Caps Caps
	// Candid sends the agent's own words about a failure to the other device, such
	// as the last lines of its standard error.
	Candid bool
}

// A sharedProfile is a profile that is shared, and its running agents.
type sharedProfile struct {
	AgentConfig
	slot chan struct{} // holds a token while a prompt is in flight

	mu     sync.Mutex
	agents map[string]*runningAgent // by room
}

// A runningAgent works for one room of one device.
type runningAgent struct {
	Agent
	device    string // whose room it is
	used      time.Time
	sessionID string // changes when the agent loses what it was told
}

// acquire waits until no other prompt of the profile is in flight.
func (p *sharedProfile) acquire(ctx context.Context) error {
	select {
	case p.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return quota.Limited("RELAY-BUSY", "the profile is busy", "wait for its other requests to end")
	}
}

func (p *sharedProfile) release() { <-p.slot }

// speak asks the agent of the prompt's room and returns the id of the agent
// session. The caller has acquired the profile. A panic of the agent becomes an
// error.
func (p *sharedProfile) speak(ctx context.Context, q endpoint.Prompt, floor endpoint.Floor) (reply endpoint.Reply, sessionID string, err error) {
	defer func() {
		if v := recover(); v != nil {
			reply, err = endpoint.Reply{}, fmt.Errorf("the endpoint panicked: %v", v)
		}
	}()
	a, sessionID, err := p.agent(ctx, q.Room, q.Host.Device)
	if err != nil {
		return endpoint.Reply{}, "", err
	}
	reply, err = a.Speak(ctx, q, floor)
	if errors.Is(err, endpoint.ErrClosed) {
		p.drop(q.Room)
	}
	return reply, sessionID, err // an endpoint restarts its own process
}

// agent returns the agent of a room of a device, and starts it if needed.
func (p *sharedProfile) agent(ctx context.Context, room, device string) (a Agent, sessionID string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.agents[room]; r != nil {
		r.used = time.Now()
		return r.Agent, r.sessionID, nil
	}
	if len(p.agents) >= maxAgents {
		oldest := ""
		for name, r := range p.agents {
			if oldest == "" || r.used.Before(p.agents[oldest].used) {
				oldest = name
			}
		}
		_ = p.agents[oldest].Close() // it has ended, even with an error
		delete(p.agents, oldest)
	}
	if a, err = p.Open(ctx); err != nil {
		return nil, "", err
	}
	r := &runningAgent{Agent: a, device: device, used: time.Now(), sessionID: rand.Text()}
	p.agents[room] = r
	return a, r.sessionID, nil
}

// drop closes the agent of a room.
func (p *sharedProfile) drop(room string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.agents[room]; r != nil {
		_ = r.Close() // it has ended already
		delete(p.agents, room)
	}
}

// close closes all agents.
func (p *sharedProfile) close() { p.closeAgents(func(string) bool { return true }) }

// closeAgents closes the agents of some devices.
func (p *sharedProfile) closeAgents(of func(device string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for room, r := range p.agents {
		if of(r.device) {
			_ = r.Close() // its work has ended: the error helps no caller
			delete(p.agents, room)
		}
	}
}

// session returns the agent session id of a room, or "" without an agent.
func (p *sharedProfile) session(room string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.agents[room]; r != nil {
		return r.sessionID
	}
	return ""
}

// newSession gives the agent of a room a new session id: it has lost what it
// was told.
func (p *sharedProfile) newSession(room string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.agents[room]; r != nil {
		r.sessionID = rand.Text()
	}
}

// errForgot refuses a request that builds on an agent session that has ended.
var errForgot = wire.ErrorOf(wire.CodeForgot, "")
