package server

import (
	"net"
	"sync"
)

// slots are connections that may be open.
type slots chan struct{}

func newSlots(n int) slots {
	s := make(slots, n)
	return s
}

// A capped listener closes what is too much without a word.
type capped struct {
	net.Listener
	free slots
}

// Accept returns the next connection that there is room for.
func (l *capped) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.free <- struct{}{}:
			return &held{Conn: c, release: sync.OnceFunc(func() { <-l.free })}, nil
		default:
			c.Close()
		}
	}
}

// held gives its slot back when it is closed.
type held struct {
	net.Conn
	release func()
}

// Close closes.
func (h *held) Close() error {
	defer h.release()
	return h.Conn.Close()
}
