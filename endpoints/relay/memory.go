package relay

import (
	"crypto/rand"
	"errors"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// An agent that remembers is handed only what is new, so who asks has to know
// when it has lost its memory. A share names the memory of each agent that it
// runs, at random, and each answer says which one it was. A request that holds
// only what is new says what it builds on, and is refused by an agent with
// another memory; the room then hands over everything. So that this costs no
// turn, a share says of itself and of its agents when they were started anew.

// maxMemory bounds the name of a memory, in bytes.
const maxMemory = 64

// codeForgot is how a share refuses what builds on a memory that is gone.
const codeForgot = "forgot"

// codeRestarts is how a share words that an agent has ended in its turn and is
// started anew for the next; it knows nothing then.
const codeRestarts = "restarts"

var errForgot = &forgotError{errors.New("the agent was started anew since")}

// A forgotError has the code by which records and the other side know it.
type forgotError struct{ error }

func (*forgotError) ErrorCode() string { return "RELAY-FORGOT" }

// memory names what the agent of a room remembers; "" when there is none.
func (d *desk) memory(room string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.agents[room]; h != nil {
		return h.memory
	}
	return ""
}

// forgot gives the agent of a room another memory, for it has lost its own.
func (d *desk) forgot(room string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.agents[room]; h != nil {
		h.memory = rand.Text()
	}
}

// builds returns the memory that a prompt builds on. One that holds messages
// from before the news builds on none.
func (e *Endpoint) builds(p endpoint.Prompt) string {
	if p.Kind == endpoint.Bid || len(p.History) > 0 {
		return ""
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.memory
}

// learn takes from an answer what the agent remembers. Where a turn is lost
// with its memory, the room hands over everything by itself. The caller holds
// mu.
func (e *Endpoint) learn(r result) {
	switch {
	case r.lost:
		e.memory = ""
		return
	case r.memory == "" || len(r.memory) > maxMemory:
		return
	case e.memory != "" && e.memory != r.memory:
		e.notes.put(endpoint.Signal{Kind: endpoint.SignalForgot})
	}
	e.memory = r.memory
}

// anew tells the room that its agent knows nothing any more: that of a profile
// in a room, or, where none is named, any of the device. One that was never
// asked has nothing to forget; one that is at work for the first time may.
func (e *Endpoint) anew(profile, room string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	named := profile == e.cfg.Remote && e.last != nil && room == e.last.prompt.Room
	switch {
	case profile != "" && !named, e.memory == "" && (e.open == nil || !named):
		return
	}
	e.notes.put(endpoint.Signal{Kind: endpoint.SignalForgot})
}
