package server

import (
	"net/netip"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// places are the places of logged-in devices, limited in total and per address.
// The place of a device is kept for a while after its last connection, so that
// others cannot take it while the device reconnects.
type places struct {
	limits Limits

	mu         sync.Mutex
	held       map[frame.ID]*place
	perAddress map[netip.Addr]int
	lastSweep  time.Time
}

// A place is held by one device.
type place struct {
	ip    netip.Addr
	conns int       // two while a newer connection replaces an older one
	until time.Time // when it becomes free, while conns is 0
}

func newPlaces(l Limits) places {
	return places{limits: l, held: map[frame.ID]*place{}, perAddress: map[netip.Addr]int{}}
}

// knows reports whether a device is connected or was lately.
func (p *places) knows(id frame.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[id] != nil && !p.held[id].free(time.Now())
}

// take takes a place for a connection of a device. It reports false if all are
// taken.
func (p *places) take(id frame.ID, ip netip.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	own := p.held[id]
	if own != nil && own.ip == ip {
		own.conns++
		return true
	}
	total := len(p.held)
	if own != nil { // the device has changed its network
		total--
	}
	if total >= p.limits.Connections || p.perAddress[ip] >= p.limits.PerAddress {
		p.sweep(now)
		if own = p.held[id]; own == nil {
			total = len(p.held)
		}
		if total >= p.limits.Connections || p.perAddress[ip] >= p.limits.PerAddress {
			return false
		}
	}
	if own == nil {
		own = &place{}
		p.held[id] = own
	} else {
		p.count(own.ip, -1)
	}
	own.ip = ip
	own.conns++
	p.count(ip, 1)
	return true
}

// release ends one connection of a device. Its place is kept for a while.
func (p *places) release(id frame.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.held[id]
	if own.conns--; own.conns == 0 {
		own.until = time.Now().Add(p.limits.KeepPlace)
	}
}

// sweep frees places that were kept long enough.
func (p *places) sweep(now time.Time) {
	if now.Sub(p.lastSweep) < p.limits.KeepPlace/sweepsPerKeep { // a full relay must not scan all places at each login
		return
	}
	p.lastSweep = now
	for id, own := range p.held {
		if own.free(now) {
			delete(p.held, id)
			p.count(own.ip, -1)
		}
	}
}

// sweepsPerKeep is how often places are looked through while one is kept.
const sweepsPerKeep = 60

func (p *places) count(ip netip.Addr, n int) {
	if p.perAddress[ip] += n; p.perAddress[ip] == 0 {
		delete(p.perAddress, ip)
	}
}

func (own *place) free(now time.Time) bool { return own.conns == 0 && !now.Before(own.until) }
