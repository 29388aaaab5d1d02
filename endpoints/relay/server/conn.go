package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A conn is one connection of an endpoint.
type conn struct {
	s            *Server
	ws           *websocket.Conn
	netConn      *meteredConn
	number       uint64
	limitAddress netip.Addr // the address that it counts for
	since        time.Time
	binding      []byte    // TLS exporter, nil without TLS
	halfOpen     *halfOpen // its entry in the pool until it has logged in; nil without one

	id         frame.ID          // set by the login
	token      [sha256.Size]byte // hash of the token of the login
	registered time.Time         // the login was accepted
	placed     bool              // it has a place
	queue      *sendQueue
	senders    senderFilter
	frameLimit *rate.Limiter

	pong      atomic.Pointer[string] // payload of the next pong
	framesIn  atomic.Int64           // frames
	framesOut atomic.Int64           // frames

	mu     sync.Mutex
	ending bool   // the read deadline is final
	reason string // the first reason of the end
}

// Reasons why connections end, for the log.
const (
	reasonClosed   = "closed by the endpoint"
	reasonLost     = "connection lost"
	reasonTimeout  = "nothing heard"
	reasonSlow     = "not reading"
	reasonNoLogin  = "no login"
	reasonProtocol = "protocol violation"
	reasonReplaced = "replaced by a newer login"
	reasonRestart  = "the relay ended"
	reasonRevoked  = "this device may not log in any more"
)

// run serves the connection until it ends.
func (c *conn) run() {
	c.s.metrics.connections.Inc()
	stop := context.AfterFunc(c.s.closing, func() { c.ws.Close() }) // a shutdown does not wait for logins
	ok := c.login()
	if stop() && ok {
		c.serve()
	}
	c.ws.Close()
	if c.placed {
		c.s.places.release(c.id)
	}
	c.logEnd()
}

// serve forwards frames in both directions until the connection ends.
func (c *conn) serve() {
	c.queue = newSendQueue(&c.s.queued)
	c.senders.strangerFrames = c.s.limits.StrangerFramesPerMinute
	c.frameLimit = rate.NewLimiter(rate.Limit(c.s.limits.FramesPerSecond), c.s.limits.BurstFrames)
	c.netConn.loggedIn.Store(true)
	c.ws.SetReadLimit(frame.MaxFrame)
	c.ws.SetPingHandler(c.onPing)
	c.ws.SetPongHandler(func(string) error { return c.chargeControl() })
	c.ws.SetCloseHandler(func(int, string) error { return nil }) // the writer sends the reply
	c.sendNotice(frame.Welcome{Limits: c.s.limits.announce(c.bindingName())})
	if !c.s.register(c) {
		c.fail(reasonRestart)
		return
	}
	if !c.s.access.Load().admits(c.id, c.token) { // SetAccess was called since admit
		c.endRevoked()
	}
	var writer sync.WaitGroup
	writer.Go(c.write)
	code := c.read()
	c.s.unregister(c)
	c.queue.close(code, false)
	writer.Wait()
	c.queue.discard()
}

// sendNotice queues a frame of the relay itself.
func (c *conn) sendNotice(f frame.Frame) {
	if b, err := frame.Append(nil, f); err == nil { // frames of the relay are always valid
		c.queue.pushNotice(b)
	}
}

// endReplaced ends the connection because the device has logged in again.
func (c *conn) endReplaced() {
	c.fail(reasonReplaced)
	c.s.metrics.replaced.Inc()
	c.sendNotice(frame.Health{Text: reasonReplaced})
	c.queue.close(frame.CloseReplaced, false)
}

// endRevoked ends the connection because its device may not log in any more.
func (c *conn) endRevoked() {
	c.fail(reasonRevoked)
	c.sendNotice(frame.Health{Text: reasonRevoked})
	c.queue.close(websocket.ClosePolicyViolation, false)
}

// endRestart ends the connection because the relay shuts down. Queued frames
// are sent first.
func (c *conn) endRestart() {
	c.fail(reasonRestart)
	c.sendNotice(frame.Restart{ReconnectInMS: jitterMS(c.s.limits.RestartIn), TryForMS: uint32(tryFor.Milliseconds())})
	c.queue.close(websocket.CloseServiceRestart, true)
}

// fail records the first reason of the end. It returns false, for callers that
// report failure.
func (c *conn) fail(reason string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.reason = reason
	}
	return false
}

// extendDeadline extends the read deadline, unless awaitClose has set the final
// one.
func (c *conn) extendDeadline() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return nil
	}
	return c.ws.SetReadDeadline(time.Now().Add(c.s.limits.ReadTimeout))
}

// awaitClose gives the endpoint lingerTime to close its side.
func (c *conn) awaitClose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	_ = c.ws.SetReadDeadline(time.Now().Add(lingerTime)) // a dead connection fails at the read
}

