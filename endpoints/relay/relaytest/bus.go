package relaytest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/folkmoot/moot/endpoints/relay/bus"
	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A BusHub connects the relays of a group in memory. Unlike package bus it works
// under testing/synctest.
type BusHub struct {
	mu      sync.Mutex
	members []*BusMember
	down    bool
}

// A BusMember is the bus of one relay. It implements server.Bus.
type BusMember struct {
	hub     *BusHub
	devices map[frame.ID]bool // subscribed; guarded by hub.mu
	inbox   chan func(bus.Receiver)
}

// NewBusHub returns a hub without members.
func NewBusHub() *BusHub { return &BusHub{} }

// Join returns the bus of one more relay.
func (h *BusHub) Join() *BusMember {
	m := &BusMember{hub: h, devices: map[frame.ID]bool{}, inbox: make(chan func(bus.Receiver), 1024)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.members = append(h.members, m)
	m.push(func(r bus.Receiver) { r.Connected(nil) })
	return m
}

var errBusDown = errors.New("the bus is down")

// SetDown cuts or repairs the connections of all members.
func (h *BusHub) SetDown(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = down
	for _, m := range h.members {
		m.push(func(r bus.Receiver) {
			if down {
				r.Connected(errBusDown)
			} else {
				r.Connected(nil)
			}
		})
	}
}

// push drops what does not fit, as package bus does.
func (m *BusMember) push(f func(bus.Receiver)) {
	select {
	case m.inbox <- f:
	default:
	}
}

// Subscribe implements server.Bus.
func (m *BusMember) Subscribe(device frame.ID) (ready, cancel func()) {
	set := func(subscribed bool) {
		m.hub.mu.Lock()
		defer m.hub.mu.Unlock()
		m.devices[device] = subscribed
	}
	set(true)
	return func() {}, func() { set(false) }
}

// Publish implements server.Bus.
func (m *BusMember) Publish(msg bus.Message) error {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	if m.hub.down {
		return errBusDown
	}
	sent := false
	for _, other := range m.hub.members {
		if other != m && other.devices[msg.To] {
			sent = true
			body := slices.Clone(msg.Body)
			other.push(func(r bus.Receiver) { r.Receive(msg.To, body) })
		}
	}
	if from := msg.From; from != nil && !sent {
		m.push(func(r bus.Receiver) { r.Undelivered(*from, msg.To) })
	}
	return nil
}

// Run implements server.Bus.
func (m *BusMember) Run(ctx context.Context, r bus.Receiver) {
	for {
		select {
		case f := <-m.inbox:
			f(r)
		case <-ctx.Done():
			return
		}
	}
}
