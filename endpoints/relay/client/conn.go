package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// sendQueueSize is the capacity of the send queue in frames.
const sendQueueSize = 8

// A conn is one connection after the login. It has one reading and one writing
// goroutine, as gorilla/websocket requires.
type conn struct {
	cfg     *Config
	ws      *websocket.Conn
	silence time.Duration
	out     chan []byte
	pong    chan string // the last unanswered ping
	closed  chan struct{}
	closing chan struct{}

	mu       sync.Mutex
	noExtend bool // the read deadline is final

	restart atomic.Pointer[Restarting]
	health  atomic.Pointer[string]
}

func newConn(cfg *Config, ws *websocket.Conn, l frame.Limits) *conn {
	silence := max(cfg.Timing.Silence, min(2*time.Duration(l.PingSeconds)*time.Second, 5*time.Minute))
	return &conn{cfg: cfg, ws: ws, silence: silence, out: make(chan []byte, sendQueueSize), pong: make(chan string, 1), closed: make(chan struct{}), closing: make(chan struct{})}
}

// run forwards frames until the connection or ctx ends, and returns the reason.
func (c *conn) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, c.startClosing)
	defer stop()
	var writer sync.WaitGroup
	writer.Go(c.write)
	err := c.read()
	close(c.closed)
	c.ws.Close()
	writer.Wait()
	if r := c.restart.Load(); r != nil {
		return r
	}
	var closed *websocket.CloseError
	if errors.As(err, &closed) && closed.Code == frame.CloseReplaced {
		return ErrReplaced
	}
	return err
}

// closeTimeout limits sending the queue and waiting for the relay's close.
const closeTimeout = time.Second

// startClosing makes the writer send the queue and a close message, then end.
func (c *conn) startClosing() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noExtend = true
	_ = c.ws.NetConn().SetDeadline(time.Now().Add(closeTimeout)) // a dead connection fails at its next use
	close(c.closing)
}

// extendDeadline extends the read deadline, unless it is final.
func (c *conn) extendDeadline() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noExtend {
		return nil
	}
	return c.ws.SetReadDeadline(time.Now().Add(c.silence))
}

// enqueue passes a frame to the writer.
func (c *conn) enqueue(ctx context.Context, b []byte) error {
	select {
	case c.out <- b:
		return nil
	case <-c.closed:
		return ErrOffline
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write is the only writer of the connection.
func (c *conn) write() {
	for {
		select {
		case b := <-c.out:
			if !c.writeFrame(b, c.cfg.Timing.Write) {
				return
			}
		case text := <-c.pong:
			_ = c.ws.WriteControl(websocket.PongMessage, []byte(text), time.Now().Add(c.cfg.Timing.Write)) // the next write reports the error
		case <-c.closing:
			c.drain()
			return
		case <-c.closed:
			return
		}
	}
}

func (c *conn) writeFrame(b []byte, timeout time.Duration) bool {
	_ = c.ws.SetWriteDeadline(time.Now().Add(timeout)) // a dead connection fails at the write
	if c.ws.WriteMessage(websocket.BinaryMessage, b) != nil {
		c.ws.Close() // this also ends the reader
		return false
	}
	return true
}

// drain sends the queue and a close message.
func (c *conn) drain() {
	for {
		select {
		case b := <-c.out:
			if !c.writeFrame(b, closeTimeout) {
				return
			}
		default:
			bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			_ = c.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(closeTimeout)) // the reader ends at its deadline
			return
		}
	}
}

// read handles frames until the connection ends.
func (c *conn) read() error {
	c.ws.SetPingHandler(c.onPing)
	for {
		if err := c.extendDeadline(); err != nil {
			return err
		}
		f, err := receive(c.ws)
		if err != nil {
			return err
		}
		if err := c.handle(f); err != nil {
			return err
		}
	}
}

// onPing makes the writer answer. A ping is a sign that the relay is alive, so
// it extends the deadline.
func (c *conn) onPing(text string) error {
	select {
	case c.pong <- text:
	default: // a pong is already queued
	}
	return c.extendDeadline()
}

func (c *conn) handle(f frame.Frame) error {
	switch f := f.(type) {
	case frame.Recv:
		if c.cfg.Deliver != nil {
			c.cfg.Deliver(f.From, f.Payload)
		}
	case frame.Gone:
		if c.cfg.Gone != nil {
			c.cfg.Gone(f.To, f.Reason)
		}
	case frame.Restart:
		c.restart.Store(&Restarting{time.Duration(f.ReconnectInMS) * time.Millisecond, time.Duration(f.TryForMS) * time.Millisecond})
	case frame.Health:
		c.health.Store(&f.Text)
	default:
		return fmt.Errorf("%w: %T after the login", errProtocol, f)
	}
	return nil
}

// healthOf returns the last HEALTH text of the relay.
func healthOf(l *conn) string {
	if l == nil {
		return ""
	}
	if s := l.health.Load(); s != nil {
		return *s
	}
	return ""
}

func receive(ws *websocket.Conn) (frame.Frame, error) {
	typ, b, err := ws.ReadMessage()
	if err != nil {
		return nil, err
	}
	if typ != websocket.BinaryMessage {
		return nil, errProtocol
	}
	return frame.Decode(b)
}

func transmit(ws *websocket.Conn, f frame.Frame, timeout time.Duration) error {
	b, err := frame.Append(nil, f)
	if err != nil {
		return err
	}
	if err := ws.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	return ws.WriteMessage(websocket.BinaryMessage, b)
}
