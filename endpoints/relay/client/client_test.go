package client_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"testing"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A device holds a key that signs logins.
type device struct{ key ed25519.PrivateKey }

func newDevice(t testing.TB) device {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return device{key}
}

func (d device) id() frame.ID { return frame.ID(d.key.Public().(ed25519.PublicKey)) }

func (d device) SignLogin(host string, challenge [32]byte, exporter []byte) [64]byte {
	return [64]byte(ed25519.Sign(d.key, frame.LoginMessage(host, challenge[:], exporter)))
}

// serve runs a relay on loopback until the test ends, and returns its URL.
func serve(t testing.TB, cfg server.Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, cfg)
	return "ws://" + l.Addr().String()
}

// serveOn runs a relay on l. stop ends the relay and waits for it.
func serveOn(t testing.TB, l net.Listener, cfg server.Config) (stop func()) {
	t.Helper()
	if cfg.Hosts == nil {
		cfg.Hosts = []string{l.Addr().String()}
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	ended := false
	stop = func() {
		cancel()
		if ended {
			return
		}
		ended = true
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// A received is a payload that arrived at an endpoint.
type received struct {
	from    frame.ID
	payload string
}

// An endpoint is a client that records its callbacks.
type endpoint struct {
	*client.Client
	device
	received chan received
	gone     chan frame.Gone
	changed  chan client.Status
	stop     func() error // ends Run and waits
	wait     func() error // waits for Run
}

// startConnected starts an endpoint and waits until it is connected.
func startConnected(t testing.TB, d device, cfg client.Config) *endpoint {
	t.Helper()
	e := start(t, d, cfg)
	e.awaitStatus(t, true)
	return e
}

func start(t testing.TB, d device, cfg client.Config) *endpoint {
	t.Helper()
	e := &endpoint{device: d, received: make(chan received, 1000), gone: make(chan frame.Gone, 1000), changed: make(chan client.Status, 1000)}
	cfg.Device, cfg.Signer = d.id(), d
	cfg.Deliver = func(from frame.ID, p []byte) { e.received <- received{from, string(p)} }
	cfg.Gone = func(to frame.ID, r frame.GoneReason) { e.gone <- frame.Gone{To: to, Reason: r} }
	cfg.Changed = func(s client.Status) { e.changed <- s }
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.Client = c
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	var ran error
	go func() { defer close(done); ran = c.Run(ctx) }()
	e.wait = func() error { <-done; return ran }
	e.stop = func() error { cancel(); return e.wait() }
	t.Cleanup(func() { _ = e.stop() })
	return e
}

// awaitStatus waits for a status with this value of Connected.
func (e *endpoint) awaitStatus(t testing.TB, connected bool) client.Status {
	t.Helper()
	for s := range e.changed {
		if s.Connected == connected {
			return s
		}
	}
	return client.Status{}
}

func (e *endpoint) send(t testing.TB, to frame.ID, payload string) {
	t.Helper()
	if err := e.Send(t.Context(), to, []byte(payload)); err != nil {
		t.Fatal(err)
	}
}

func TestExchange(t *testing.T) {
	url := serve(t, server.Config{Open: true})
	a, b := startConnected(t, newDevice(t), client.Config{URL: url}), startConnected(t, newDevice(t), client.Config{URL: url})
	a.send(t, b.id(), "hello")
	if g := <-b.received; g != (received{a.id(), "hello"}) {
		t.Errorf("%+v", g)
	}
	b.send(t, a.id(), "yes?")
	if g := <-a.received; g != (received{b.id(), "yes?"}) {
		t.Errorf("%+v", g)
	}
}
