package server_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

func TestMain(m *testing.M) {
	if os.Getenv(benchRelay) != "" {
		serveBenchmark()
		return
	}
	goleak.VerifyTestMain(m)
}

// A network is the place where a relay listens and endpoints dial.
type network struct {
	host   string
	listen func() (net.Listener, error)
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	more   func() network // another one, for another relay of a group
	memory bool
}

// loopback returns a real network. memory returns one that works under
// synctest.
func loopback(t testing.TB) network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
	}
	return network{host: l.Addr().String(), listen: func() (net.Listener, error) { return l, nil }, dial: dial, more: func() network { return loopback(t) }}
}

func memory(n *relaytest.Network) network {
	return network{
		host: relaytest.Host, listen: func() (net.Listener, error) { return n.Listen(), nil },
		dial: func(ctx context.Context, _, addr string) (net.Conn, error) { return n.Dial(ctx, addr) },
		more: func() network { return memory(relaytest.NewNetwork()) }, memory: true,
	}
}

// A relay is a server under test, or a group of them.
type relay struct {
	network
	t      testing.TB
	server *server.Server
	stop   func() // shuts the relays down and waits

	group  []*relay // all of them; nil without others
	dialed *int     // how often the group was dialed
}

// start starts a relay, or as many as inGroups says. All of them have the name of
// the first.
func start(t testing.TB, n network, cfg server.Config) *relay {
	t.Helper()
	if cfg.Hosts == nil {
		cfg.Hosts = []string{n.host}
	}
	if groups == nil {
		return startOne(t, n, cfg)
	}
	join := groups.join(t, n.memory)
	first := n.host
	all := make([]*relay, groups.size)
	for i := range all {
		if i > 0 {
			n = n.more()
			n.host = first
		}
		cfg.Bus = join()
		all[i] = startOne(t, n, cfg)
	}
	r := *all[0]
	r.group, r.dialed = all, new(int)
	r.stop = func() {
		var stopped sync.WaitGroup
		for _, one := range all {
			stopped.Go(one.stop)
		}
		stopped.Wait()
	}
	return &r
}

