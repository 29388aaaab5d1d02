package share

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// maxAgents bounds the agents of a profile that work for a room. The least recently
// used one is closed for another room (LRU).
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
	// Open makes an agent. Each room of each device gets its own, and one more is
	// started ahead of the next room.
	Open func(context.Context) (Agent, error)
	// Timeout bounds one turn, whatever the room allows; 0 is 300 s. The start-up of
	// the agent does not count.
	Timeout time.Duration
	// Caps limit what a host may ask of the agent.
	Caps Caps
	// Instructions are those of the agent's owner. A request has none.
	Instructions string
	// Allow are the actions that the agent may take without a person, in Dir, its
	// folder. All others are refused: no person is asked.
	Allow []endpoint.AllowRule
	Dir   string
	// Candid sends the agent's own words about a failure to the other device, such
	// as the last lines of its standard error.
	Candid bool
}

// A sharedProfile is a profile that is shared, and its running agents.
type sharedProfile struct {
	AgentConfig
	log      *slog.Logger
	slot     chan struct{}   // holds a token while a prompt is in flight
	prepared chan struct{}   // closed when the first standby is ready, has failed, or is not needed
	ctx      context.Context // of the agents' starts; set when the share runs
	stop     context.CancelFunc
	work     *sync.WaitGroup // of the starts; set when the share runs

	// mu is not held while an agent is closed: its Close waits for its signals, and
	// they may need mu.
	mu      sync.Mutex
	agents  map[string]*runningAgent // by room
	standby *runningAgent            // started, has no room yet; nil while none is
}

// A runningAgent works for one room of one device.
type runningAgent struct {
	Agent
	device    string // whose room it is
	used      time.Time
	sessionID string // changes when the agent loses what it was told
	start     *start // the latest
	ended     bool   // its process has ended while it was the standby
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

// speak asks the agent of the prompt's room, which is ready, within the prompt's
// time. The caller has acquired the profile. A panic of the agent becomes an error.
func (p *sharedProfile) speak(ctx context.Context, a Agent, q endpoint.Prompt, floor endpoint.Floor) (reply endpoint.Reply, err error) {
	defer recovered(&err)
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	reply, err = a.Speak(ctx, q, floor)
	if errors.Is(err, endpoint.ErrClosed) {
		p.drop(q.Room)
	}
	return reply, err // an endpoint restarts its own process
}

// agent returns the agent of a room of a device, and its start. A new room gets
// the standby.
func (p *sharedProfile) agent(room, device string, floor endpoint.Floor) (*runningAgent, *start, error) {
	var unused []*runningAgent
	defer func() { closeAll(unused) }() // after mu is unlocked
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.agents[room]
	if r == nil {
		unused = append(p.removeEnded(), p.removeOldest()...)
		if r = p.standby; r == nil {
			var err error
			if r, err = p.open(); err != nil {
				return nil, nil, err
			}
		}
		p.standby = nil
		r.device, r.sessionID = device, rand.Text()
		p.agents[room] = r
	}
	r.used = time.Now()
	return r, p.begin(r, floor), nil
}

// removeOldest removes the least recently used agent if there is no place for
// another room, and returns it. The caller holds mu, and closes the agent later.
func (p *sharedProfile) removeOldest() []*runningAgent {
	if len(p.agents) < maxAgents {
		return nil
	}
	oldest := ""
	for name, r := range p.agents {
		if oldest == "" || r.used.Before(p.agents[oldest].used) {
			oldest = name
		}
	}
	r := p.agents[oldest]
	delete(p.agents, oldest)
	return []*runningAgent{r}
}

// drop closes the agent of a room.
func (p *sharedProfile) drop(room string) {
	p.closeAgents(func(name string, _ *runningAgent) bool { return name == room })
}

// close closes all agents.
func (p *sharedProfile) close() {
	p.closeAgents(func(string, *runningAgent) bool { return true })
	p.mu.Lock()
	standby := p.standby
	p.standby = nil
	p.mu.Unlock()
	if standby != nil {
		closeAll([]*runningAgent{standby})
	}
}

// closeAgents closes the agents of some rooms.
func (p *sharedProfile) closeAgents(of func(room string, r *runningAgent) bool) {
	var unused []*runningAgent
	p.mu.Lock()
	for room, r := range p.agents {
		if of(room, r) {
			unused = append(unused, r)
			delete(p.agents, room)
		}
	}
	p.mu.Unlock()
	closeAll(unused)
}

// closeAll closes agents that have no room any more. The caller does not hold the
// profile's mu.
func closeAll(agents []*runningAgent) {
	for _, r := range agents {
		_ = r.Close() // its work has ended: the error helps no caller
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
