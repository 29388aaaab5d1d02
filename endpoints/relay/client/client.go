package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/problem"
)

// A Client is one device's connection to one relay.
type Client struct {
	cfg  Config
	url  *url.URL
	host string

	mu           sync.Mutex
	conn         *conn // nil without a connection
	allowlist    []frame.ID
	hasAllowlist bool // list is to be sent after each login
}

// New makes a client. Errors are *problem.Error with code RELAY-URL or
// RELAY-PLAIN.
func New(cfg Config) (*Client, error) {
	u, err := frame.ParseURL(cfg.URL)
	if err != nil {
		return nil, &problem.Error{Code: "RELAY-URL", What: "this is no relay's URL", Fix: "write it as wss://relay.example.org", Err: err}
	}
	if u.Scheme == "ws" && !cfg.Plain && !frame.Loopback(u) {
		return nil, &problem.Error{
			Code: "RELAY-PLAIN", What: "the connection to the relay would not be encrypted", Where: u.Redacted(),
			Fix: "use wss://, or allow it explicitly: messages stay encrypted, but anybody between sees who writes to whom",
		}
	}
	cfg.Timing = cfg.Timing.withDefaults()
	return &Client{cfg: cfg, url: u, host: frame.Host(u)}, nil
}

// Run connects, and connects again, until ctx ends; then it returns nil. A
// relay that refuses the device before it ever let it in ends it too, with a
// *problem.Error of code RELAY-REJECTED. Run may be called once.
func (c *Client) Run(ctx context.Context) error {
	b := backoff{timing: c.cfg.Timing}
	for welcomed := false; ctx.Err() == nil; {
		l, err := c.connect(ctx)
		if err == nil {
			welcomed = true
			begin := time.Now()
			c.setConn(l)
			c.notifyStatus(Status{Connected: true})
			err = l.run(ctx)
			c.setConn(nil)
			b.onDisconnect(time.Since(begin))
		}
		if ctx.Err() != nil {
			break
		}
		if isPermanent(err) && !welcomed {
			return err
		}
		wait := b.next(err)
		c.notifyStatus(Status{Err: err, Retry: wait, Health: healthOf(l)})
		if !sleep(ctx, wait) {
			break
		}
	}
	return nil
}

// Send passes a payload of up to frame.MaxPayload bytes to the relay. It waits
// while the relay does not take what was sent before, but not for a
// connection: without one, or when it ends, it returns ErrOffline. nil means
// that the payload is under way, not that anybody got it. The payload is
// copied.
func (c *Client) Send(ctx context.Context, to frame.ID, payload []byte) error {
	l := c.current()
	if l == nil {
		return ErrOffline
	}
	b, err := frame.Append(make([]byte, 0, 1+len(to)+len(payload)), frame.Send{To: to, Payload: payload})
	if err != nil {
		return err
	}
	return l.enqueue(ctx, b)
}

// Allow lets only these devices send to this one, from now on and after each
// login to come. Without a connection it returns ErrOffline, and is in effect
// from the next login on.
func (c *Client) Allow(ctx context.Context, ids []frame.ID) error {
	b, err := frame.Append(nil, frame.Allow{Devices: ids})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.allowlist, c.hasAllowlist = append([]frame.ID(nil), ids...), true
	l := c.conn
	c.mu.Unlock()
	if l == nil {
		return ErrOffline
	}
	return l.enqueue(ctx, b)
}

func (c *Client) current() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// setConn makes l the connection. What Allow has said goes first.
func (c *Client) setConn(l *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = l
	if l == nil || !c.hasAllowlist {
		return
	}
	if b, err := frame.Append(nil, frame.Allow{Devices: c.allowlist}); err == nil { // Allow has checked it
		l.out <- b // it has room: nobody else knows it yet
	}
}

func (c *Client) notifyStatus(s Status) {
	if c.cfg.Changed != nil {
		c.cfg.Changed(s)
	}
}

// proxy is the proxy of the environment. Loopback addresses have none.
var proxy = http.ProxyFromEnvironment

// buffers are shared by all connections: one holds a whole frame, so that it
// leaves in one piece.
var buffers sync.Pool