func startOne(t testing.TB, n network, cfg server.Config) *relay {
	t.Helper()
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := n.listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	r := &relay{network: n, t: t, server: s}
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

func newKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func idOf(key ed25519.PrivateKey) frame.ID { return frame.ID(key.Public().(ed25519.PublicKey)) }

// An endpoint sends raw frames, so that tests can also break the protocol.
type endpoint struct {
	*websocket.Conn
	t     testing.TB
	key   ed25519.PrivateKey
	hello frame.Hello
}

func (e *endpoint) id() frame.ID { return idOf(e.key) }

// dial connects without logging in.
func (r *relay) dial() *endpoint {
	r.t.Helper()
	if r.group != nil { // each in turn
		one := r.group[*r.dialed%len(r.group)]
		*r.dialed++
		return one.dial()
	}
	d := websocket.Dialer{NetDialContext: r.network.dial, Subprotocols: []string{frame.Subprotocol}}
	ws, _, err := d.Dial("ws://"+r.host+"/", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { ws.Close() })
	if err := ws.SetReadDeadline(time.Now().Add(2 * time.Hour)); err != nil { // so that a failure under synctest does not hang
		r.t.Fatal(err)
	}
	return &endpoint{Conn: ws, t: r.t, key: newKey(r.t)}
}

// dialHello connects and reads HELLO.
func (r *relay) dialHello() *endpoint {
	r.t.Helper()
	e := r.dial()
	e.hello = want[frame.Hello](e)
	return e
}

// login logs in a new device.
func (r *relay) login() *endpoint { return r.loginAs(newKey(r.t)) }

func (r *relay) loginAs(key ed25519.PrivateKey) *endpoint {
	r.t.Helper()
	e := r.dialHello()
	e.key = key
	e.send(e.loginFrame(r.host, ""))
	want[frame.Welcome](e)
	return e
}

// loginFrame returns the correct answer to HELLO.
func (e *endpoint) loginFrame(host, token string) frame.Login {
	sig := ed25519.Sign(e.key, frame.LoginMessage(host, e.hello.Challenge[:], nil))
	return frame.Login{Device: e.id(), Signature: [64]byte(sig), Token: []byte(token)}
}

func (e *endpoint) send(f frame.Frame) {
	e.t.Helper()
	if err := e.trySend(f); err != nil {
		e.t.Fatal(err)
	}
}

func (e *endpoint) trySend(f frame.Frame) error {
	b, err := frame.Append(nil, f)
	if err != nil {
		return err
	}
	return e.WriteMessage(websocket.BinaryMessage, b)
}

func (e *endpoint) sendTo(to *endpoint, payload string) {
	e.t.Helper()
	e.send(frame.Send{To: to.id(), Payload: []byte(payload)})
}

// next reads a frame or returns the error.
func (e *endpoint) next() (frame.Frame, error) {
	_, b, err := e.ReadMessage()
	if err != nil {
		return nil, err
	}
	return frame.Decode(b)
}

// want reads a frame and requires type F.
func want[F frame.Frame](e *endpoint) F {
	e.t.Helper()
	f, err := e.next()
	if err != nil {
		e.t.Fatalf("%v instead of a frame", err)
	}
	got, ok := f.(F)
	if !ok {
		e.t.Fatalf("%T %+v", f, f)
	}
	return got
}

// expectFrom requires a payload from an endpoint.
func (e *endpoint) expectFrom(from *endpoint, payload string) {
	e.t.Helper()
	if r := want[frame.Recv](e); r.From != from.id() || string(r.Payload) != payload {
		e.t.Errorf("received %q from %x", r.Payload, r.From)
	}
}

// expectGone requires a GONE frame.
func (e *endpoint) expectGone(to *endpoint, why frame.GoneReason) {
	e.t.Helper()
	if g := want[frame.Gone](e); g.To != to.id() || g.Reason != why {
		e.t.Errorf("%x is gone: %s, want %s", g.To, g.Reason, why)
	}
}

// expectClose requires the connection to end with a close code.
func (e *endpoint) expectClose(code int) {
	e.t.Helper()
	_, err := e.next()
	var closed *websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != code {
		e.t.Errorf("ends with %v, want code %d", err, code)
	}
}

func TestPasses(t *testing.T) {
	r := start(t, loopback(t), server.Config{Open: true})
	a, b := r.login(), r.login()
	a.sendTo(b, "one")
	a.sendTo(b, "two")
	b.expectFrom(a, "one")
	b.expectFrom(a, "two")
	b.sendTo(a, "")
	a.expectFrom(b, "")
	big := string(make([]byte, frame.MaxPayload))
	a.sendTo(b, big)
	b.expectFrom(a, big)
	a.sendTo(a, "myself")
	a.expectFrom(a, "myself")
	a.send(frame.Send{To: idOf(newKey(t)), Payload: []byte("to an unknown device")})
	if g := want[frame.Gone](a); g.Reason != frame.GoneNotHere {
		t.Error(g.Reason)
	}
}

// TestOtherRequests: other HTTP requests get an error status, not a connection.
func TestOtherRequests(t *testing.T) {
	r := start(t, loopback(t), server.Config{Open: true})
	for _, c := range []struct {
		protocol string
		upgrade  bool
		origin   string
		status   int
	}{
		{"", false, "", http.StatusUpgradeRequired},
		{"", true, "", http.StatusBadRequest},
		{"chat", true, "", http.StatusBadRequest},
		{frame.Subprotocol, true, "https://evil.example", http.StatusForbidden}, // from a web page of another origin
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.host+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.upgrade {
			for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==", "Sec-WebSocket-Protocol": c.protocol, "Origin": c.origin} {
				if v != "" {
					req.Header.Set(k, v)
				}
			}
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%+v: status %d", c, res.StatusCode)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestConfig(t *testing.T) {
	hosts := []string{"relay.example.org"}
	for _, c := range []struct {
		cfg  server.Config
		want error
	}{
		{server.Config{}, server.ErrNoHost},
		{server.Config{Open: true}, server.ErrNoHost},
		{server.Config{Hosts: hosts}, server.ErrNoAccess},
		{server.Config{Hosts: hosts, Tokens: []string{"short"}}, server.ErrToken},
		{server.Config{Hosts: hosts, Tokens: []string{""}, Open: true}, server.ErrToken},
		{server.Config{Hosts: hosts, Tokens: []string{string(make([]byte, 513))}}, server.ErrToken},
		{server.Config{Hosts: hosts, Tokens: []string{"sixteen bytes ok"}}, nil},
		{server.Config{Hosts: hosts, Devices: []frame.ID{{}}}, nil},
		{server.Config{Hosts: hosts, Open: true}, nil},
	} {
		if _, err := server.New(c.cfg); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
	s, err := server.New(server.Config{Hosts: hosts, Open: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, want := range []error{nil, server.ErrServed} {
		if err := s.Serve(ctx, relaytest.NewNetwork().Listen()); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// from returns the relay as reached from another address.
func (r *relay) from(n *relaytest.Network, addr string) *relay {
	other := *r
	other.group = nil
	other.network.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return n.DialFrom(ctx, netip.MustParseAddr(addr))
	}
	return &other
}
