package jetstream

import (
	"sync"
	"time"
)

// sightings are the leases that this handle has read. A lease ends when its time has passed by
// the clock of the servers, or when this handle has seen the same message for as long by
// its own clock: the clock of the server that stored it may have been ahead.
//
// While no leader of the stream is elected, no process can renew its lease. So after a time
// in which no lease could be read, those that were alive before it get a little longer.
type sightings struct {
	mu    sync.Mutex
	nodes map[string]sighting // by id
	read  time.Time           // when a lease was read last
	grace time.Time           // until then a lease that was alive before is alive
}

// A sighting is a lease as it was read.
type sighting struct {
	seq   uint64    // of its message
	first time.Time // when that was read first
	alive bool
}

// lasts reports whether the lease of a node lasts, which was just read, at the servers' time.
func (s *sightings) lasts(id string, row nodeRow, servers time.Time, lease time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.read) > lease/3 {
		s.grace = now.Add(lease / 10) // renewals take milliseconds
	}
	s.read = now
	if s.nodes == nil {
		s.nodes = map[string]sighting{}
	}
	x, known := s.nodes[id]
	if !known || x.seq != row.seq {
		x.seq, x.first = row.seq, now
	}
	ended := servers.Sub(row.at) >= lease || now.Sub(x.first) >= lease
	x.alive = !ended || known && x.alive && now.Before(s.grace)
	s.nodes[id] = x
	return x.alive
}

// keep forgets all nodes but those with a stored lease.
func (s *sightings) keep(stored map[string]nodeRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.nodes {
		if _, ok := stored[id]; !ok {
			delete(s.nodes, id)
		}
	}
}
