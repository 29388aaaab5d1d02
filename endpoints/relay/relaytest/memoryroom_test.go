package relaytest_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/room"
)

// A memoryRoom is a spectate.Room without a coordinator: a log in memory.
type memoryRoom struct {
	id        string
	observers []room.Observer

	mu     sync.Mutex
	log    []room.Event
	said   map[string]bool
	change chan struct{}
	ended  bool
	over   bool
}

func newMemoryRoom(id string, observers ...room.Observer) *memoryRoom {
	p := &memoryRoom{id: id, observers: observers, said: map[string]bool{}, change: make(chan struct{})}
	p.add(room.Opened{Spec: room.Spec{Room: id, Objective: "Test."}})
	p.add(room.Joined{Participant: room.Participant{ID: "a", Kind: "local"}})
	return p
}

func (p *memoryRoom) ID() string                 { return p.id }
func (p *memoryRoom) Observers() []room.Observer { return p.observers }

func (p *memoryRoom) Tail() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(len(p.log))
}

func (p *memoryRoom) Head(_ context.Context, n int) ([]room.Event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log[:min(n, len(p.log))], nil
}

// add appends an event and returns its number.
func (p *memoryRoom) add(b room.Body) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	seq := int64(len(p.log) + 1)
	p.log = append(p.log, room.Event{V: room.FormatVersion, Seq: seq, ID: fmt.Sprint("1.", seq), Actor: room.ActorHost, Epoch: 1, At: time.Unix(1_800_000_000, 0).UTC(), Body: b})
	close(p.change)
	p.change = make(chan struct{})
	return seq
}

// post appends a message.
func (p *memoryRoom) post(text string, v room.Visibility) int64 {
	return p.add(room.MessagePosted{Message: room.Message{From: "a", To: room.Broadcast, Kind: room.KindUtterance, Visibility: v, Text: text, Summary: "in short"}})
}

// end makes Watch end.
func (p *memoryRoom) end(over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.over = true, over
	close(p.change)
	p.change = make(chan struct{})
}

func (p *memoryRoom) Ending() (room.Phase, string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return room.PhaseCompleted, "the end", true
	}
	return room.PhasePaused, "paused", false
}

func (p *memoryRoom) Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		for {
			p.mu.Lock()
			var next *room.Event
			if int(after) < len(p.log) {
				next = &p.log[after]
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

func (p *memoryRoom) Say(_ context.Context, g spectate.Spectator, id, text string) error {
	p.mu.Lock()
	again := p.said[id]
	p.said[id] = true
	p.mu.Unlock()
	if again {
		return nil
	}
	p.add(room.MessagePosted{Message: room.Message{From: g.Name, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible, Text: text}})
	return nil
}
