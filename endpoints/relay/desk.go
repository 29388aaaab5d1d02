package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// maxAgents bounds the rooms for which a profile keeps an agent running.
const maxAgents = 8

// A desk is a shared profile and its agents.
type desk struct {
	Served
	slot chan struct{} // a token: one prompt of a profile is in flight

	mu     sync.Mutex
	agents map[string]*hired // by room
}

// A hired is the agent that works for one room of one device.
type hired struct {
	Agent
	used   time.Time
	memory string // another one whenever it has lost it
}

// take waits for the profile's turn.
func (d *desk) take(ctx context.Context) error {
	select {
	case d.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return limited("RELAY-BUSY", "the profile is busy", "wait for its other requests to end")
	}
}

func (d *desk) give() { <-d.slot }

// speak has the agent of the prompt's room answer, and names the memory that
// it had then. The caller has the slot.
func (d *desk) speak(ctx context.Context, p endpoint.Prompt, floor endpoint.Floor) (reply endpoint.Reply, memory string, err error) {
	defer func() {
		if v := recover(); v != nil {
			reply, err = endpoint.Reply{}, fmt.Errorf("the endpoint panicked: %v", v)
		}
	}()
	a, memory, err := d.hire(ctx, p.Room)
	if err != nil {
		return endpoint.Reply{}, "", err
	}
	reply, err = a.Speak(ctx, p, floor)
	if errors.Is(err, endpoint.ErrClosed) {
		d.dismiss(p.Room)
	}
	return reply, memory, err // of one that exited its endpoint knows whether it may be started anew
}

// hire returns the agent of a room, started if need be; the one that was idle
// longest makes room.
func (d *desk) hire(ctx context.Context, room string) (a Agent, memory string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.agents[room]; h != nil {
		h.used = time.Now()
		return h.Agent, h.memory, nil
	}
	if len(d.agents) >= maxAgents {
		oldest := ""
		for name, h := range d.agents {
			if oldest == "" || h.used.Before(d.agents[oldest].used) {
				oldest = name
			}
		}
		_ = d.agents[oldest].Close() // an agent that ends badly has ended
		delete(d.agents, oldest)
	}
	if a, err = d.Open(ctx); err != nil {
		return nil, "", err
	}
	h := &hired{Agent: a, used: time.Now(), memory: rand.Text()}
	d.agents[room] = h
	return a, h.memory, nil
}

func (d *desk) dismiss(room string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.agents[room]; h != nil {
		_ = h.Close() // it has ended
		delete(d.agents, room)
	}
}

func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for room, h := range d.agents {
		_ = h.Close() // nobody waits for it any more
		delete(d.agents, room)
	}
}

// An outlet is the floor of a shared agent: the way to the room of another
// owner.
type outlet struct {
	share *Share
	desk  *desk
	room  string // as the desk knows it
	to    identity.DeviceID
	ask   envelope.Envelope
}

// Raise sends a message on. Permissions and calls are for the agent's own
// owner to allow, and nobody is asked here, so they are refused. What the agent
// does wrong is its owner's to hear of.
func (o *outlet) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	switch s.Kind {
	case endpoint.SignalMessage:
		e := envelope.Envelope{ID: o.ask.ID, Type: envelope.Message, Profile: o.ask.Profile, Room: o.ask.Room, Epoch: o.ask.Epoch, Turn: o.ask.Turn, Body: body(message{s.To, s.Detail})}
		b, err := envelope.Encode(e)
		if err == nil {
			err = o.share.post.link.Send(ctx, o.to, b)
		}
		if err != nil {
			return endpoint.Answer{Reason: "it cannot be delivered"}, nil
		}
		return endpoint.Answer{Allowed: true}, nil
	case endpoint.SignalForgot:
		o.desk.forgot(o.room)
		o.share.post.send(o.to, envelope.Envelope{ID: "anew", Type: envelope.Status, Profile: o.ask.Profile, Room: o.ask.Room, Body: body(status{stateAnew})})
		return endpoint.Answer{Allowed: true}, nil
	case endpoint.SignalViolation:
		o.share.cfg.Log.Warn("a shared agent broke its protocol", "profile", o.ask.Profile, "rule", s.Code, "detail", s.Detail)
	case endpoint.SignalLate:
		o.share.cfg.Log.Info("a shared agent answered too late", "profile", o.ask.Profile)
	}
	return endpoint.Answer{Reason: "not allowed for another owner's room"}, nil
}

// Show drops live text: its pace and sizes would say too much on the way.
func (o *outlet) Show(string) {}
