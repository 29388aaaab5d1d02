package onetoone

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/seat"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/policies/alternate"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/audit"
	"github.com/folkmoot/moot/room/log/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A wire replaces the relay. It forwards payloads and records them.
type wire struct {
	mu    sync.Mutex
	links map[[32]byte]*session.Link
	seen  []sent
}

// A sent is a payload and the device that sent it.
type sent struct {
	from    [32]byte
	payload []byte
}

type plug struct {
	wire *wire
	self [32]byte
}

func (p plug) Send(_ context.Context, to [32]byte, payload []byte) error {
	p.wire.mu.Lock()
	defer p.wire.mu.Unlock()
	p.wire.seen = append(p.wire.seen, sent{p.self, payload})
	if there := p.wire.links[to]; there != nil {
		there.Deliver(p.self, payload)
	}
	return nil
}

// count returns the number of forwarded payloads of a kind, of all devices.
func (w *wire) count(kind byte) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.seen {
		if s.payload[0] == kind {
			n++
		}
	}
	return n
}

// dataOf returns the number of messages that a device has sent. A device that
// shares an agent greets the others, so its messages are no part of a room.
func (w *wire) dataOf(o *owner) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.seen {
		if s.payload[0] == kindData && s.from == o.self.ID() {
			n++
		}
	}
	return n
}

const (
	kindOpening = 3 // of payloads: a handshake's first message
	kindData    = 5
)

// An owner is a device with its data folder.
type owner struct {
	t     testing.TB
	dir   string
	name  string
	self  *identity.Device
	peers *identity.Peers
	link  *session.Link
	post  *relay.Dispatcher
	gate  *quota.Quota
	book  *audit.Log
}

func newOwner(t testing.TB, w *wire, name string) *owner {
	t.Helper()
	o := &owner{t: t, dir: t.TempDir(), name: name}
	var err error
	o.self, err = identity.Generate(time.Now())
	must(t, err)
	o.peers, err = identity.OpenPeers(filepath.Join(o.dir, "peers.json"))
	must(t, err)
	o.gate, err = quota.Open(filepath.Join(o.dir, "calls"))
	must(t, err)
	o.book, err = audit.Open(audit.Config{Dir: o.dir})
	must(t, err)
	t.Cleanup(func() { o.book.Close() })
	o.link = session.NewLink(session.LinkConfig{Self: o.self, Name: name, Peers: o.peers, Transport: plug{w, o.self.ID()}})
	w.mu.Lock()
	w.links[o.self.ID()] = o.link
	w.mu.Unlock()
	return o
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// befriend makes two devices peers, as pairing does.
func befriend(a, b *owner) {
	psk := make([]byte, 32)
	psk[0] = byte(len(a.name)) // any secret of the two
	for _, x := range [][2]*owner{{a, b}, {b, a}} {
		own, other := x[0], x[1]
		nk := own.self.Record().NK
		_, err := own.peers.Add(identity.Peer{
			ID: other.self.ID(), Record: other.self.Record(), PairPSK: psk, Mine: nk[:], Name: other.name,
			Grant: identity.GrantAgent, Created: time.Now().UTC(),
		})
		must(own.t, err)
	}
}

// start runs the owner's link and post until the test ends.
func (o *owner) start(serve ...share.AgentConfig) {
	o.t.Helper()
	o.post = relay.NewDispatcher(o.self.ID(), o.link, nil)
	if len(serve) > 0 {
		j, err := share.OpenJournal(filepath.Join(o.dir, "journal.jsonl"))
		must(o.t, err)
		o.t.Cleanup(func() { j.Close() })
		o.post.Handle(share.New(share.Config{Self: o.self.ID(), Agents: serve, Journal: j, Quota: o.gate, Name: o.called, Audit: func(a share.AuditEntry) error {
			return o.book.Append(audit.Event{Profile: a.Profile, Device: a.Device.String(), Requester: o.called(a.Device), Room: a.Room, Turn: a.Turn, Mode: a.Mode, Status: a.Status, Reason: a.Reason, MS: a.Took.Milliseconds()})
		}}))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = o.link.Run(ctx) })
	wg.Go(func() { _ = o.post.Run(ctx) })
	o.t.Cleanup(func() { cancel(); wg.Wait() })
}

func (o *owner) called(id identity.DeviceID) string {
	p, err := o.peers.Lookup(id)
	if err != nil {
		return ""
	}
	return p.Name
}

func (o *owner) seat(on *owner, remote string, rules quota.Profile) *seat.Endpoint {
	return seat.New(seat.Config{Dispatcher: o.post, Device: on.self.ID(), Remote: remote, Profile: rules, Quota: o.gate, Trusted: func() error {
		if p, err := o.peers.Lookup(on.self.ID()); err != nil || p.Suspended() {
			return session.ErrSuspended
		}
		return nil
	}, Refused: func(p endpoint.Prompt, err error) {
		_ = o.book.Append(audit.Event{Profile: rules.Name, Device: on.self.ID().String(), Room: p.Room, Turn: p.Turn, Mode: p.Mode, Status: "refused", Reason: err.Error()})
	}})
}

// allows returns a profile that admits some devices, without rate limits.
func allows(name string, with ...*owner) quota.Profile {
	p := quota.Profile{Name: name, Allow: true, PerMinute: 10_000, Burst: 1_000}
	for _, o := range with {
		p.Devices = append(p.Devices, o.self.ID())
	}
	return p
}

// An agent is an agent in the process of the test.
type agent func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)

func (a agent) Speak(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	return a(ctx, p, f)
}
func (agent) Close() error { return nil }

