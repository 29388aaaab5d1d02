package access

import (
	"net/netip"
	"sync"
	"time"
)

// A client may present maxTries bad credentials in a window.
const (
	maxTries   = 10
	window     = time.Minute
	maxClients = 1024 // whose tries are counted; the others share one counter
)

// A tryCounter counts the bad credentials of each address, in fixed windows. It
// never sees good ones, so a client with a good credential is not locked out. Its
// zero value is ready, and it is safe for concurrent use.
type tryCounter struct {
	mu      sync.Mutex
	clients map[netip.Addr]*tries
}

type tries struct {
	begin time.Time
	count int
}

// add counts one bad credential and returns how long the client must wait; 0 if
// it may try again at once.
func (c *tryCounter) add(from netip.Addr, now time.Time) (wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.of(from, now)
	if t.count++; t.count <= maxTries {
		return 0
	}
	return t.begin.Add(window).Sub(now)
}

// of returns the counter of an address.
func (c *tryCounter) of(from netip.Addr, now time.Time) *tries {
	if from = from.Unmap(); from.Is6() {
		p, _ := from.WithZone("").Prefix(64) // one client has a whole network
		from = p.Addr()
	}
	if t, ok := c.clients[from]; ok && now.Sub(t.begin) < window {
		return t
	}
	if c.clients == nil {
		c.clients = map[netip.Addr]*tries{}
	}
	if len(c.clients) >= maxClients {
		for addr, t := range c.clients {
			if now.Sub(t.begin) >= window {
				delete(c.clients, addr)
			}
		}
	}
	if len(c.clients) >= maxClients {
		from = netip.Addr{}
		if t, ok := c.clients[from]; ok && now.Sub(t.begin) < window {
			return t
		}
	}
	t := &tries{begin: now}
	c.clients[from] = t
	return t
}
