package server

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
)

// A countedConn is a connection of an address that notes whether it was closed.
type countedConn struct {
	net.Conn
	address net.Addr
	closed  bool
}

func (c *countedConn) RemoteAddr() net.Addr { return c.address }
func (c *countedConn) Close() error         { c.closed = true; return nil }

// TestHalfOpenOldest: of many addresses with one connection each, the oldest
// goes, so that a device that logs in meanwhile keeps its place.
func TestHalfOpenOldest(t *testing.T) {
	const limit, more = 64, 40
	m := newServerMetrics(func() int { return 0 })
	p := newHalfOpenPool(Limits{HalfOpen: limit, HalfOpenPerAddress: 8}, func(netip.Addr) bool { return false }, m.evicted)
	var conns []*countedConn
	for i := range limit + more {
		c := &countedConn{address: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(fmt.Sprintf("10.0.0.%d:1000", i)))}
		conns = append(conns, c)
		p.add(c)
	}
	for i, c := range conns {
		if c.closed != (i < more) {
			t.Errorf("connection %d of %d: closed %t", i, len(conns), c.closed)
		}
	}
}
