package server

import (
	"net"
	"net/netip"
	"sync"
)

// Connections that may be open above the limits, to be told that these are
// reached.
const (
	spareConnections = 64
	sparePerAddress  = 16
)

// A cappedListener listener closes what is too much without a word: in all, and of
// one address, so that nobody takes all places by saying nothing.
type cappedListener struct {
	net.Listener
	max, maxPerAddress int
	exempt             func(netip.Addr) bool // addresses that stand for many: those of proxies

	mu         sync.Mutex
	open       int
	perAddress map[netip.Addr]int
}

// Accept returns the next connection that there is room for.
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
	if l.open >= l.max || l.perAddress[aggregate(ip)] >= l.maxPerAddress && !l.exempt(ip) {
		return false
	}
	l.open++
	l.perAddress[aggregate(ip)]++
	return true
}

func (l *cappedListener) release(ip netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.perAddress[aggregate(ip)]--; l.perAddress[aggregate(ip)] == 0 {
		delete(l.perAddress, aggregate(ip))
	}
}

// cappedConn gives its place back when it is closed.
type cappedConn struct {
	net.Conn
	release func()
}

// Close closes.
func (h *cappedConn) Close() error {
	defer h.release()
	return h.Conn.Close()
}
