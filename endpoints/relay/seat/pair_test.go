package seat

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/share"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newQuota(t testing.TB) *quota.Quota {
	t.Helper()
	q, err := quota.Open(filepath.Join(t.TempDir(), "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func newJournal(t testing.TB, path string) *share.Journal {
	t.Helper()
	j, err := share.OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
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

// allow returns a profile that may exchange calls with some devices without
// practical limits.
func allow(name string, with ...identity.DeviceID) quota.Profile {
	return quota.Profile{Name: name, Allow: true, Devices: with, MaxConcurrent: 10, PerMinute: 100_000, Burst: 10_000}
}

// An agentFunc is an agent in the test's own process.
type agentFunc func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)

func (a agentFunc) Speak(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	return a(ctx, p, f)
}
func (agentFunc) Close() error { return nil }

// A pair is a host with one remote seat, and the share that serves it.
type pair struct {
	hub            *relaytest.Hub
	host, guest    identity.DeviceID
	hostDispatcher *relay.Dispatcher
	seat           *Endpoint
	share          *share.Share
	shareConfig    share.Config
	candid         bool
	caps           share.Caps
	rules          []endpoint.AllowRule
	dir            string // of the agent
	guestQuota     *quota.Quota
	audited        chan share.AuditEntry
	journal        string
	stopHost       func()
	stopShare      func()
	hostProfile    quota.Profile
	guestProfile   quota.Profile
	agent          agentFunc
	open           func() share.Agent // in place of agent
}

type pairOption func(*pair)

// newPair connects a host and a share. Options change them before they start.
func newPair(t testing.TB, agent agentFunc, options ...pairOption) *pair {
	t.Helper()
	p := &pair{
		hub: relaytest.NewHub(), host: relaytest.NewID(t), guest: relaytest.NewID(t), candid: true, audited: make(chan share.AuditEntry, 1000),
		agent: agent, journal: filepath.Join(t.TempDir(), "journal.jsonl"),
	}
	p.guestQuota = newQuota(t)
	p.hostProfile, p.guestProfile = allow("mine", p.guest), allow("theirs", p.host)
	for _, o := range options {
		o(p)
	}
	p.startShare(t)
	p.startHost(t)
	return p
}

func (p *pair) startHost(t testing.TB) {
	t.Helper()
	p.hostDispatcher = relay.NewDispatcher(p.host, p.hub.Connect(p.host), nil)
	p.stopHost = run(t, p.hostDispatcher)
	p.seat = p.newSeat(t, "theirs")
}

func (p *pair) newSeat(t testing.TB, remote string) *Endpoint {
	t.Helper()
	seat := New(Config{Dispatcher: p.hostDispatcher, Device: p.guest, Remote: remote, Profile: p.hostProfile, Quota: newQuota(t)})
	t.Cleanup(func() { seat.Close() })
	return seat
}

func (p *pair) startShare(t testing.TB) {
	t.Helper()
	c := p.shareConfig
	c.Self, c.Journal, c.Quota = p.guest, newJournal(t, p.journal), p.guestQuota
	c.Name = func(identity.DeviceID) string { return "Ann's laptop" }
	c.Agents = []share.AgentConfig{{Profile: p.guestProfile, Candid: p.candid, Caps: p.caps, Allow: p.rules, Dir: p.dir, Open: func(context.Context) (share.Agent, error) {
		if p.open != nil {
			return p.open(), nil
		}
		return p.agent, nil
	}}}
	c.Audit = func(a share.AuditEntry) error { p.audited <- a; return nil }
	p.share, p.shareConfig.Journal = share.New(c), c.Journal
	d := relay.NewDispatcher(p.guest, p.hub.Connect(p.guest), nil)
	d.Handle(p.share)
	p.stopShare = run(t, d)
}

func prompt(id, text string) endpoint.Prompt {
	return endpoint.Prompt{
		Kind: endpoint.Turn, Request: id, Room: "r_1", Epoch: 1, Turn: 1, Mode: "full_auto", You: endpoint.Seat{ID: "bob"},
		Seats:     []endpoint.Seat{{ID: "bob", Kind: "remote"}, {ID: "ann", SameOwner: true}},
		Objective: "Test.", CatchUp: []endpoint.Line{{Seq: 1, From: "ann", Text: text}}, MaxOutputChars: 1000, Timeout: 20 * time.Second,
	}
}

// newest returns the text of the newest message of a prompt.
func newest(p endpoint.Prompt) string {
	if len(p.CatchUp) == 0 {
		return ""
	}
	return p.CatchUp[len(p.CatchUp)-1].Text
}

// send encodes an envelope and delivers it.
func send(t testing.TB, l relay.Link, to identity.DeviceID, e envelope.Envelope) {
	b, err := envelope.Encode(e)
	if err == nil {
		err = l.Send(context.Background(), to, b)
	}
	if err != nil {
		t.Error(err)
	}
}

// A floor keeps the signals that are raised.
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

func (f *floor) ShowTool(endpoint.ToolCall) {}
