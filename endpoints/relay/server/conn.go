package server

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A conn is one connection.
type conn struct {
	s       *Server
	ws      *websocket.Conn
	meter   *meter
	number  uint64
	address netip.Addr // whose share of the limits it takes
	since   time.Time
	binding []byte // of TLS, nil without
	entered bool   // it counts for its address

	id     frame.ID // from the login on
	out    *outbox
	doors  doors
	frames *rate.Limiter

	pong atomic.Pointer[string] // what to answer a ping with
	in   atomic.Int64           // frames
	sent atomic.Int64           // frames

	mu     sync.Mutex
	ending bool   // the read deadline is not put off any more
	reason string // the first
}

// Why connections end, for the log.
const (
	reasonClosed   = "closed by the endpoint"
	reasonLost     = "connection lost"
	reasonSilent   = "nothing heard"
	reasonSlow     = "not reading"
	reasonNoLogin  = "no login"
	reasonProtocol = "protocol violation"
	reasonReplaced = "replaced by a newer login"
	reasonRestart  = "the relay ended"
)

// run serves the connection to its end.
func (c *conn) run() {
	c.s.counts.connections.Inc()
	stop := context.AfterFunc(c.s.closing, func() { c.ws.Close() }) // a login that is under way is not waited for
	ok := c.login()
	if stop() && ok {
		c.serve()
	}
	c.ws.Close()
	if c.entered {
		c.s.shares.leave(c.address)
	}
	c.report()
}

// serve passes frames on both ways until the endpoint is gone.
func (c *conn) serve() {
	c.out = newOutbox(&c.s.queued)
	c.doors.knocks = c.s.limits.KnocksPerMinute
	c.frames = rate.NewLimiter(rate.Limit(c.s.limits.FramesPerSecond), c.s.limits.BurstFrames)
	c.meter.welcome.Store(true)
	c.ws.SetReadLimit(frame.MaxFrame)
	c.ws.SetPingHandler(c.pinged)
	c.ws.SetPongHandler(func(string) error { return c.control() })
	c.ws.SetCloseHandler(func(int, string) error { return nil }) // the writer answers
	c.note(frame.Welcome{Limits: c.s.limits.announce(c.bindingName())})
	if !c.s.register(c) {
		c.over(reasonRestart)
		return
	}
	var writer sync.WaitGroup
	writer.Go(c.write)
	code := c.read()
	c.s.unregister(c)
	c.out.close(code, false)
	writer.Wait()
	c.out.abandon()
}

// note puts a frame of the relay's own into the outbox.
func (c *conn) note(f frame.Frame) {
	if b, err := frame.Append(nil, f); err == nil { // they are all well formed
		c.out.notice(b)
	}
}

// replaced ends the connection for a newer one of the same device.
func (c *conn) replaced() {
	c.over(reasonReplaced)
	c.s.counts.replaced.Inc()
	c.note(frame.Health{Text: reasonReplaced})
	c.out.close(frame.CloseReplaced, false)
}

// restart ends the connection because the relay ends. What is queued leaves
// first.
func (c *conn) restart() {
	c.over(reasonRestart)
	c.note(frame.Restart{ReconnectInMS: spread(c.s.limits.RestartIn), TryForMS: uint32(tryFor.Milliseconds())})
	c.out.close(websocket.CloseServiceRestart, true)
}

// over notes why the connection ends, if nothing has been noted yet. It
// returns false, for callers that give up with it.
func (c *conn) over(reason string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.reason = reason
	}
	return false
}

// extend puts the read deadline off, until finish has set the last one.
func (c *conn) extend() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return nil
	}
	return c.ws.SetReadDeadline(time.Now().Add(c.s.limits.ReadTimeout))
}

// finish leaves the endpoint a moment to close from its side.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	_ = c.ws.SetReadDeadline(time.Now().Add(lingerTime)) // a dead connection fails when it is read
}
