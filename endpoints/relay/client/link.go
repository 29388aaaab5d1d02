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

var errProtocol = errors.New("the relay broke its protocol")

// A Restarting error says that the relay announced its end.
type Restarting struct {
	ReconnectIn, TryFor time.Duration
}

func (e *Restarting) Error() string { return "the relay restarts" }

// queued is how many frames wait for the writer; Send waits for more room.
const queued = 8

// A link is one connection that is logged in.
type link struct {
	c       *Client
	ws      *websocket.Conn
	silence time.Duration
	out     chan []byte
	pong    chan string // the last ping that is unanswered
	over    chan struct{}
	leaving chan struct{}

	mu     sync.Mutex
	ending bool // the read deadline is not put off any more

	restart atomic.Pointer[Restarting]
	health  atomic.Pointer[string]
}

func newLink(c *Client, ws *websocket.Conn, l frame.Limits) *link {
	silence := max(c.timing.Silence, min(2*time.Duration(l.PingSeconds)*time.Second, 5*time.Minute))
	return &link{c: c, ws: ws, silence: silence, out: make(chan []byte, queued), pong: make(chan string, 1), over: make(chan struct{}), leaving: make(chan struct{})}
}

// run passes frames on until the connection or ctx ends, and says why.
func (l *link) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, l.leave)
	defer stop()
	var writer sync.WaitGroup
	writer.Go(l.write)
	err := l.read()
	close(l.over)
	l.ws.Close()
	writer.Wait()
	if r := l.restart.Load(); r != nil {
		return r
	}
	var closed *websocket.CloseError
	if errors.As(err, &closed) && closed.Code == frame.CloseReplaced {
		return ErrReplaced
	}
	return err
}

// leaveTime is how long what is queued may take to leave, and the relay to
// close from its side.
const leaveTime = time.Second

// leave lets the writer write what is queued, tell the relay, and end.
func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending = true
	_ = l.ws.NetConn().SetDeadline(time.Now().Add(leaveTime)) // a dead connection fails when it is used
	close(l.leaving)
}

// extend puts the read deadline off, unless the last one is set.
func (l *link) extend() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending {
		return nil
	}
	return l.ws.SetReadDeadline(time.Now().Add(l.silence))
}

// put hands a frame to the writer.
func (l *link) put(ctx context.Context, b []byte) error {
	select {
	case l.out <- b:
		return nil
	case <-l.over:
		return ErrOffline
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write is the connection's one writer.
func (l *link) write() {
	for {
		select {
		case b := <-l.out:
			if !l.wrote(b, l.c.timing.Write) {
				return
			}
		case text := <-l.pong:
			_ = l.ws.WriteControl(websocket.PongMessage, []byte(text), time.Now().Add(l.c.timing.Write)) // the next write finds out
		case <-l.leaving:
			l.drain()
			return
		case <-l.over:
			return
		}
	}
}

func (l *link) wrote(b []byte, timeout time.Duration) bool {
	_ = l.ws.SetWriteDeadline(time.Now().Add(timeout)) // a dead connection fails when it is written
	if l.ws.WriteMessage(websocket.BinaryMessage, b) != nil {
		l.ws.Close() // the reader ends with it
		return false
	}
	return true
}

// drain writes what is queued, and says that this was all.
func (l *link) drain() {
	for {
		select {
		case b := <-l.out:
			if !l.wrote(b, leaveTime) {
				return
			}
		default:
			bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			_ = l.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(leaveTime)) // the reader ends at its deadline
			return
		}
	}
}

// read takes frames until the connection ends.
func (l *link) read() error {
	l.ws.SetPingHandler(l.pinged)
	for {
		if err := l.extend(); err != nil {
			return err
		}
		f, err := receive(l.ws)
		if err != nil {
			return err
		}
		if err := l.take(f); err != nil {
			return err
		}
	}
}

// pinged lets the writer answer; a ping counts as heard.
func (l *link) pinged(text string) error {
	select {
	case l.pong <- text:
	default: // one is on its way
	}
	return l.extend()
}

func (l *link) take(f frame.Frame) error {
	switch f := f.(type) {
	case frame.Recv:
		if l.c.cfg.Deliver != nil {
			l.c.cfg.Deliver(f.From, f.Payload)
		}
	case frame.Gone:
		if l.c.cfg.Gone != nil {
			l.c.cfg.Gone(f.To, f.Reason)
		}
	case frame.Restart:
		l.restart.Store(&Restarting{time.Duration(f.ReconnectInMS) * time.Millisecond, time.Duration(f.TryForMS) * time.Millisecond})
	case frame.Health:
		l.health.Store(&f.Text)
	default:
		return fmt.Errorf("%w: %T after the login", errProtocol, f)
	}
	return nil
}

// healthOf returns what the relay has said, if anything.
func healthOf(l *link) string {
	if l == nil {
		return ""
	}
	if s := l.health.Load(); s != nil {
		return *s
	}
	return ""
}
