package relaytest

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/folkmoot/moot/room"
)

// A Room is a room without a coordinator: a log in memory. With a method Say, which
// the tests add, it is a spectate.Room. Its methods may be called concurrently.
type Room struct {
	id        string
	observers []room.Observer

	mu     sync.Mutex
	log    []room.Event
	said   map[string]bool
	change chan struct{}
	ended  bool
	over   bool
	read   int // events that Watch yielded or skipped
}

// NewRoom returns a room with one agent and with settings that must not leave it.
func NewRoom(id string, observers ...room.Observer) *Room {
	p := &Room{id: id, observers: observers, said: map[string]bool{}, change: make(chan struct{})}
	p.Add(room.Opened{Spec: room.Spec{Room: id, Objective: "Test.", Secret: "boundary-secret", Dir: "/home/ann"}})
	p.Add(room.Joined{Participant: room.Participant{ID: "a", Kind: "local", Instructions: "instructions-secret", Endpoint: []byte(`{"command":["endpoint-secret"]}`)}})
	return p
}

// ID returns the id of the room.
func (p *Room) ID() string { return p.id }

// Observers returns the devices that may watch.
func (p *Room) Observers() []room.Observer { return p.observers }

// Tail returns the number of the newest event.
func (p *Room) Tail() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(len(p.log))
}

// Head returns the first n events, or fewer.
func (p *Room) Head(_ context.Context, n int) ([]room.Event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log[:min(n, len(p.log))], nil
}

// Add appends an event and returns its number.
func (p *Room) Add(b room.Body) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	seq := int64(len(p.log) + 1)
	p.log = append(p.log, room.Event{V: room.FormatVersion, Seq: seq, ID: fmt.Sprint("1.", seq), Actor: room.ActorHost, Epoch: 1, At: time.Unix(1_800_000_000, 0).UTC(), Body: b})
	close(p.change)
	p.change = make(chan struct{})
	return seq
}

// Post appends a message of the agent.
func (p *Room) Post(text string, v room.Visibility) int64 {
	return p.Add(room.MessagePosted{Message: room.Message{From: "a", To: room.Broadcast, Kind: room.KindUtterance, Visibility: v, Text: text, Summary: "in short"}})
}

// End makes Watch end.
func (p *Room) End(over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.over = true, over
	close(p.change)
	p.change = make(chan struct{})
}

// Ending returns how the room ended.
func (p *Room) Ending() (room.Phase, string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return room.PhaseCompleted, "the end", true
	}
	return room.PhasePaused, "paused", false
}

// Watch yields the events after one that a level may see, until End or ctx ends.
func (p *Room) Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		for {
			p.mu.Lock()
			var next *room.Event
			if int(after) < len(p.log) {
				next = &p.log[after]
				p.read++
			}
			ended, change := p.ended, p.change
			p.mu.Unlock()
			switch {
			case next != nil:
				after++
				if e, ok := next.VisibleAt(level); ok && !yield(e, nil) {
					return
				}
				continue
			case ended:
				return
			}
			select {
			case <-change:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Texts returns the sender and the text of each message.
func (p *Room) Texts() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.log {
		if m, ok := e.Body.(room.MessagePosted); ok {
			all = append(all, m.Message.From+": "+m.Message.Text)
		}
	}
	return all
}

// Said records the id of a message, and reports whether it was recorded before.
func (p *Room) Said(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	again := p.said[id]
	p.said[id] = true
	return again
}

// PostAs appends a message of a spectator.
func (p *Room) PostAs(name, text string) {
	p.Add(room.MessagePosted{Message: room.Message{From: name, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible, Text: text}})
}

// Read returns how many events Watch has yielded or skipped.
func (p *Room) Read() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read
}
