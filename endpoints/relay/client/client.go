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

// A Client is one device's connection to one relay. All methods are safe for
// concurrent use.
type Client struct {
	cfg  Config
	url  *url.URL
	host string

	retry chan struct{} // ends the wait before the next attempt

	mu       sync.Mutex
	conn     *conn
	replaced bool // a newer login has ended the last connection
}

// New returns a client. Errors are *problem.Error with code RELAY-URL or
// RELAY-PLAIN.
func New(cfg Config) (*Client, error) {
	u, err := frame.ParseURL(cfg.URL)
	if err != nil {
		return nil, &problem.Error{Code: "RELAY-URL", What: "not the URL of a relay", Fix: "write it as wss://relay.example.org", Err: err}
	}
	if u.Scheme == "ws" && !cfg.Plain && !frame.Loopback(u) {
		return nil, &problem.Error{
			Code: "RELAY-PLAIN", What: "the connection to the relay would not be encrypted", Where: u.Redacted(),
			Fix: "use wss://, or allow it explicitly: messages stay encrypted, but anyone on the network sees which devices exchange them",
		}
	}
	cfg.Timing = cfg.Timing.withDefaults()
	return &Client{cfg: cfg, url: u, host: frame.Host(u), retry: make(chan struct{}, 1)}, nil
}

// Run connects and reconnects until ctx ends; then it returns nil. If the relay
// refuses the first login permanently, Run returns a *problem.Error with code
// RELAY-REJECTED. Call Run once.
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
		c.setReplaced(errors.Is(err, ErrReplaced))
		c.notifyStatus(Status{Err: err, Retry: wait, Health: healthOf(l)})
		if !c.sleep(ctx, wait) {
			break
		}
	}
	return nil
}

// sleep waits for d or until Reclaim ends the wait. It reports false if ctx ended first.
func (c *Client) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.retry:
	case <-ctx.Done():
		return false
	}
	return true
}

// setReplaced notes how the last connection or login ended, before the wait for the next one.
func (c *Client) setReplaced(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replaced = on
	select {
	case <-c.retry: // it was for an earlier wait
	default:
	}
}

// Reclaim connects at once if a newer login of the device has ended the last connection. The
// caller has reason to believe that the process that logged in has ended.
func (c *Client) Reclaim() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.replaced {
		return
	}
	select {
	case c.retry <- struct{}{}:
	default:
	}
}

// Send passes a payload of up to frame.MaxPayload bytes to the relay. It blocks
// while the send queue is full. Without a connection it returns ErrOffline. nil
// means that the payload is queued, not that it arrives. The payload is copied.
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

func (c *Client) current() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

func (c *Client) setConn(l *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = l
}

func (c *Client) notifyStatus(s Status) {
	if c.cfg.Changed != nil {
		c.cfg.Changed(s)
	}
}

// proxy returns the proxy of the environment. Loopback addresses have none.
var proxy = http.ProxyFromEnvironment

// buffers are shared write buffers. Each holds a whole frame, so that a frame
// is one write.
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
		what = fmt.Sprintf("the server at this address is not a relay (HTTP status %d)", res.StatusCode)
	}
	return &problem.Error{Code: "RELAY-CONNECT", What: what, Where: c.url.String(), Fix: "check that `moot relay` runs there and that proxies forward WebSocket", Err: err}
}

// login answers HELLO with LOGIN and waits for WELCOME.
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

// loginError returns the error for an unexpected frame during the login.
func (c *Client) loginError(f frame.Frame) error {
	r, ok := f.(frame.Reject)
	if !ok {
		return fmt.Errorf("%w: %T before the login", errProtocol, f)
	}
	e := &Rejected{r.Code, time.Duration(r.RetryAfterMS) * time.Millisecond}
	fix := map[frame.RejectCode]string{
		frame.RejectAuth:    "use the URL that the relay's --host names; the URL in use names " + c.host,
		frame.RejectToken:   "ask the operator of the relay for its token, or to allow this device",
		frame.RejectVersion: "use the release of moot that the relay runs",
	}[r.Code]
	if fix == "" {
		fix = "moot tries again automatically"
	}
	return &problem.Error{Code: "RELAY-REJECTED", What: e.Error(), Where: c.url.String(), Fix: fix, Kind: e}
}

// exporter returns the bytes that bind the login to this TLS connection, if the
// relay requires it.
func exporter(ws *websocket.Conn, binding string) ([]byte, error) {
	if binding == "" {
		return nil, nil
	}
	t, ok := ws.NetConn().(*tls.Conn)
	if !ok {
		return nil, fmt.Errorf("%w: the relay requires TLS binding on a connection without TLS", errProtocol)
	}
	state := t.ConnectionState()
	return state.ExportKeyingMaterial(frame.ExporterLabel, nil, frame.ExporterSize)
}
