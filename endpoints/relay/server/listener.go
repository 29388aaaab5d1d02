package server

import (
	"net"
	"net/netip"
	"sync"
)

// Connections above the limits that are accepted only to be refused politely.
const (
	spareConnections = 64
	sparePerAddress  = 16
)

// A cappedListener closes connections above its limits without a reply. Limits
// in total and per address keep one client from taking all connections.
type cappedListener struct {
	net.Listener
	exempt func(netip.Addr) bool // addresses of proxies, which stand for many clients

	mu   sync.Mutex
	open openCount
}

// Accept returns the next connection within the limits.
func (l *cappedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		ip := parseAddr(c.RemoteAddr().String())
		if l.acquire(ip) {
			return &cappedConn{Conn: c, release: sync.OnceFunc(func() { l.release(ip) })}, nil
		}
		c.Close()
	}
}

func (l *cappedListener) acquire(ip netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open.full() || l.open.fullFor(aggregate(ip)) && !l.exempt(ip) {
		return false
	}
	l.open.add(aggregate(ip), 1)
	return true
}

func (l *cappedListener) release(ip netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open.add(aggregate(ip), -1)
}

// A cappedConn releases its place when it is closed.
type cappedConn struct {
	net.Conn
	release func()
}

// Close closes the connection and releases its place.
func (h *cappedConn) Close() error {
	defer h.release()
	return h.Conn.Close()
}
