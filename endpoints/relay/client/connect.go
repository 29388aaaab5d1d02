package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/problem"
)

// A Rejected error says that the relay refused the login.
type Rejected struct {
	Code  frame.RejectCode
	Retry time.Duration // 0: trying again will not help by itself
}

func (e *Rejected) Error() string { return "the relay refused the login: " + e.Code.String() }

// buffers are shared by all connections: one holds a whole frame, so that it
// leaves in one piece.
var buffers sync.Pool

const bufferSize = frame.MaxFrame + 256

// connect dials and logs in.
func (c *Client) connect(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.Handshake)
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
		return nil, c.unreachable(res, err)
	}
	stop := context.AfterFunc(ctx, func() { ws.Close() })
	l, err := c.login(ws)
	if !stop() || err != nil {
		ws.Close()
		return nil, errors.Join(err, context.Cause(ctx))
	}
	return l, nil
}

func (c *Client) unreachable(res *http.Response, err error) error {
	what := "the relay cannot be reached"
	if res != nil {
		what = fmt.Sprintf("what answers there is no relay (HTTP status %d)", res.StatusCode)
	}
	return &problem.Error{Code: "RELAY-CONNECT", What: what, Where: c.url.String(), Fix: "see that `moot relay` runs there, and that a proxy passes WebSocket on", Err: err}
}

// login waits for HELLO, answers it, and waits for WELCOME.
func (c *Client) login(ws *websocket.Conn) (*link, error) {
	ws.SetReadLimit(frame.MaxFrame)
	f, err := receive(ws)
	if errors.Is(err, frame.ErrVersion) {
		return nil, c.refused(frame.Reject{Code: frame.RejectVersion})
	}
	if err != nil {
		return nil, err
	}
	hello, ok := f.(frame.Hello)
	if !ok {
		return nil, c.refused(f)
	}
	binding, err := exporter(ws, hello.Limits.Binding)
	if err != nil {
		return nil, err
	}
	login := frame.Login{Device: c.cfg.Device, Signature: c.cfg.Signer.SignLogin(c.host, hello.Challenge, binding), Token: []byte(c.cfg.Token)}
	if err := transmit(ws, login, c.timing.Write); err != nil {
		return nil, err
	}
	if f, err = receive(ws); err != nil {
		return nil, err
	}
	welcome, ok := f.(frame.Welcome)
	if !ok {
		return nil, c.refused(f)
	}
	return newLink(c, ws, welcome.Limits), nil
}

// refused makes an error of what came instead of what was wanted.
func (c *Client) refused(f frame.Frame) error {
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

// final reports whether an error will be there the next time too.
func final(err error) bool {
	var r *Rejected
	return errors.As(err, &r) && (r.Code == frame.RejectAuth || r.Code == frame.RejectToken || r.Code == frame.RejectVersion)
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
