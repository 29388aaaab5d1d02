package device

import (
	"context"
	"sync"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// Offline reports whether a relay has said that a device is not connected, and
// nothing has arrived from the device since. It is a hint for people, because a
// relay can say anything: a message to the device still waits for it.
func (c *Connection) Offline(id identity.DeviceID) bool {
	offline, _ := c.offline.has(id)
	return offline
}

// FollowOffline calls f with what Offline returns whenever that changes, from
// connected on, until ctx ends.
func (c *Connection) FollowOffline(ctx context.Context, id identity.DeviceID, f func(offline bool)) {
	for was := false; ; {
		now, changed := c.offline.has(id)
		if now != was {
			f(now)
		}
		was = now
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// A deviceSet is a set of devices. Its methods may be called concurrently.
type deviceSet struct {
	mu      sync.Mutex
	ids     map[identity.DeviceID]bool
	changed chan struct{} // closed and replaced when the set changes; nil while no goroutine waits
}

// maxOffline bounds the set: a relay may name any number of devices.
const maxOffline = 1_000

func (s *deviceSet) add(id identity.DeviceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[id] {
		return
	}
	if s.ids == nil || len(s.ids) >= maxOffline {
		s.ids = map[identity.DeviceID]bool{}
	}
	s.ids[id] = true
	s.notify()
}

func (s *deviceSet) remove(id identity.DeviceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[id] {
		delete(s.ids, id)
		s.notify()
	}
}

// notify wakes those that wait for a change. The caller holds mu.
func (s *deviceSet) notify() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// has reports whether a device is in the set, and returns a channel that is
// closed when the set changes.
func (s *deviceSet) has(id identity.DeviceID) (in bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.ids[id], s.changed
}
