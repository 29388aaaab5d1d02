// Package relaytest supports tests of relays and sessions: a network in memory
// with outages, devices, and a search for canaries.
package relaytest

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"
)

// A Network is a network in memory with one listener. It works under
// testing/synctest, unlike a real network.
type Network struct {
	accepts chan net.Conn

	mu     sync.Mutex
	down   bool
	silent bool // while down, dialling hangs instead of failing
	closed chan struct{}
	conns  map[*memConn]bool
	port   uint16
}

// NewNetwork returns a network. Its listener has the address 192.0.2.1:7447.
func NewNetwork() *Network {
	return &Network{accepts: make(chan net.Conn), closed: make(chan struct{}), conns: map[*memConn]bool{}}
}

// Host is the address of a Network's listener.
const Host = "192.0.2.1:7447"

// Listen returns the listener. After it is closed, Listen returns a new one.
func (n *Network) Listen() net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = make(chan struct{})
	return &listener{n: n, closed: n.closed}
}

// Dial connects from 192.0.2.100.
func (n *Network) Dial(ctx context.Context, _ string) (net.Conn, error) {
	return n.DialFrom(ctx, netip.MustParseAddr("192.0.2.100"))
}

// DialFrom connects from an address.
func (n *Network) DialFrom(ctx context.Context, from netip.Addr) (net.Conn, error) {
	n.mu.Lock()
	down, silent, closed := n.down, n.silent, n.closed
	n.port++
	port := n.port
	n.mu.Unlock()
	if down && silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if down {
		return nil, &net.OpError{Op: "dial", Net: "mem", Err: os.ErrDeadlineExceeded}
	}
	at := net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, port))
	here, there := n.pair(at)
	select {
	case n.accepts <- there:
		return here, nil
	case <-closed:
	case <-ctx.Done():
	}
	here.Close()
	there.Close()
	return nil, &net.OpError{Op: "dial", Net: "mem", Err: io.ErrClosedPipe}
}

func (n *Network) pair(at net.Addr) (here, there *memConn) {
	a, b := newStream(), newStream()
	to := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(Host))
	here = &memConn{n: n, in: a, out: b, local: at, remote: to}
	there = &memConn{n: n, in: b, out: a, local: to, remote: at}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[here], n.conns[there] = true, true
	return here, there
}

// Cut starts an outage: sent data is lost, connections do not notice, and
// dialling hangs.
func (n *Network) Cut() { n.setDown(true) }

// Refuse resets all connections and refuses new ones.
func (n *Network) Refuse() {
	n.setDown(false)
	n.Reset()
}

func (n *Network) setDown(silent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down, n.silent = true, silent
	for w := range n.conns {
		w.out.update(func() { w.out.blackholed, w.out.data = true, nil })
	}
}

// Reset closes all connections. New ones can be made.
func (n *Network) Reset() {
	n.mu.Lock()
	all := slices.Collect(maps.Keys(n.conns))
	n.mu.Unlock()
	for _, w := range all {
		w.Close()
	}
}

// Heal ends an outage. Connections that were cut stay dead.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
}

type listener struct {
	n      *Network
	once   sync.Once
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.n.accepts:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(Host)) }

// A memConn is one end of a connection.
type memConn struct {
	n             *Network
	in, out       *stream
	local, remote net.Addr
}

func (w *memConn) Read(p []byte) (int, error)  { return w.in.read(p) }
func (w *memConn) Write(p []byte) (int, error) { return w.out.write(p) }
func (w *memConn) LocalAddr() net.Addr         { return w.local }
func (w *memConn) RemoteAddr() net.Addr        { return w.remote }

func (w *memConn) SetReadDeadline(t time.Time) error {
	w.in.update(func() { w.in.readEnd = t })
	return nil
}

func (w *memConn) SetWriteDeadline(t time.Time) error {
	w.out.update(func() { w.out.writeEnd = t })
	return nil
}

func (w *memConn) SetDeadline(t time.Time) error {
	return errors.Join(w.SetReadDeadline(t), w.SetWriteDeadline(t))
}

// CloseWrite closes the sending direction. During an outage the reader does
// not notice.
func (w *memConn) CloseWrite() error {
	w.out.update(func() { w.out.writeClosed = w.out.writeClosed || !w.out.blackholed })
	return nil
}

func (w *memConn) Close() error {
	w.n.mu.Lock()
	delete(w.n.conns, w)
	w.n.mu.Unlock()
	w.in.update(func() { w.in.readClosed = true })
	return w.CloseWrite()
}

// streamBuffer is the capacity of a stream in bytes, like a socket's buffers. A
// writer blocks when it is full.
const streamBuffer = 64 << 10

// A stream is one direction of a connection.
type stream struct {
	mu                sync.Mutex
	data              []byte
	blackholed        bool // written data is lost
	writeClosed       bool // the reader gets EOF after data
	readClosed        bool
	readEnd, writeEnd time.Time     // deadlines; zero: none
	change            chan struct{} // closed and replaced when a field above changes
}

func newStream() *stream { return &stream{change: make(chan struct{})} }

// update changes fields and wakes all waiting calls.
func (s *stream) update(edit func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit()
	s.notify()
}

// notify wakes all waiting calls; the caller holds mu.
func (s *stream) notify() {
	close(s.change)
	s.change = make(chan struct{})
}

// wait unlocks mu until a change or the deadline, whose passing is an error.
func (s *stream) wait(deadline time.Time) error {
	change := s.change
	s.mu.Unlock()
	defer s.mu.Lock()
	var passed <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		passed = t.C
	}
	select {
	case <-change:
		return nil
	case <-passed:
		return os.ErrDeadlineExceeded
	}
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readClosed:
			return 0, net.ErrClosed
		case len(s.data) > 0:
			n := copy(p, s.data)
			s.data = s.data[n:]
			s.notify()
			return n, nil
		case s.writeClosed:
			return 0, io.EOF
		}
		if err := s.wait(s.readEnd); err != nil {
			return 0, err
		}
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.writeClosed:
			return n, net.ErrClosed
		case s.readClosed:
			return n, io.ErrClosedPipe
		case s.blackholed:
			return n + len(p), nil
		}
		if part := min(streamBuffer-len(s.data), len(p)); part > 0 {
			s.data = append(s.data, p[:part]...)
			n, p = n+part, p[part:]
			s.notify()
		}
		if len(p) == 0 {
			return n, nil
		}
		if err := s.wait(s.writeEnd); err != nil {
			return n, err
		}
	}
}
