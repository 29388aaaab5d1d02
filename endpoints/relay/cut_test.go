package relay

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
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// A cable carries payloads between links, as a relay does, unless it is cut.
type cable struct {
	cut   atomic.Bool
	mu    sync.Mutex
	links map[[32]byte]*session.Link
}

type end struct {
	*cable
	from [32]byte
}

func (e end) Send(_ context.Context, to [32]byte, payload []byte) error {
	if e.cut.Load() {
		return errors.New("cut")
	}
	e.mu.Lock()
	l := e.links[to]
	e.mu.Unlock()
	l.Deliver(e.from, payload)
	return nil
}

// mend ends a cut; both devices have new connections then.
func (c *cable) mend() {
	c.cut.Store(false)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.links {
		l.Reconnected()
	}
}

// plugIn makes two devices that are paired and connected, with true sessions.
func (c *cable) plugIn(t *testing.T) (ids [2]identity.DeviceID, links [2]*session.Link) {
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
		links[i] = session.NewLink(session.LinkConfig{Self: d, Peers: peers, Transport: end{c, ids[i]}})
		c.links[ids[i]] = links[i]
		work.Go(func() { _ = links[i].Run(ctx) })
	}
	return ids, links
}

// TestCuts: however long the network is dead in the middle of a turn, and
// whenever the agent answers, the turn ends with its one answer as soon as the
// network works. After 150 seconds the sessions give up what was on the way,
// and the request is asked again.
func TestCuts(t *testing.T) {
	for _, lasts := range []time.Duration{59, 60, 61, 120, 149, 151, 400, 1000} {
		for _, answers := range []time.Duration{lasts / 2, lasts + 60} {
			t.Run((lasts*time.Second).String()+"-"+(answers*time.Second).String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { cutFor(t, lasts*time.Second, answers*time.Second) })
			})
		}
	}
}

func cutFor(t *testing.T, lasts, answers time.Duration) {
	c := &cable{links: map[[32]byte]*session.Link{}}
	ids, links := c.plugIn(t)
	var runs atomic.Int32
	agent := actor(func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
		runs.Add(1)
		time.Sleep(10*time.Second + answers)
		return endpoint.Reply{Outcome: endpoint.Said, Text: "done"}, nil
	})
	share := NewShare(ShareConfig{
		Self: ids[1], Journal: newJournal(t, filepath.Join(t.TempDir(), "journal.jsonl")), Gate: newGate(t),
		Serve: []Served{{Profile: open("theirs", ids[0]), Timeout: time.Hour, Open: func(context.Context) (Agent, error) { return agent, nil }}},
	})
	run(t, NewPost(ids[1], links[1], share, nil))
	post := NewPost(ids[0], links[0], nil, nil)
	run(t, post)
	seat := New(EndpointConfig{Post: post, Device: ids[1], Remote: "theirs", Profile: open("mine", ids[1]), Gate: newGate(t)})
	t.Cleanup(func() { seat.Close() })
	q, l := prompt("req_1", "hello"), newLamp()
	q.Timeout = time.Hour
	type result struct {
		reply endpoint.Reply
		err   error
		at    time.Duration
	}
	out, begun := make(chan result, 1), time.Now()
	go func() {
		r, err := seat.Speak(t.Context(), q, l)
		out <- result{r, err, time.Since(begun)}
	}()
	time.Sleep(10 * time.Second)
	c.cut.Store(true)
	time.Sleep(lasts)
	c.mend()
	r := <-out
	if r.err != nil || r.reply.Text != "done" || runs.Load() != 1 {
		t.Errorf("%+v, %v; the agent ran %d times", r.reply, r.err, runs.Load())
	}
	if soonest := 10*time.Second + max(lasts, answers); r.at < soonest || r.at > soonest+30*time.Second {
		t.Errorf("the answer came after %v, and could have after %v", r.at, soonest)
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	if len(l.signals) != 0 {
		t.Errorf("the room was told %+v", l.signals)
	}
}