// logEnd logs the end of the connection. The reason is a text of this package,
// because network errors contain addresses.
func (c *conn) logEnd() {
	in, out := c.netConn.in.Load(), c.netConn.out.Load()
	c.s.metrics.bytesIn.AddInt64(in)
	c.s.metrics.bytesOut.AddInt64(out)
	device := ""
	if c.queue != nil {
		device = c.s.aliases.alias(c.id)
	}
	c.s.log.Info("connection ended", "conn", c.number, "device", device, "reason", c.reason,
		"seconds", int(time.Since(c.since).Seconds()), "bytes_in", in, "bytes_out", out, "frames_in", c.framesIn.Load(), "frames_out", c.framesOut.Load())
}

// read handles frames until the connection ends. It returns the code to close
// with.
func (c *conn) read() (code int) {
	for {
		err := c.extendDeadline()
		var b []byte
		if err == nil {
			b, err = c.readMessage()
		}
		if err == nil {
			err = c.handle(b)
		}
		if err != nil {
			return c.closeCode(err)
		}
	}
}

// messageBuffers holds read buffers. A message is then allocated once in its
// exact size, and idle connections hold no buffer.
var messageBuffers = sync.Pool{New: func() any { return new([frame.MaxFrame]byte) }}

var errProtocol = errors.New("protocol violation")

// readMessage reads the next message.
func (c *conn) readMessage() ([]byte, error) {
	typ, r, err := c.ws.NextReader()
	if err != nil {
		return nil, err
	}
	if typ != websocket.BinaryMessage {
		return nil, errProtocol
	}
	buf := messageBuffers.Get().(*[frame.MaxFrame]byte)
	defer messageBuffers.Put(buf)
	n, err := io.ReadFull(r, buf[:])
	switch {
	case err == nil: // full: the read limit allows no more
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // shorter; a lost connection is a CloseError
	default:
		return nil, err
	}
	return append(make([]byte, 0, n), buf[:n]...), nil
}

// handle handles one frame.
func (c *conn) handle(b []byte) error {
	c.framesIn.Add(1)
	c.s.metrics.framesIn.Inc()
	if err := c.charge(); err != nil {
		return err
	}
	if frame.IsSend(b) {
		c.s.forward(c, b)
		return nil
	}
	return errProtocol // SEND is the only frame after the login
}

// chargeControl charges a ping or pong like a frame and extends the read
// deadline.
func (c *conn) chargeControl() error {
	if err := c.charge(); err != nil {
		return err
	}
	return c.extendDeadline()
}

// charge takes one frame of the rate, and waits for it.
func (c *conn) charge() error {
	return takeTokens(c.netConn.ctx, c.frameLimit, 1, c.s.metrics.frameWaits)
}

// onPing makes the writer send the pong. Writing here would let an endpoint
// that does not read block its own reader (gorilla/websocket#97).
func (c *conn) onPing(text string) error {
	c.pong.Store(&text)
	c.queue.wake()
	return c.chargeControl()
}

// closeCode records why reading ended and returns the code to close with.
func (c *conn) closeCode(err error) int {
	var closed *websocket.CloseError
	switch {
	case errors.Is(err, errProtocol), errors.Is(err, websocket.ErrReadLimit):
		c.s.metrics.violations.Inc()
		c.fail(reasonProtocol)
		return websocket.ClosePolicyViolation
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		c.fail(reasonClosed)
	case isTimeout(err):
		c.fail(reasonTimeout)
	default:
		c.fail(reasonLost)
	}
	return websocket.CloseNormalClosure
}

// write is the only writer of the connection. It ends when the queue is closed
// and empty, or when the endpoint reads too slowly.
func (c *conn) write() {
	ping := time.NewTicker(c.s.limits.PingEvery)
	defer ping.Stop()
	for {
		f, notice, code := c.queue.pop()
		switch {
		case f != nil:
			if !c.writeFrame(f, notice) {
				return
			}
		case code != 0:
			c.writeControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""))
			c.awaitClose()
			return
		default:
			c.waitForWork(ping.C)
		}
		if p := c.pong.Swap(nil); p != nil {
			c.writeControl(websocket.PongMessage, []byte(*p))
		}
		select { // send pings also under load
		case <-ping.C:
			c.writeControl(websocket.PingMessage, nil)
		default:
		}
	}
}

// waitForWork waits until there is something to write.
func (c *conn) waitForWork(ping <-chan time.Time) {
	select {
	case <-c.queue.ready:
	case <-ping:
		c.writeControl(websocket.PingMessage, nil)
	}
}

// writeFrame writes one frame. If that fails it closes the connection.
func (c *conn) writeFrame(f []byte, notice bool) bool {
	_ = c.ws.SetWriteDeadline(time.Now().Add(c.s.limits.WriteTimeout)) // a dead connection fails at the write
	if err := c.ws.WriteMessage(websocket.BinaryMessage, f); err != nil {
		if isTimeout(err) {
			c.s.metrics.slow.Inc()
			c.fail(reasonSlow)
		}
		c.queue.close(websocket.CloseGoingAway, false)
		c.ws.Close() // this also ends the reader
		return false
	}
	if !notice {
		c.framesOut.Add(1)
		c.s.metrics.framesOut.Inc()
	}
	return true
}

// writeControl sends a control message. It ignores errors: the next frame or
// the reader reports a dead connection.
func (c *conn) writeControl(kind int, data []byte) {
	_ = c.ws.WriteControl(kind, data, time.Now().Add(c.s.limits.WriteTimeout))
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
