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

// A meter is a connection whose bytes are counted, and waited for when they
// come too fast: not reading is what slows a sender down. It is below
// WebSocket, so it also sees what never becomes a message: pings, headers,
// empty fragments.
type meter struct {
	net.Conn
	ctx     context.Context
	cancel  context.CancelFunc // ends a wait
	bytes   *rate.Limiter
	s       *Server
	in, out atomic.Int64
	early   atomic.Int64 // bytes left before the login; below 0: too many
	welcome atomic.Bool  // early counts no more
}

var errEarly = errors.New("too much before the login")

func newMeter(s *Server, c net.Conn) *meter {
	m := &meter{Conn: c, s: s, bytes: rate.NewLimiter(rate.Limit(s.limits.BytesPerSecond), s.limits.BurstBytes)}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.early.Store(frame.MaxLogin)
	return m
}

// Read reads, then waits until that much may have been read.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	m.in.Add(int64(n))
	if !m.welcome.Load() && m.early.Add(-int64(n)) < 0 {
		return n, errEarly
	}
	for left := n; left > 0 && err == nil; {
		part := min(left, m.bytes.Burst())
		left -= part
		err = wait(m.ctx, m.bytes, part, m.s.counts.byteWaits)
	}
	return n, err
}

// Write counts.
func (m *meter) Write(p []byte) (int, error) {
	n, err := m.Conn.Write(p)
	m.out.Add(int64(n))
	return n, err
}

// Close also ends a Read that waits.
func (m *meter) Close() error {
	m.cancel()
	return m.Conn.Close()
}

// wait takes n tokens, waiting for them when it must, which is counted.
func wait(ctx context.Context, l *rate.Limiter, n int, waits counter) error {
	if l.AllowN(time.Now(), n) {
		return nil
	}
	waits.Inc()
	return l.WaitN(ctx, n)
}

// A hijacker puts a meter below the connection that is taken from net/http.
type hijacker struct {
	http.ResponseWriter
	s     *Server
	meter *meter
}

// Hijack takes the connection.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if rw.Reader.Buffered() > 0 {
		c.Close()
		return nil, nil, errEarly // nobody sends before HELLO, and below it would not be counted
	}
	h.meter = newMeter(h.s, c)
	rw.Reader.Reset(h.meter)
	rw.Writer.Reset(h.meter)
	return h.meter, rw, nil
}