const bufferSize = frame.MaxFrame + 256

// connect dials and logs in.
func (c *Client) connect(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timing.Handshake)
	defer cancel()
	d := websocket.Dialer{
		Proxy: proxy, TLSClientConfig: c.cfg.TLS, ReadBufferSize: 4 << 10, WriteBufferSize: bufferSize, WriteBufferPool: &buffers,
		Subprotocols: []string{frame.Subprotocol},
	}
	if c.cfg.Dial != nil {
		d.NetDialContext = func(ctx context.Context, _, addr string) (net.Conn, error) { return c.cfg.Dial(ctx, addr) }
		d.Proxy = nil
	}
	ws, res, err := d.DialContext(ctx, c.url.String(), nil)
	if err != nil {
		return nil, c.connectError(res, err)
	}
	stop := context.AfterFunc(ctx, func() { ws.Close() })
	l, err := c.login(ws)
	if !stop() || err != nil {
		ws.Close()
		return nil, errors.Join(err, context.Cause(ctx))
	}
	return l, nil
}

func (c *Client) connectError(res *http.Response, err error) error {
	what := "the relay cannot be reached"
	if res != nil {
		what = fmt.Sprintf("what answers there is no relay (HTTP status %d)", res.StatusCode)
	}
	return &problem.Error{Code: "RELAY-CONNECT", What: what, Where: c.url.String(), Fix: "see that `moot relay` runs there, and that a proxy passes WebSocket on", Err: err}
}

// login waits for HELLO, answers it, and waits for WELCOME.
func (c *Client) login(ws *websocket.Conn) (*conn, error) {
	ws.SetReadLimit(frame.MaxFrame)
	f, err := receive(ws)
	if errors.Is(err, frame.ErrVersion) {
		return nil, c.loginError(frame.Reject{Code: frame.RejectVersion})
	}
	if err != nil {
		return nil, err
	}
	hello, ok := f.(frame.Hello)
	if !ok {
		return nil, c.loginError(f)
	}
	binding, err := exporter(ws, hello.Limits.Binding)
	if err != nil {
		return nil, err
	}
	login := frame.Login{Device: c.cfg.Device, Signature: c.cfg.Signer.SignLogin(c.host, hello.Challenge, binding), Token: []byte(c.cfg.Token)}
	if err := transmit(ws, login, c.cfg.Timing.Write); err != nil {
		return nil, err
	}
	if f, err = receive(ws); err != nil {
		return nil, err
	}
	welcome, ok := f.(frame.Welcome)
	if !ok {
		return nil, c.loginError(f)
	}
	return newConn(&c.cfg, ws, welcome.Limits), nil
}

// loginError makes an error of what came instead of what was wanted.
func (c *Client) loginError(f frame.Frame) error {
	r, ok := f.(frame.Reject)
	if !ok {
		return fmt.Errorf("%w: %T before the login", errProtocol, f)
	}
	e := &Rejected{r.Code, time.Duration(r.RetryAfterMS) * time.Millisecond}
	fix := map[frame.RejectCode]string{
		frame.RejectAuth:    "use the URL that the relay's --host names; it has " + c.host + " in it now",
		frame.RejectToken:   "ask who runs the relay for its token, or to allow this device",
		frame.RejectVersion: "use the release of moot that the relay runs",
	}[r.Code]
	if fix == "" {
		fix = "it is tried again by itself"
	}
	return &problem.Error{Code: "RELAY-REJECTED", What: e.Error(), Where: c.url.String(), Fix: fix, Kind: e}
}

// exporter returns what binds the login to this TLS connection when the relay
// asks for it.
func exporter(ws *websocket.Conn, binding string) ([]byte, error) {
	if binding == "" {
		return nil, nil
	}
	t, ok := ws.NetConn().(*tls.Conn)
	if !ok {
		return nil, fmt.Errorf("%w: TLS wanted where there is none", errProtocol)
	}
	state := t.ConnectionState()
	return state.ExportKeyingMaterial(frame.ExporterLabel, nil, frame.ExporterSize)
}
