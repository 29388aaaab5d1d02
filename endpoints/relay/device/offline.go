package device

import (
	"sync"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// Offline reports whether a relay has said that a device is not connected, and
// nothing has arrived from the device since. It is a hint for people, because a
// relay can say anything: a message to the device still waits for it.
func (c *Connection) Offline(id identity.DeviceID) bool { return c.offline.has(id) }

// A deviceSet is a set of devices. Its methods may be called concurrently.
type deviceSet struct {
	mu  sync.Mutex
	ids map[identity.DeviceID]bool
}

// maxOffline bounds the set: a relay may name any number of devices.
const maxOffline = 1_000

func (s *deviceSet) add(id identity.DeviceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil || len(s.ids) >= maxOffline {
		s.ids = map[identity.DeviceID]bool{}
	}
	s.ids[id] = true
}

func (s *deviceSet) remove(id identity.DeviceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ids, id)
}

func (s *deviceSet) has(id identity.DeviceID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id]
}
