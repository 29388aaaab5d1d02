package share

import (
	"context"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// trustEvery is how often the share checks that the devices it works for are
// still peers. `moot peers rm` is another process.
const trustEvery = time.Second

// watchPeers ends the work for devices that were removed, until the share ends.
func (s *Share) watchPeers() {
	ticker := time.NewTicker(trustEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
			s.endRemoved()
		}
	}
}

// endRemoved cancels the requests of removed devices, and closes their agents,
// which remember their texts. An agent that works is closed when its request has
// ended.
func (s *Share) endRemoved() {
	busy := map[identity.DeviceID]bool{}
	s.mu.Lock()
	for _, r := range s.running {
		busy[r.from] = true
		if s.cfg.Trusted(r.from) != nil {
			r.cancel(errRemoved)
		}
	}
	s.mu.Unlock()
	for _, p := range s.shared() {
		p.closeAgents(func(_ string, r *runningAgent) bool {
			id, err := identity.ParseDeviceID(r.device)
			return err == nil && !busy[id] && s.cfg.Trusted(id) != nil
		})
	}
}

// removed reports whether a request ended because its device was removed, or
// whether the device was removed since: its answer would not arrive.
func (s *Share) removed(ctx context.Context, from identity.DeviceID) bool {
	return context.Cause(ctx) == errRemoved || s.cfg.Trusted(from) != nil
}
