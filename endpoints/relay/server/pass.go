package server

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// pass puts a well-formed SEND into its destination's queue, or tells the
// sender why not. b is no longer the caller's.
func (s *Server) pass(from *conn, b []byte) {
	size := len(b)
	to := frame.Readdress(b, from.id)
	from.doors.want(to)
	s.mu.RLock()
	dst := s.devices[to]
	s.mu.RUnlock()
	switch {
	case dst == nil:
		s.gone(from, to, frame.GoneNotHere)
	case !dst.doors.admit(from.id):
		s.gone(from, to, frame.GoneNotAllowed)
	case !dst.out.put(b, s.limits):
		s.gone(from, to, frame.GoneQueueFull)
	}
	if s.cfg.LogPeers && s.log.Enabled(context.Background(), slog.LevelDebug) {
		s.log.Debug("frame", "from", s.names.of(from.id), "to", s.names.of(to), "bytes", size)
	}
}

// gone tells an endpoint that a frame was not passed on.
func (s *Server) gone(from *conn, to frame.ID, reason frame.GoneReason) {
	s.counts.gone[reason].Inc()
	from.note(frame.Gone{To: to, Reason: reason})
}

// register makes c the connection of its device; one that it had before is
// ended. It reports false when the relay is ending.
func (s *Server) register(c *conn) bool {
	s.mu.Lock()
	if s.closing.Err() != nil {
		s.mu.Unlock()
		return false
	}
	old := s.devices[c.id]
	s.devices[c.id] = c
	s.mu.Unlock()
	s.counts.logins.Inc()
	if old != nil {
		old.replaced()
	}
	s.log.Info("login", "conn", c.number, "device", s.names.of(c.id))
	return true
}

// unregister takes c out, and tells whoever has sent to its device that it is
// gone, unless a newer connection has taken its place.
func (s *Server) unregister(c *conn) {
	s.mu.Lock()
	last := s.devices[c.id] == c
	if last {
		delete(s.devices, c.id)
	}
	s.mu.Unlock()
	if !last {
		return
	}
	for _, id := range c.doors.audience() {
		s.mu.RLock()
		peer := s.devices[id]
		s.mu.RUnlock()
		if peer != nil {
			s.gone(peer, c.id, frame.GoneDisconnected)
		}
	}
}

// tryFor is for how long endpoints shall try to come back after a RESTART.
const tryFor = time.Minute

// spread returns a moment between a tenth of limit and limit, in ms, so that
// not all come back at once.
func spread(limit time.Duration) uint32 {
	return uint32(limit.Milliseconds()/10 + rand.Int64N(limit.Milliseconds()*9/10+1))
}
