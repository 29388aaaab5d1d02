package server

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// access says who may log in.
type access struct {
	open    bool
	devices []frame.ID
	tokens  [][sha256.Size]byte // hashed, so that comparing takes the same time for any length
}

func newAccess(cfg Config) access {
	a := access{open: cfg.Open, devices: cfg.Devices}
	for _, t := range cfg.Tokens {
		a.tokens = append(a.tokens, sha256.Sum256([]byte(t)))
	}
	return a
}

// admits reports whether a device may log in with a token. How long it takes
// does not depend on what is right.
func (a access) admits(id frame.ID, token []byte) bool {
	ok := 0
	if a.open {
		ok = 1
	}
	for i := range a.devices {
		ok |= subtle.ConstantTimeCompare(a.devices[i][:], id[:])
	}
	sum := sha256.Sum256(token)
	for i := range a.tokens {
		ok |= subtle.ConstantTimeCompare(a.tokens[i][:], sum[:])
	}
	return ok == 1
}

// login greets the endpoint and checks its answer. It reports whether the
// connection has a device now.
func (c *conn) login() bool {
	if code, retry := c.s.addresses.acquire(c.limitAddress); code != 0 {
		return c.reject(code, retry)
	}
	c.counted = true
	hello := frame.Hello{Version: frame.Version, Limits: c.s.limits.announce(c.bindingName())}
	if _, err := rand.Read(hello.Challenge[:]); err != nil {
		return false // crypto/rand never fails
	}
	c.ws.SetReadLimit(frame.MaxLogin)
	_ = c.ws.SetReadDeadline(c.since.Add(c.s.limits.LoginTimeout)) // a dead connection fails when it is read
	if c.writeNow(hello) != nil {
		return c.fail(reasonLost)
	}
	typ, b, err := c.ws.ReadMessage()
	if err != nil {
		return c.fail(reasonNoLogin)
	}
	f, err := frame.Decode(b)
	l, ok := f.(frame.Login)
	if err != nil || !ok || typ != websocket.BinaryMessage {
		return c.fail(reasonProtocol)
	}
	if !c.signed(hello, l) {
		return c.reject(frame.RejectAuth, 0)
	}
	if !c.s.access.admits(l.Device, l.Token) {
		return c.reject(frame.RejectToken, 0)
	}
	c.id = l.Device
	return true
}

// signed checks the signature for each of the relay's names.
func (c *conn) signed(h frame.Hello, l frame.Login) bool {
	for _, host := range c.s.cfg.Hosts {
		if ed25519.Verify(l.Device[:], frame.LoginMessage(host, h.Challenge[:], c.binding), l.Signature[:]) {
			return true
		}
	}
	return false
}

func (c *conn) bindingName() string {
	if c.binding != nil {
		return frame.BindingExporter
	}
	return ""
}

// reject says why nobody is let in, and waits a moment for the endpoint to
// have read it: closing at once could take it away again.
func (c *conn) reject(code frame.RejectCode, retry time.Duration) bool {
	c.s.metrics.rejects[code].Inc()
	if c.writeNow(frame.Reject{Code: code, RetryAfterMS: uint32(retry.Milliseconds())}) == nil {
		c.linger(websocket.ClosePolicyViolation)
	}
	return c.fail("rejected: " + code.String())
}

// writeNow writes before there is a writer.
func (c *conn) writeNow(f frame.Frame) error {
	b, err := frame.Append(nil, f)
	if err != nil {
		return err
	}
	_ = c.ws.SetWriteDeadline(time.Now().Add(c.s.limits.WriteTimeout)) // a dead connection fails when it is written
	return c.ws.WriteMessage(websocket.BinaryMessage, b)
}

// lingerTime is how long an endpoint has to close from its side.
const lingerTime = time.Second

// linger closes from this side and reads on until the other has closed too.
func (c *conn) linger(code int) {
	deadline := time.Now().Add(lingerTime)
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), deadline)
	_ = c.ws.SetReadDeadline(deadline)
	for {
		if _, _, err := c.ws.NextReader(); err != nil {
			return
		}
	}
}
