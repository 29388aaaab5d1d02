package server_test

import (
	"crypto/ed25519"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

const token = "a token of sufficient length"

func TestAccess(t *testing.T) {
	known := newKey(t)
	for _, c := range []struct {
		name  string
		cfg   server.Config
		known bool
		token string
		ok    bool
	}{
		{"open", server.Config{Open: true}, false, "", true},
		{"token", server.Config{Tokens: []string{"another one of the same kind", token}}, false, token, true},
		{"no token", server.Config{Tokens: []string{token}}, false, "", false},
		{"beginning of a token", server.Config{Tokens: []string{token}}, false, token[:16], false},
		{"more than a token", server.Config{Tokens: []string{token}}, false, token + "x", false},
		{"listed", server.Config{Devices: []frame.ID{idOf(known)}}, true, "", true},
		{"not listed", server.Config{Devices: []frame.ID{idOf(known)}}, false, "", false},
		{"not listed, with the token", server.Config{Devices: []frame.ID{idOf(known)}, Tokens: []string{token}}, false, token, true},
		{"listed, with a wrong token", server.Config{Devices: []frame.ID{idOf(known)}, Tokens: []string{token}}, true, "wrong", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, loopback(t), c.cfg)
			e := r.dialHello()
			if c.known {
				e.key = known
			}
			e.send(e.loginFrame(r.host, c.token))
			if c.ok {
				want[frame.Welcome](e)
				return
			}
			if got := want[frame.Reject](e); got.Code != frame.RejectToken || got.RetryAfterMS != 0 {
				t.Errorf("%+v", got)
			}
			e.expectClose(websocket.ClosePolicyViolation)
		})
	}
}

// TestLoginIsBound: a login is valid for one device, one relay and one
// connection.
func TestLoginIsBound(t *testing.T) {
	r := start(t, loopback(t), server.Config{Open: true})
	seen := r.dialHello()
	old := seen.loginFrame(r.host, "")
	seen.send(old)
	want[frame.Welcome](seen)
	for name, login := range map[string]func(e *endpoint) frame.Login{
		"replayed": func(*endpoint) frame.Login { return old },
		"of another relay": func(e *endpoint) frame.Login {
			return e.loginFrame("relay.example.org", "")
		},
		"of a name that begins so": func(e *endpoint) frame.Login { return e.loginFrame(r.host[:len(r.host)-1], "") },
		"in the name of another device": func(e *endpoint) frame.Login {
			l := e.loginFrame(r.host, "")
			l.Device = seen.id()
			return l
		},
		"without a signature": func(e *endpoint) frame.Login { return frame.Login{Device: e.id()} },
		"bound to a TLS connection that there is not": func(e *endpoint) frame.Login {
			d, err := identity.Generate(time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return frame.Login{Device: frame.ID(d.ID()), Signature: d.SignLogin(r.host, e.hello.Challenge, make([]byte, 32))}
		},
	} {
		e := r.dialHello()
		e.send(login(e))
		f, err := e.next()
		if got, ok := f.(frame.Reject); !ok || got.Code != frame.RejectAuth {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	if a, b := r.dialHello(), r.dialHello(); a.hello.Challenge == b.hello.Challenge {
		t.Error("the same challenge twice")
	}
	seen.sendTo(seen, "still here") // the connection was not replaced
	seen.expectFrom(seen, "still here")
}

// TestIdentityLogsIn: the relay accepts a login signed by package identity.
func TestIdentityLogsIn(t *testing.T) {
	r := start(t, loopback(t), server.Config{Open: true})
	d, err := identity.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	e := r.dialHello()
	e.send(frame.Login{Device: frame.ID(d.ID()), Signature: d.SignLogin(r.host, e.hello.Challenge, nil)})
	want[frame.Welcome](e)
}

// TestNoLogin: anything but a LOGIN ends the connection.
func TestNoLogin(t *testing.T) {
	r := start(t, loopback(t), server.Config{Open: true, Limits: server.Limits{LoginBurst: 1000}})
	there := r.login()
	for name, say := range map[string]func(e *endpoint) error{
		"a frame before the login": func(e *endpoint) error { return e.trySend(frame.Send{To: there.id()}) },
		"nonsense":                 func(e *endpoint) error { return e.WriteMessage(websocket.BinaryMessage, []byte("hello?")) },
		"text":                     func(e *endpoint) error { return e.WriteMessage(websocket.TextMessage, []byte("hello?")) },
		"nothing":                  func(e *endpoint) error { return e.WriteMessage(websocket.BinaryMessage, nil) },
		"too much":                 func(e *endpoint) error { return e.WriteMessage(websocket.BinaryMessage, make([]byte, 4096)) },
		"too much in pings": func(e *endpoint) error {
			for range 100 {
				if err := e.WriteControl(websocket.PingMessage, make([]byte, 120), time.Now().Add(time.Second)); err != nil {
					return nil // the relay closes the connection, as it should
				}
			}
			return nil
		},
	} {
		e := r.dialHello()
		if err := say(e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if f, err := e.next(); err == nil {
			t.Errorf("%s: answered with %+v", name, f)
		}
	}
	there.sendTo(there, "nothing else came") // frames before a login were not forwarded
	there.expectFrom(there, "nothing else came")
}

// TestLoginTimeout: a connection without a login ends after LoginTimeout.
func TestLoginTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true})
		begin := time.Now()
		e := r.dialHello()
		if f, err := e.next(); err == nil {
			t.Errorf("%+v", f)
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("after %v", took)
		}
		r.stop()
	})
}

