package seat

import (
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// An agent that remembers earlier turns gets only what is new. So the room must
// learn when the agent loses its memory. A share gives each agent process a
// random agent session id, and each response states it. A request that holds
// only what is new names the session that it builds on. An agent in another
// session refuses it, and the room sends the whole context with the next turn.
// To save that turn, a share also announces restarts of its own and of its
// agents.

// knows returns the agent session id that a prompt builds on. A prompt with
// earlier messages holds the whole context and builds on none.
func (e *Endpoint) knows(p endpoint.Prompt) string {
	if p.Kind == endpoint.Bid || len(p.History) > 0 {
		return ""
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessionID
}

// learnSession takes the agent session id from a response, which may have none.
// The caller holds mu.
func (e *Endpoint) learnSession(id string) {
	if id == "" || len(id) > wire.MaxSessionID {
		return
	}
	if e.sessionID != "" && e.sessionID != id {
		e.signals.Put(endpoint.Signal{Kind: endpoint.SignalForgot})
	}
	e.sessionID = id
}

// sessionEnded tells the room that its agent has lost what it was told: the
// agent of a profile in a room, or without names every agent of the device. An
// agent that was never asked has lost nothing.
func (e *Endpoint) sessionEnded(profile, room string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	named := profile == e.cfg.Remote && e.last.Request != "" && room == e.last.Room
	if profile != "" && !named {
		return
	}
	firstTurn := e.requests.Open() != nil && named // the session id is not known yet
	if e.sessionID == "" && !firstTurn {
		return
	}
	e.signals.Put(endpoint.Signal{Kind: endpoint.SignalForgot})
}
