package server

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A meteredConn is a connection whose bytes are counted, and waited for when they
// come too fast: not reading is what slows a sender down. It is below
// WebSocket, so it also sees what never becomes a message: pings, headers,
// empty fragments.
type meteredConn struct {
	net.Conn
	ctx      context.Context
	cancel   context.CancelFunc // ends a wait
	bytes    *rate.Limiter
	waits    counter
	in, out  atomic.Int64
	preLogin atomic.Int64 // bytes left before the login; below 0: too many
	loggedIn atomic.Bool  // early counts no more
}

var errPreLogin = errors.New("too much before the login")

func newMeteredConn(c net.Conn, l Limits, waits counter) *meteredConn {
	m := &meteredConn{Conn: c, waits: waits, bytes: rate.NewLimiter(rate.Limit(l.BytesPerSecond), l.BurstBytes)}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.preLogin.Store(frame.MaxLogin)
	return m
}

// Read reads, then waits until that much may have been read.
func (m *meteredConn) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	m.in.Add(int64(n))
	if !m.loggedIn.Load() && m.preLogin.Add(-int64(n)) < 0 {
		return n, errPreLogin
	}
	for left := n; left > 0 && err == nil; {
		part := min(left, m.bytes.Burst())
		left -= part
		err = takeTokens(m.ctx, m.bytes, part, m.waits)
	}
	return n, err
}

// Write counts.
func (m *meteredConn) Write(p []byte) (int, error) {
	n, err := m.Conn.Write(p)
	m.out.Add(int64(n))
	return n, err
}

// Close also ends a Read that waits.
func (m *meteredConn) Close() error {
	m.cancel()
	return m.Conn.Close()
}

// takeTokens takes n tokens, waiting for them when it must, which is counted.
func takeTokens(ctx context.Context, l *rate.Limiter, n int, waits counter) error {
	if l.AllowN(time.Now(), n) {
		return nil
	}
	waits.Inc()
	return l.WaitN(ctx, n)
}

// A hijacker puts a meter below the connection that is taken from net/http.
type hijacker struct {
	http.ResponseWriter
	limits  Limits
	waits   counter
	netConn *meteredConn
}

// Hijack takes the connection.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if rw.Reader.Buffered() > 0 {
		c.Close()
		return nil, nil, errPreLogin // nobody sends before HELLO, and below it would not be counted
	}
	h.netConn = newMeteredConn(c, h.limits, h.waits)
	rw.Reader.Reset(h.netConn)
	rw.Writer.Reset(h.netConn)
	return h.netConn, rw, nil
}
