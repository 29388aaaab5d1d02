package relay

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A hub is links without a relay: what is sent arrives at once.
type hub struct {
	mu    sync.Mutex
	boxes map[identity.DeviceID]chan session.Inbound
	news  chan struct{} // closed when a device is plugged in
	seen  [][]byte
}

func newHub() *hub {
	return &hub{boxes: map[identity.DeviceID]chan session.Inbound{}, news: make(chan struct{})}
}

type plug struct {
	hub  *hub
	self identity.DeviceID
	box  chan session.Inbound
}

// plug connects a device; one of the same id that was connected before is cut
// off.
func (h *hub) plug(id identity.DeviceID) *plug {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &plug{hub: h, self: id, box: make(chan session.Inbound, 1000)}
	h.boxes[id] = p.box
	close(h.news)
	h.news = make(chan struct{})
	return p
}

func (h *hub) cut(id identity.DeviceID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.boxes, id)
}

// Send waits for a device that is not there until ctx ends, or the device was
// started again.
func (p *plug) Send(ctx context.Context, to identity.DeviceID, b []byte) error {
	if len(b) > session.MaxMessage {
		return session.ErrTooLarge
	}
	box, news := p.hub.reach(to, b)
	if box != nil {
		box <- session.Inbound{From: p.self, Event: session.Delivered{Message: b}}
		return nil
	}
	for box == nil {
		select {
		case <-news:
			box, news = p.hub.reach(to, nil)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return session.ErrForgotten
}

func (h *hub) reach(to identity.DeviceID, b []byte) (box chan session.Inbound, news <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b != nil {
		h.seen = append(h.seen, b)
	}
	return h.boxes[to], h.news
}

func (p *plug) Next(ctx context.Context) (session.Inbound, error) {
	select {
	case in := <-p.box:
		return in, nil
	case <-ctx.Done():
		return session.Inbound{}, ctx.Err()
	}
}

func newID(t testing.TB) identity.DeviceID {
	t.Helper()
	d, err := identity.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return d.ID()
}

func newGate(t testing.TB) *Gate {
	t.Helper()
	g, err := OpenGate(filepath.Join(t.TempDir(), "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func newJournal(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// run runs a post until stop is called or the test ends.
func run(t testing.TB, p *Post) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := p.Run(ctx); err != nil {
			t.Errorf("running a post: %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	<-p.ready // before that it sends nothing
	return stop
}

// open lets a profile do what it wants with some devices.
func open(name string, with ...identity.DeviceID) Profile {
	return Profile{Name: name, Allow: true, Devices: with, MaxConcurrent: 10, PerMinute: 100_000, Burst: 10_000}
}

// An actor is an agent in the test's own process.
type actor func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)

func (a actor) Speak(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	return a(ctx, p, f)
}
func (actor) Close() error { return nil }

// A pair is a host with one remote seat, and the share behind it.
type pair struct {
	hub          *hub
	host, guest  identity.DeviceID
	hostPost     *Post
	seat         *Endpoint
	share        *Share
	asked        chan Asked
	journal      string
	stopHost     func()
	stopShare    func()
	hostProfile  Profile
	guestProfile Profile
	agent        actor
}

type changePair func(*pair)

// newPair connects the two; how may change profiles before.
func newPair(t testing.TB, agent actor, how ...changePair) *pair {
	t.Helper()
	p := &pair{hub: newHub(), host: newID(t), guest: newID(t), asked: make(chan Asked, 1000), agent: agent, journal: filepath.Join(t.TempDir(), "journal.jsonl")}
	p.hostProfile, p.guestProfile = open("mine", p.guest), open("theirs", p.host)
	for _, f := range how {
		f(p)
	}
	p.startShare(t)
	p.startHost(t)
	return p
}

func (p *pair) startHost(t testing.TB) {
	t.Helper()
	p.hostPost = NewPost(p.host, p.hub.plug(p.host), nil, nil)
	p.stopHost = run(t, p.hostPost)
	seat := New(EndpointConfig{Post: p.hostPost, Device: p.guest, Remote: "theirs", Profile: p.hostProfile, Gate: newGate(t)})
	t.Cleanup(func() { seat.Close() })
	p.seat = seat
}

func (p *pair) startShare(t testing.TB) {
	t.Helper()
	p.share = NewShare(ShareConfig{
		Self: p.guest, Journal: newJournal(t, p.journal), Gate: newGate(t), Name: func(identity.DeviceID) string { return "Ann's laptop" },
		Serve: []Served{{Profile: p.guestProfile, Candid: true, Open: func(context.Context) (Agent, error) { return p.agent, nil }}},
		Audit: func(a Asked) error { p.asked <- a; return nil },
	})
	p.stopShare = run(t, NewPost(p.guest, p.hub.plug(p.guest), p.share, nil))
}

func prompt(id, text string) endpoint.Prompt {
	return endpoint.Prompt{
		Kind: endpoint.Turn, Request: id, Room: "r_1", Epoch: 1, Turn: 1, Mode: "full_auto", You: endpoint.Seat{ID: "bob"},
		Seats:     []endpoint.Seat{{ID: "bob", Kind: "remote"}, {ID: "ann", SameOwner: true}},
		Objective: "Test.", CatchUp: []endpoint.Line{{Seq: 1, From: "ann", Text: text}}, MaxOutputChars: 1000, Timeout: 20 * time.Second,
	}
}

// a floor keeps what is raised.
type floor struct {
	mu      sync.Mutex
	signals []endpoint.Signal
	news    chan endpoint.Signal
}

func newFloor() *floor { return &floor{news: make(chan endpoint.Signal, 100)} }

func (f *floor) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signals = append(f.signals, s)
	f.news <- s
	return endpoint.Answer{Allowed: true}, nil
}

func (f *floor) Show(string) {}
