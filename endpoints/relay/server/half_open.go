package server

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
)

// A halfOpenPool holds the connections that have not logged in yet, in total and
// per address. When it is full, a new connection takes the place of the oldest one
// of the address that has the most. A device logs in within a few round trips, so a
// connection that only holds its place is soon the oldest. The same rule protects
// TCP stacks against floods of half-open connections (J. Lemon, "Resisting SYN
// flood DoS attacks with a SYN cache", BSDCon 2002).
type halfOpenPool struct {
	limits  Limits
	exempt  func(netip.Addr) bool // addresses of proxies, which stand for many clients
	evicted counter

	mu         sync.Mutex
	order      list.List // of *halfOpen, the oldest first
	perAddress map[netip.Addr]int
}

// A halfOpen is a connection in the pool.
type halfOpen struct {
	net.Conn
	pool  *halfOpenPool
	ip    netip.Addr
	proxy bool          // ip is the address of a proxy
	entry *list.Element // nil when it has left the pool
}

func newHalfOpenPool(l Limits, exempt func(netip.Addr) bool, evicted counter) *halfOpenPool {
	return &halfOpenPool{limits: l, exempt: exempt, evicted: evicted, perAddress: map[netip.Addr]int{}}
}

// add puts a connection into the pool.
func (p *halfOpenPool) add(c net.Conn) *halfOpen {
	ip := parseAddr(c.RemoteAddr().String())
	h := &halfOpen{Conn: c, pool: p, ip: aggregate(ip), proxy: p.exempt(ip)}
	p.mu.Lock()
	h.entry = p.order.PushBack(h)
	p.perAddress[h.ip]++
	victim := p.overLimit(h)
	p.mu.Unlock()
	p.evict(victim)
	return h
}

// setAddress states the client of a connection when it is known. Behind a proxy
// it is not the address that the connection came from.
func (h *halfOpen) setAddress(ip netip.Addr) {
	p := h.pool
	p.mu.Lock()
	var victim *halfOpen
	if h.entry != nil {
		p.count(h.ip, -1)
		h.ip, h.proxy = ip, false
		p.perAddress[ip]++
		victim = p.overLimit(h)
	}
	p.mu.Unlock()
	p.evict(victim)
}

// leave takes a connection out of the pool: it has logged in, or has ended. It
// reports false if it had left before, as when it was evicted.
func (h *halfOpen) leave() bool {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.remove(h)
}

// Close also takes the connection out of the pool.
func (h *halfOpen) Close() error {
	h.leave()
	return h.Conn.Close()
}

// overLimit removes the connection that has to go because of h, if any: the
// oldest of its address or, in total, the oldest of the addresses with the most
// connections, so that a flood from few addresses evicts itself. The caller
// closes it.
func (p *halfOpenPool) overLimit(h *halfOpen) *halfOpen {
	if !h.proxy && p.perAddress[h.ip] > p.limits.HalfOpenPerAddress {
		return p.removeOldest(func(o *halfOpen) bool { return o.ip == h.ip })
	}
	if p.order.Len() <= p.limits.HalfOpen {
		return nil
	}
	most := 0
	for _, n := range p.perAddress {
		most = max(most, n)
	}
	return p.removeOldest(func(o *halfOpen) bool { return p.perAddress[o.ip] == most })
}

// removeOldest removes the oldest connection for which match is true.
func (p *halfOpenPool) removeOldest(match func(*halfOpen) bool) *halfOpen {
	for e := p.order.Front(); e != nil; e = e.Next() {
		if h := e.Value.(*halfOpen); match(h) {
			p.remove(h)
			return h
		}
	}
	return nil
}

func (p *halfOpenPool) remove(h *halfOpen) bool {
	if h.entry == nil {
		return false
	}
	p.order.Remove(h.entry)
	h.entry = nil
	p.count(h.ip, -1)
	return true
}

func (p *halfOpenPool) count(ip netip.Addr, n int) {
	if p.perAddress[ip] += n; p.perAddress[ip] == 0 {
		delete(p.perAddress, ip)
	}
}

// evict closes a connection that had to go.
func (p *halfOpenPool) evict(h *halfOpen) {
	if h != nil {
		p.evicted.Inc()
		_ = h.Conn.Close() // it holds nothing that must be written
	}
}

// A poolListener puts each accepted connection into the pool.
type poolListener struct {
	net.Listener
	pool *halfOpenPool
}

// Accept returns the next connection.
func (l poolListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.pool.add(c), nil
}

type halfOpenKey struct{}

// withHalfOpen stores the pool's entry of a connection in the context of its
// requests.
func withHalfOpen(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, halfOpenKey{}, c)
}

// halfOpenOf returns the pool's entry of a request's connection, nil for a
// request that did not come through the listener.
func halfOpenOf(ctx context.Context) *halfOpen {
	h, _ := ctx.Value(halfOpenKey{}).(*halfOpen)
	return h
}