func says(text func(endpoint.Prompt) string) agent {
	return func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
		return endpoint.Reply{Outcome: endpoint.Said, Text: text(p)}, nil
	}
}

func newest(p endpoint.Prompt) string {
	if len(p.CatchUp) == 0 {
		return ""
	}
	return p.CatchUp[len(p.CatchUp)-1].Text
}

// A flow is a one-to-one room of two owners: the room and the agent of ann, and
// the agent of bob on his device.
type flow struct {
	t        testing.TB
	wire     *wire
	ann, bob *owner
	mine     agent
	theirs   agent
	local    func() coordinator.Endpoint // in place of mine
	mode     room.Mode
	review   room.Review
	tools    bool
	limits   room.Limits
	annRules quota.Profile
	bobRules quota.Profile
	log      *memory.Log
	hosts    bool // people are there: the room is not headless
}

func newFlow(t testing.TB) *flow {
	t.Helper()
	w := &wire{links: map[[32]byte]*session.Link{}}
	f := &flow{t: t, wire: w, ann: newOwner(t, w, "ann"), bob: newOwner(t, w, "bob"), mode: room.FullAuto, log: &memory.Log{}}
	befriend(f.ann, f.bob)
	f.annRules, f.bobRules = allows("orchestrator", f.bob), allows("reviewer", f.ann)
	f.mine = says(func(p endpoint.Prompt) string { return "ann asks, having heard: " + newest(p) })
	f.theirs = says(func(p endpoint.Prompt) string { return "bob answers: " + newest(p) })
	return f
}

type propose struct{ policy *alternate.Policy }

func (p propose) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	d := p.policy.Decide(&in)
	if d.Action == policy.ActionError {
		return d, policy.Record{}, errors.New(d.Message)
	}
	return d, policy.Record{}, ctx.Err()
}

func (f *flow) config() coordinator.Config {
	return coordinator.Config{
		Log: f.log, Owner: "test", RunOptions: coordinator.RunOptions{Headless: !f.hosts},
		Policy: func(context.Context, room.PolicyRef) (coordinator.Policy, error) {
			return propose{alternate.New()}, nil
		},
		Endpoint: func(_ context.Context, _ room.Spec, p room.Participant) (coordinator.Endpoint, error) {
			switch {
			case p.Device != "":
				return f.ann.seat(f.bob, "reviewer", f.annRules), nil
			case f.local != nil:
				return f.local(), nil
			}
			return f.mine, nil
		},
		Audit: func(a coordinator.AuditEntry) error {
			return f.ann.book.Append(audit.Event{Time: a.Time, Profile: a.Profile, Device: a.Device, Requester: a.Requester, Room: a.Room, Turn: a.Turn, Mode: a.Mode, Status: a.Status, Reason: a.Reason, MS: a.Took.Milliseconds()})
		},
	}
}

// open starts the share, the host and the room.
func (f *flow) open() *coordinator.Room {
	f.t.Helper()
	f.bob.start(share.AgentConfig{Profile: f.bobRules, Caps: share.Caps{AllowTools: f.tools}, Open: func(context.Context) (share.Agent, error) { return f.theirs, nil }})
	f.ann.start()
	r, err := coordinator.Open(f.t.Context(), f.config(), room.Spec{
		Room: "r1", Objective: "Review this API for security issues.", OneToOne: true, Secret: "s", Limits: f.limits,
		Policy: room.PolicyRef{Use: "alternate", Name: "alternate"},
	}, []room.Participant{
		{ID: "mine", Kind: policy.Local, Profile: "orchestrator", Mode: f.mode, Review: f.review, Tools: f.tools},
		{ID: "theirs", Kind: policy.Remote, Owner: "bob", Device: f.bob.self.ID().String(), Profile: "orchestrator", Mode: room.FullAuto, Tools: f.tools, Endpoint: []byte(`{"kind":"relay"}`)},
	})
	must(f.t, err)
	return r
}

// run runs the room until it ends.
func (f *flow) run() []room.Event {
	f.t.Helper()
	must(f.t, f.open().Run(f.t.Context()))
	return f.events()
}

func (f *flow) events() (all []room.Event) {
	f.t.Helper()
	entries, err := f.log.Read(f.t.Context(), "r1", log.Pos{}, 1<<20)
	must(f.t, err)
	for _, e := range entries {
		all = append(all, e.Event)
	}
	return all
}

// runInBackground runs a room while the test sends commands.
func (f *flow) runInBackground(r *coordinator.Room) (stop func()) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = r.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	f.t.Cleanup(stop)
	return stop
}

// until waits for an event for which wanted returns true.
func (f *flow) until(r *coordinator.Room, after int64, wanted func(room.Event) bool) room.Event {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()
	for u, err := range r.Watch(ctx, after, room.Internal) {
		if err != nil {
			break
		}
		if u.Event != nil && wanted(*u.Event) {
			return *u.Event
		}
	}
	var came []string
	for _, e := range f.events() {
		came = append(came, fmt.Sprintf("%d %s %.200v", e.Seq, e.Body.Type(), e.Body))
	}
	f.t.Fatalf("the expected event did not arrive; the events are\n%s", strings.Join(came, "\n"))
	return room.Event{}
}

func (f *flow) do(r *coordinator.Room, do room.Act) {
	f.t.Helper()
	_, err := r.Do(f.t.Context(), room.Command{Actor: room.ActorHost, Do: do})
	must(f.t, err)
}

func body[T room.Body](e room.Event) bool { _, ok := e.Body.(T); return ok }

func find[T room.Body](all []room.Event) (found []T) {
	for _, e := range all {
		if b, ok := e.Body.(T); ok {
			found = append(found, b)
		}
	}
	return found
}
