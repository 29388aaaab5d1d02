package server

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// access decides which devices may log in.
type access struct {
	open    bool
	devices []frame.ID
	tokens  [][sha256.Size]byte // hashed, so that comparing takes constant time for any length
}

func newAccess(tokens []string, devices []frame.ID, open bool) *access {
	a := &access{open: open, devices: devices}
	for _, t := range tokens {
		a.tokens = append(a.tokens, sha256.Sum256([]byte(t)))
	}
	return a
}

// admits reports whether a device may log in with the token of a hash. Its
// running time does not depend on the secrets.
func (a *access) admits(id frame.ID, token [sha256.Size]byte) bool {
	ok := 0
	if a.admitsAlone(id) {
		ok = 1
	}
	for i := range a.tokens {
		ok |= subtle.ConstantTimeCompare(a.tokens[i][:], token[:])
	}
	return ok == 1
}

// admitsAlone reports whether a device may log in without a token.
func (a *access) admitsAlone(id frame.ID) bool { return a.open || slices.Contains(a.devices, id) }

// login sends HELLO and checks the LOGIN. It reports whether a device is logged
// in.
func (c *conn) login() bool {
	hello := frame.Hello{Version: frame.Version, Limits: c.s.limits.announce(c.bindingName())}
	if _, err := rand.Read(hello.Challenge[:]); err != nil {
		return false // crypto/rand does not fail
	}
	c.ws.SetReadLimit(frame.MaxLogin)
	_ = c.ws.SetReadDeadline(c.since.Add(c.s.limits.LoginTimeout)) // a dead connection fails at the read
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
		c.s.failures.charge(c.limitAddress)
		return c.reject(frame.RejectAuth, 0)
	}
	return c.admit(l)
}

// admit checks whether a device that has proved its key may log in, and gives it
// a place. A device that was here lately, or needs no token, does not suffer
// from failed logins of others behind its address.
func (c *conn) admit(l frame.Login) bool {
	access, ip := c.s.access.Load(), c.limitAddress
	if !c.s.places.knows(l.Device) && !access.admitsAlone(l.Device) {
		if wait := c.s.failures.wait(ip); wait > 0 {
			return c.reject(frame.RejectTooMany, wait)
		}
	}
	c.id, c.token = l.Device, sha256.Sum256(l.Token)
	if !access.admits(c.id, c.token) {
		c.s.failures.charge(ip)
		return c.reject(frame.RejectToken, 0)
	}
	if !c.s.places.take(c.id, ip) {
		return c.reject(frame.RejectFull, fullRetry)
	}
	c.placed = true
	return c.halfOpen == nil || c.halfOpen.leave() || c.fail(reasonLost)
}

// fullRetry is when a device tries again that found no place.
const fullRetry = 10 * time.Second

// signed verifies the signature for each host name of the relay.
func (c *conn) signed(h frame.Hello, l frame.Login) bool {
	return slices.ContainsFunc(c.s.cfg.Hosts, func(host string) bool {
		return ed25519.Verify(l.Device[:], frame.LoginMessage(host, h.Challenge[:], c.binding), l.Signature[:])
	})
}

func (c *conn) bindingName() string {
	if c.binding != nil {
		return frame.BindingExporter
	}
	return ""
}

// reject sends REJECT. It then lingers, because closing at once could discard
// the frame before the endpoint reads it.
func (c *conn) reject(code frame.RejectCode, retry time.Duration) bool {
	c.s.metrics.rejects[code].Inc()
	if c.writeNow(frame.Reject{Code: code, RetryAfterMS: uint32(retry.Milliseconds())}) == nil {
		c.linger(websocket.ClosePolicyViolation)
	}
	return c.fail("rejected: " + code.String())
}

// writeNow writes a frame before the writer runs.
func (c *conn) writeNow(f frame.Frame) error {
	b, err := frame.Append(nil, f)
	if err != nil {
		return err
	}
	_ = c.ws.SetWriteDeadline(time.Now().Add(c.s.limits.WriteTimeout)) // a dead connection fails at the write
	return c.ws.WriteMessage(websocket.BinaryMessage, b)
}

// lingerTime is how long the relay waits for an endpoint to close.
const lingerTime = time.Second

// linger sends a close message and reads until the endpoint has closed too.
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
