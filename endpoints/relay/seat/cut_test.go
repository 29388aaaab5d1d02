package seat

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/share"
)

// A network carries payloads between links, as a relay does, unless it is cut.
type network struct {
	cut   atomic.Bool
	mu    sync.Mutex
	links map[[32]byte]*session.Link
}

// A transport is the network as one device uses it.
type transport struct {
	*network
	from [32]byte
}

func (t transport) Send(_ context.Context, to [32]byte, payload []byte) error {
	if t.cut.Load() {
		return errors.New("cut")
	}
	t.mu.Lock()
	l := t.links[to]
	t.mu.Unlock()
	l.Deliver(t.from, payload)
	return nil
}

// repair ends a cut. Both devices then have new connections.
func (n *network) repair() {
	n.cut.Store(false)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.links {
		l.Reconnected()
	}
}

// connect makes two paired and connected devices with real sessions.
func (n *network) connect(t *testing.T) (ids [2]identity.DeviceID, links [2]*session.Link) {
	t.Helper()
	var devices [2]*identity.Device
	for i := range devices {
		d, err := identity.Generate(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		devices[i], ids[i] = d, d.ID()
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	for i, d := range devices {
		peers, err := identity.OpenPeers(filepath.Join(t.TempDir(), "peers.json"))
		if err != nil {
			t.Fatal(err)
		}
		mine := d.Record().NK
		if _, err := peers.Add(identity.Peer{ID: ids[1-i], Record: devices[1-i].Record(), PairPSK: make([]byte, 32), Mine: mine[:], Name: "other", Created: time.Now()}); err != nil {
			t.Fatal(err)
		}
		links[i] = session.NewLink(session.LinkConfig{Self: d, Peers: peers, Transport: transport{n, ids[i]}})
		n.links[ids[i]] = links[i]
		work.Go(func() { _ = links[i].Run(ctx) })
	}
	return ids, links
}

// TestNetworkCuts cuts the network in the middle of a turn, for several times,
// with an agent that answers before or after the end of the cut. The turn must
// end with its one answer as soon as the network works. After 150 seconds the
// sessions give up undelivered messages, and the request is sent again.
func TestNetworkCuts(t *testing.T) {
	for _, cut := range []time.Duration{59, 60, 61, 120, 149, 151, 400, 1000} {
		for _, answer := range []time.Duration{cut / 2, cut + 60} {
			t.Run((cut*time.Second).String()+"-"+(answer*time.Second).String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testCut(t, cut*time.Second, answer*time.Second) })
			})
		}
	}
}

// testCut cuts the network after 10 seconds. The agent answers the given time
// after the begin of the cut.
func testCut(t *testing.T, cut, answer time.Duration) {
	n := &network{links: map[[32]byte]*session.Link{}}
	ids, links := n.connect(t)
	var runs atomic.Int32
	agent := agentFunc(func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
		runs.Add(1)
		time.Sleep(10*time.Second + answer)
		return endpoint.Reply{Outcome: endpoint.Said, Text: "done"}, nil
	})
	theirs := relay.NewDispatcher(ids[1], links[1], nil)
	theirs.Handle(share.New(share.Config{
		Self: ids[1], Journal: newJournal(t, filepath.Join(t.TempDir(), "journal.jsonl")), Quota: newQuota(t),
		Agents: []share.AgentConfig{{Profile: allow("theirs", ids[0]), Timeout: time.Hour, Open: func(context.Context) (share.Agent, error) { return agent, nil }}},
	}))
	run(t, theirs)
	d := relay.NewDispatcher(ids[0], links[0], nil)
	run(t, d)
	seat := New(Config{Dispatcher: d, Device: ids[1], Remote: "theirs", Profile: allow("mine", ids[1]), Quota: newQuota(t)})
	t.Cleanup(func() { seat.Close() })
	q, f := prompt("req_1", "hello"), newHeartheartbeatFloor()
	q.Timeout = time.Hour
	type result struct {
		reply endpoint.Reply
		err   error
		at    time.Duration
	}
	out, begun := make(chan result, 1), time.Now()
	go func() {
		r, err := seat.Speak(t.Context(), q, f)
		out <- result{r, err, time.Since(begun)}
	}()
	time.Sleep(10 * time.Second)
	n.cut.Store(true)
	time.Sleep(cut)
	n.repair()
	r := <-out
	if r.err != nil || r.reply.Text != "done" || runs.Load() != 1 {
		t.Errorf("%+v, %v; the agent ran %d times", r.reply, r.err, runs.Load())
	}
	if soonest := 10*time.Second + max(cut, answer); r.at < soonest || r.at > soonest+30*time.Second {
		t.Errorf("the answer came after %v, and could have after %v", r.at, soonest)
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	if len(f.signals) != 0 {
		t.Errorf("the room got signals: %+v", f.signals)
	}
}
