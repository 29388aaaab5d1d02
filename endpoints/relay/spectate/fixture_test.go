package spectate

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/room"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fakeRoom is a Room without a coordinator.
type fakeRoom struct {
	*relaytest.Room
	sayErr error // of Say
}

func newFakeRoom(id string, observers ...room.Observer) *fakeRoom {
	return &fakeRoom{Room: relaytest.NewRoom(id, observers...)}
}

func (p *fakeRoom) Say(_ context.Context, g Spectator, id, text string) error {
	again := p.Said(id)
	if p.sayErr != nil || again {
		return p.sayErr
	}
	p.PostAs(g.Name, text)
	return nil
}

// A testHost is a device with a server.
type testHost struct {
	t      testing.TB
	hub    *relaytest.Hub
	id     identity.DeviceID
	server *Server
	stop   func()
	quota  *quota.Quota

	mu      sync.Mutex
	peers   map[identity.DeviceID]identity.Peer
	audited []AuditEntry
}

func newTestHost(t testing.TB) *testHost {
	t.Helper()
	h := &testHost{t: t, hub: relaytest.NewHub(), id: relaytest.NewID(t), quota: newQuota(t), peers: map[identity.DeviceID]identity.Peer{}}
	h.start()
	return h
}

// start starts the host.
func (h *testHost) start() {
	h.t.Helper()
	h.server = NewServer(ServerConfig{Peer: h.peer, Quota: h.quota, Audit: func(a AuditEntry) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.audited = append(h.audited, a)
		return nil
	}})
	d := relay.NewDispatcher(h.id, h.hub.Connect(h.id), nil)
	d.Handle(h.server)
	h.stop = run(h.t, d)
}

func (h *testHost) peer(id identity.DeviceID) (identity.Peer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.peers[id]
	if !ok {
		return p, identity.ErrNoPeer
	}
	return p, nil
}

// pair makes a device a peer. Each edit may change the peer first.
func (h *testHost) pair(id identity.DeviceID, name string, grant identity.Grant, edit ...func(*identity.Peer)) {
	p := identity.Peer{ID: id, Name: name, Grant: grant}
	for _, f := range edit {
		f(&p)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.peers[id] = p
}

// A viewer is a device that watches or tries to.
type viewer struct {
	host    *testHost
	id      identity.DeviceID
	client  *Client
	seen    []room.Event
	opening []room.Event
	shown   func(Snapshot) error // called first; may be nil
	ended   chan error
	stop    func()
	cancel  func() // ends Run
}

func (h *testHost) viewer(name string, grant identity.Grant, edit ...func(*identity.Peer)) *viewer {
	h.t.Helper()
	v := &viewer{host: h, id: relaytest.NewID(h.t)}
	h.pair(v.id, name, grant, edit...)
	return v
}

// watch starts a client.
func (v *viewer) watch(cfg ClientConfig) {
	v.host.t.Helper()
	cfg.Host = v.host.id
	cfg.Show = func(s Snapshot) error {
		if v.shown != nil {
			if err := v.shown(s); err != nil {
				return err
			}
		}
		v.opening = append(v.opening, s.Opening...)
		v.seen = append(v.seen, s.Events...)
		return nil
	}
	v.client = NewClient(cfg)
	d := relay.NewDispatcher(v.id, v.host.hub.Connect(v.id), nil)
	d.Handle(v.client)
	v.stop = run(v.host.t, d)
	v.ended = make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	v.cancel = cancel
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.ended <- v.client.Run(ctx)
	}()
	v.host.t.Cleanup(func() { cancel(); <-done })
}

// exchange sends the host an envelope and returns the first answer.
func (v *viewer) exchange(e envelope.Envelope) (envelope.Envelope, error) {
	v.host.t.Helper()
	b, err := envelope.Encode(e)
	if err != nil {
		v.host.t.Fatal(err)
	}
	link := v.host.hub.Connect(v.id)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := link.Send(ctx, v.host.id, b); err != nil {
		return e, err
	}
	in, err := link.Next(ctx)
	if err != nil {
		return envelope.Envelope{}, err
	}
	d, _ := in.Event.(session.Delivered)
	return envelope.Decode(d.Message)
}

func newQuota(t testing.TB) *quota.Quota {
	t.Helper()
	q, err := quota.Open(filepath.Join(t.TempDir(), "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// run runs a dispatcher until stop is called or the test ends.
func run(t testing.TB, d *relay.Dispatcher) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := d.Run(ctx); err != nil {
			t.Errorf("running a dispatcher: %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	<-d.Ready() // before that it sends nothing
	return stop
}
