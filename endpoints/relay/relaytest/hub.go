package relaytest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// A Hub connects links without a relay and without encryption: a message
// arrives at once.
type Hub struct {
	mu      sync.Mutex
	inboxes map[identity.DeviceID]chan session.Inbound
	change  chan struct{} // closed, and replaced, when a device is connected
	sent    [][]byte
}

// NewHub returns a hub without devices.
func NewHub() *Hub {
	return &Hub{inboxes: map[identity.DeviceID]chan session.Inbound{}, change: make(chan struct{})}
}

// A HubLink is the link of one device. It implements relay.Link.
type HubLink struct {
	hub   *Hub
	self  identity.DeviceID
	inbox chan session.Inbound
}

// Connect connects a device. An earlier link of the same device gets no more
// messages.
func (h *Hub) Connect(id identity.DeviceID) *HubLink {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := &HubLink{hub: h, self: id, inbox: make(chan session.Inbound, 1000)}
	h.inboxes[id] = l.inbox
	close(h.change)
	h.change = make(chan struct{})
	return l
}

// Disconnect disconnects a device.
func (h *Hub) Disconnect(id identity.DeviceID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.inboxes, id)
}

// Inject gives a device an event.
func (h *Hub) Inject(to identity.DeviceID, in session.Inbound) {
	h.mu.Lock()
	inbox := h.inboxes[to]
	h.mu.Unlock()
	inbox <- in
}

// Sent returns the messages that were sent so far.
func (h *Hub) Sent() [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([][]byte(nil), h.sent...)
}

// Send delivers a message. If the device is not connected, it waits until the
// device is, and returns session.ErrForgotten, or until ctx ends.
func (l *HubLink) Send(ctx context.Context, to identity.DeviceID, b []byte) error {
	if len(b) > session.MaxMessage {
		return session.ErrTooLarge
	}
	inbox, change := l.hub.find(to, b)
	if inbox != nil {
		inbox <- session.Inbound{From: l.self, Event: session.Delivered{Message: b}}
		return nil
	}
	for inbox == nil {
		select {
		case <-change:
			inbox, change = l.hub.find(to, nil)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return session.ErrForgotten
}

func (h *Hub) find(to identity.DeviceID, b []byte) (inbox chan session.Inbound, change <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b != nil {
		h.sent = append(h.sent, b)
	}
	return h.inboxes[to], h.change
}

// Next returns the next event for the device.
func (l *HubLink) Next(ctx context.Context) (session.Inbound, error) {
	select {
	case in := <-l.inbox:
		return in, nil
	case <-ctx.Done():
		return session.Inbound{}, ctx.Err()
	}
}

// Last takes all messages that wait for the device and returns the newest.
func (l *HubLink) Last() (message []byte) {
	for {
		select {
		case in := <-l.inbox:
			message = in.Event.(session.Delivered).Message
		default:
			return message
		}
	}
}

// NewID returns the id of a new device.
func NewID(t testing.TB) identity.DeviceID {
	t.Helper()
	d, err := identity.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return d.ID()
}