// TestFailedLogins: an address may fail twenty times at once and ten times a
// minute. Then tokens are not looked at, but devices that were here lately, and
// those that need no token, are let in from the same address.
func TestFailedLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listed := newKey(t)
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Tokens: []string{token}, Devices: []frame.ID{idOf(listed)}})
		try := func(key ed25519.PrivateKey, token string) *endpoint {
			e := r.dialHello()
			e.key = key
			e.send(e.loginFrame(r.host, token))
			return e
		}
		known := newKey(t)
		want[frame.Welcome](try(known, token))
		for range 20 {
			if got := want[frame.Reject](try(newKey(t), "wrong")); got.Code != frame.RejectToken {
				t.Fatalf("%+v", got)
			}
		}
		var got frame.Reject
		for _, guess := range []string{"wrong", token} { // a correct guess is not told from a wrong one
			got = want[frame.Reject](try(newKey(t), guess))
			if got.Code != frame.RejectTooMany || got.RetryAfterMS == 0 || got.RetryAfterMS > 6000 {
				t.Fatalf("%+v", got)
			}
		}
		want[frame.Welcome](try(known, token))
		want[frame.Welcome](try(listed, ""))
		time.Sleep(time.Duration(got.RetryAfterMS+1) * time.Millisecond) // in synctest time
		want[frame.Welcome](try(newKey(t), token))
		r.stop()
	})
}

// TestLoginsAreFree: logins that succeed are not limited.
func TestLoginsAreFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, memory(relaytest.NewNetwork()), server.Config{Open: true})
		for range 60 {
			r.login()
		}
		if n := r.count(`moot_relay_rejects_total{code="too_many"}`); n != 0 {
			t.Errorf("%d logins were rejected", n)
		}
		r.stop()
	})
}

// TestDuplicateLogin: the newest login of a device replaces the older
// connection, which is told. Other devices are not notified.
func TestDuplicateLogin(t *testing.T) {
	r := start(t, loopback(t), server.Config{Open: true})
	key, peer := newKey(t), r.login()
	old := r.loginAs(key)
	peer.sendTo(old, "to the first")
	old.expectFrom(peer, "to the first")
	now := r.loginAs(key)
	if h := want[frame.Health](old); h.Text != "replaced by a newer login" {
		t.Error(h.Text)
	}
	old.expectClose(frame.CloseReplaced)
	peer.sendTo(now, "to the second")
	now.expectFrom(peer, "to the second")
	now.Close()
	peer.expectGone(now, frame.GoneDisconnected)
	peer.sendTo(now, "after the end")
	peer.expectGone(now, frame.GoneNotHere)
}
