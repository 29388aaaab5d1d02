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

// A meteredConn counts bytes and limits the read rate with a token bucket. It
// delays reading, so that TCP slows the sender down. It lies below WebSocket,
// so it also sees pings, headers and empty fragments.
type meteredConn struct {
	net.Conn
	ctx      context.Context
	cancel   context.CancelFunc // cancels a wait
	bytes    *rate.Limiter
	waits    counter
	in, out  atomic.Int64
	preLogin atomic.Int64 // bytes left before the login; below 0: too many
	loggedIn atomic.Bool  // preLogin is not checked any more
}

var errPreLogin = errors.New("too many bytes before the login")

func newMeteredConn(c net.Conn, l Limits, waits counter) *meteredConn {
	m := &meteredConn{Conn: c, waits: waits, bytes: rate.NewLimiter(rate.Limit(l.BytesPerSecond), l.BurstBytes)}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.preLogin.Store(frame.MaxLogin)
	return m
}

// Read reads, then waits for as many tokens as bytes were read.
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

// Write writes and counts.
func (m *meteredConn) Write(p []byte) (int, error) {
	n, err := m.Conn.Write(p)
	m.out.Add(int64(n))
	return n, err
}

// Close also cancels a Read that waits.
func (m *meteredConn) Close() error {
	m.cancel()
	return m.Conn.Close()
}

// takeTokens takes n tokens. It counts a wait in waits.
func takeTokens(ctx context.Context, l *rate.Limiter, n int, waits counter) error {
	if l.AllowN(time.Now(), n) {
		return nil
	}
	waits.Inc()
	return l.WaitN(ctx, n)
}

// A hijacker wraps the connection that is hijacked from net/http in a
// meteredConn.
type hijacker struct {
	http.ResponseWriter
	limits  Limits
	waits   counter
	netConn *meteredConn
}

// Hijack takes over the connection.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if rw.Reader.Buffered() > 0 {
		c.Close()
		return nil, nil, errPreLogin // no data may arrive before HELLO, and it would not be metered
	}
	h.netConn = newMeteredConn(c, h.limits, h.waits)
	rw.Reader.Reset(h.netConn)
	rw.Writer.Reset(h.netConn)
	return h.netConn, rw, nil
}
