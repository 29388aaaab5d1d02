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

// A capped listener closes what is too much without a word: in all, and of
// one address, so that nobody takes all places by saying nothing.
type capped struct {
	net.Listener
	all, each int
	exempt    func(netip.Addr) bool // addresses that stand for many: those of proxies

	mu   sync.Mutex
	open int
	of   map[netip.Addr]int
}

// Accept returns the next connection that there is room for.
func (l *capped) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		ip := remote(c.RemoteAddr().String())
		if l.enter(ip) {
			return &held{Conn: c, release: sync.OnceFunc(func() { l.leave(ip) })}, nil
		}
		c.Close()
	}
}

func (l *capped) enter(ip netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.all || l.of[share(ip)] >= l.each && !l.exempt(ip) {
		return false
	}
	l.open++
	l.of[share(ip)]++
	return true
}

func (l *capped) leave(ip netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.of[share(ip)]--; l.of[share(ip)] == 0 {
		delete(l.of, share(ip))
	}
}

// held gives its place back when it is closed.
type held struct {
	net.Conn
	release func()
}

// Close closes.
func (h *held) Close() error {
	defer h.release()
	return h.Conn.Close()
}
