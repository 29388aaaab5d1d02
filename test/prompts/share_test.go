package prompts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// ownInstructions are those of the owner of every shared agent.
const ownInstructions = "Mind the indexes."

// A shared is an agent that a device shares with a hostile host, which writes its
// requests itself.
type shared struct {
	way   *way
	hub   *relaytest.Hub
	host  identity.DeviceID
	guest identity.DeviceID
	link  *relaytest.HubLink // of the host
	room  string
	dir   string
	sent  int
	stop  func()
}

func newShared(t *testing.T, w *way) *shared {
	t.Helper()
	s := &shared{way: w, hub: relaytest.NewHub(), host: relaytest.NewID(t), guest: relaytest.NewID(t), room: "r_1", dir: t.TempDir()}
	s.link = s.hub.Connect(s.host)
	s.start(t)
	t.Cleanup(func() { s.stop() })
	return s
}

// start runs the share until stop is called.
func (s *shared) start(t *testing.T) {
	t.Helper()
	journal, err := share.OpenJournal(filepath.Join(s.dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	calls, err := quota.Open(filepath.Join(s.dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	profile := quota.Profile{Name: "theirs", Allow: true, Devices: []identity.DeviceID{s.host}, MaxConcurrent: 10, PerMinute: 100_000, Burst: 10_000}
	d := relay.NewDispatcher(s.guest, s.hub.Connect(s.guest), nil)
	d.Handle(share.New(share.Config{
		Self: s.guest, Journal: journal, Quota: calls, Name: func(identity.DeviceID) string { return "Ann's laptop" },
		Agents: []share.AgentConfig{{Profile: profile, Instructions: ownInstructions, Open: func(context.Context) (share.Agent, error) { return s.way.open() }}},
	}))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	<-d.Ready()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := journal.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (s *shared) restart(t *testing.T) {
	t.Helper()
	s.stop()
	s.start(t)
}

// send sends a request, which is a wire.Request or has more keys, and waits for its
// response.
func (s *shared) send(t *testing.T, q any) (r wire.Response) {
	t.Helper()
	body, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	s.sent++
	id := fmt.Sprint("req_", s.sent)
	trace := envelope.NewTrace("t", s.host.String(), "mine")
	b, err := envelope.Encode(envelope.Envelope{ID: id, Type: envelope.TurnRequest, Profile: "theirs", Room: s.room, Epoch: 1, Turn: 1, Trace: &trace, Body: body})
	if err == nil {
		err = s.link.Send(t.Context(), s.guest, b)
	}
	if err != nil {
		t.Fatal(err)
	}
	for {
		in, err := s.link.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m, ok := in.Event.(session.Delivered)
		if !ok {
			continue
		}
		e, err := envelope.Decode(m.Message)
		if err != nil {
			t.Fatal(err)
		}
		if e.ID == id && e.Type == envelope.TurnResponse {
			if err := e.DecodeBody(&r); err != nil {
				t.Fatal(err)
			}
			return r
		}
	}
}

// ask sends a request that must be answered, and returns what the agent got.
func (s *shared) ask(t *testing.T, q wire.Request) request {
	t.Helper()
	if r := s.send(t, q); r.Status != wire.StatusOK {
		t.Fatalf("the share answers %+v", r)
	}
	all := s.way.asked(t)
	return all[len(all)-1]
}
