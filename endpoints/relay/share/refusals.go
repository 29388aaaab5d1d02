package share

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// Refusals that one device may cause: at once, and in a minute. Honest devices
// stay below, because each checks its own rules before it asks.
const (
	refusalBurst      = 30
	refusalsPerMinute = 30
)

// A refusalLimiter limits how many refusals one device can cause. A request of a
// device beyond it is dropped without an answer, and without work. The zero
// refusalLimiter is ready for use.
type refusalLimiter struct {
	mu      sync.Mutex
	devices map[identity.DeviceID]*rate.Limiter
}

// charge records a refusal of a device.
func (l *refusalLimiter) charge(d identity.DeviceID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.devices == nil {
		l.devices = map[identity.DeviceID]*rate.Limiter{}
	}
	if l.devices[d] == nil { // only peers get here, so they are few
		l.devices[d] = rate.NewLimiter(rate.Limit(refusalsPerMinute)/60, refusalBurst)
	}
	l.devices[d].AllowN(time.Now(), 1)
}

// exceeded reports whether a device has caused too many refusals.
func (l *refusalLimiter) exceeded(d identity.DeviceID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.devices[d] != nil && l.devices[d].Tokens() < 1
}
