package relaytest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/room"
)

// An owner is a device with its files. Its process can be killed and started
// again.
type owner struct {
	w     *testbed
	self  *identity.Device
	peers *identity.Peers
	quota *quota.Quota
	kill  func()
}

func (w *testbed) owner() *owner {
	w.t.Helper()
	self, err := identity.Generate(time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	peers, err := identity.OpenPeers(filepath.Join(w.t.TempDir(), "peers.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	calls, err := quota.Open(filepath.Join(w.t.TempDir(), "calls"))
	if err != nil {
		w.t.Fatal(err)
	}
	return &owner{w: w, self: self, peers: peers, quota: calls, kill: func() {}}
}

// knows makes two owners know each other, as after a pairing.
func (o *owner) knows(other *owner, name string, grant identity.Grant) {
	o.w.t.Helper()
	mine := o.self.Record().NK
	if _, err := o.peers.Add(identity.Peer{
		ID: other.self.ID(), Record: other.self.Record(), PairPSK: make([]byte, 32), Mine: mine[:], Name: name, Grant: grant, Created: time.Now().UTC(),
	}); err != nil {
		o.w.t.Fatal(err)
	}
}

// start starts the owner's process. Only its files survive.
func (o *owner) start(listen func(*relay.Dispatcher)) {
	o.w.t.Helper()
	ctx, cancel := context.WithCancel(o.w.ctx)
	var work sync.WaitGroup
	var link *session.Link
	c, err := client.New(client.Config{
		URL: "ws://" + relaytest.Host, Plain: true, Dial: o.w.front.Dial, Device: frame.ID(o.self.ID()), Signer: o.self,
		Deliver: func(from frame.ID, b []byte) { link.Deliver(from, b) },
		Changed: func(s client.Status) {
			if s.Connected {
				link.Reconnected()
			}
		},
	})
	if err != nil {
		o.w.t.Fatal(err)
	}
	link = session.NewLink(session.LinkConfig{Self: o.self, Peers: o.peers, Transport: c})
	d := relay.NewDispatcher(o.self.ID(), link, nil)
	listen(d)
	work.Go(func() { _ = link.Run(ctx) })
	work.Go(func() { _ = c.Run(ctx) })
	work.Go(func() { _ = d.Run(ctx) })
	o.kill = func() { cancel(); work.Wait() }
}

// serve starts a process that publishes a room. leave ends the publication, as
// Server.Publish says.
func (o *owner) serve(s spectate.Room) (server *spectate.Server, leave func(context.Context)) {
	server = spectate.NewServer(spectate.ServerConfig{Peer: o.peers.Lookup, Peers: o.peers.List, Quota: o.quota})
	leave = server.Publish(s)
	o.start(func(d *relay.Dispatcher) { d.Handle(server) })
	return server, leave
}

// TestWatchHostileRelay watches a room over a relay that drops, repeats,
// reorders, delays, corrupts, reflects, replays and forges payloads. The relay
// and both devices are also restarted at random. Every event is seen once and in
// order, and every message is posted at most once.
func TestWatchHostileRelay(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { watchHostileRelay(t, seed) }) })
	}
}

func watchHostileRelay(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	faults := &FaultInjector{
		Rand: rand.New(rand.NewPCG(seed, 1)), Drop: 20, Duplicate: 20, Delay: 30, MaxDelay: 3 * time.Second, Flip: 5, Reflect: 10, Replay: 20, Truncate: 3, Forge: 10,
	}
	w := newTestbed(t, faults.Mangle)
	host, guest := w.owner(), w.owner()
	host.knows(guest, "bob", identity.GrantObserver)
	guest.knows(host, "ann", 0)
	p := newMemoryRoom("r_1", room.Observer{Device: guest.self.ID().String()})
	host.serve(p)
	g := &restartingViewer{owner: guest, host: host, w: w}
	g.watch()
	said := 0
	for i := range 40 {
		for range rnd.IntN(20) {
			p.Post(fmt.Sprint("event ", p.Tail()+1), []room.Visibility{room.UserVisible, room.UserVisible, room.Internal}[rnd.IntN(3)])
		}
		switch rnd.IntN(8) {
		case 0:
			w.hostile.Cut()
		case 1:
			host.kill()
			time.Sleep(time.Duration(rnd.IntN(20)) * time.Second)
			host.serve(p)
		case 2:
			g.stop() // killed: it goes on after the last event it has shown
			g.watch()
		case 3:
			g.say(fmt.Sprint("said ", i))
			said++
		}
		time.Sleep(time.Duration(rnd.IntN(8000)) * time.Millisecond)
	}
	time.Sleep(10 * time.Minute) // lost answers are asked for again
	p.End(true)
	select {
	case err := <-g.ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Minute):
		t.Fatal("the end did not come")
	}
	g.stop()
	host.kill()
	var want []int64
	posts := map[string]int{}
	all, err := p.Head(t.Context(), int(p.Tail()))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if _, ok := e.VisibleAt(room.UserVisible); ok {
			want = append(want, e.Seq)
		}
		if m, ok := e.Body.(room.MessagePosted); ok && strings.HasPrefix(m.Message.Text, "said") {
			posts[m.Message.Text]++
		}
	}
	if !reflect.DeepEqual(g.seen, want) {
		t.Errorf("seen %v\nwant %v", g.seen, want)
	}
	for text, n := range posts {
		if n != 1 {
			t.Errorf("%q was posted %d times", text, n)
		}
	}
	if len(posts)+g.failed < said { // a killed client does not know whether its message was posted
		t.Errorf("of %d messages %d were posted and %d failed", said, len(posts), g.failed)
	}
}

// A restartingViewer watches, and can be killed and started again.
type restartingViewer struct {
	*owner
	host *owner
	w    *testbed

	mu      sync.Mutex
	seen    []int64
	failed  int
	client  *spectate.Client
	ended   chan error
	cancel  func()
	talking sync.WaitGroup
}

func (g *restartingViewer) watch() {
	after := int64(0)
	g.mu.Lock()
	if len(g.seen) > 0 {
		after = g.seen[len(g.seen)-1]
	}
	g.mu.Unlock()
	w := spectate.NewClient(spectate.ClientConfig{Host: g.host.self.ID(), After: &after, Show: func(s spectate.Snapshot) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, e := range s.Events {
			g.seen = append(g.seen, e.Seq)
		}
		return nil
	}})
	g.start(func(d *relay.Dispatcher) { d.Handle(w) })
	ctx, cancel := context.WithCancel(g.w.ctx)
	ended, done := make(chan error, 1), make(chan struct{})
	go func() { defer close(done); ended <- w.Run(ctx) }()
	g.client, g.ended = w, ended
	g.cancel = func() { cancel(); <-done }
}

func (g *restartingViewer) stop() {
	g.cancel()
	g.talking.Wait()
	g.kill()
}

// say posts a message, or counts a failure.
func (g *restartingViewer) say(text string) {
	w := g.client
	g.talking.Go(func() {
		if err := w.Say(g.w.ctx, text); err != nil {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.failed++
		}
	})
}

// TestWatchRemovedPeer checks that a device which is removed from the store of a
// running host gets no more events.
func TestWatchRemovedPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, nil)
		host, guest := w.owner(), w.owner()
		host.knows(guest, "bob", identity.GrantObserver)
		guest.knows(host, "ann", 0)
		p := newMemoryRoom("r_1", room.Observer{Device: guest.self.ID().String()})
		server, leave := host.serve(p)
		g := &restartingViewer{owner: guest, host: host, w: w}
		g.watch()
		p.Post("for bob", room.UserVisible)
		time.Sleep(time.Minute)
		if err := host.peers.Remove(guest.self.ID()); err != nil {
			t.Fatal(err)
		}
		before := server.Counts()
		for range 100 {
			p.Post("not for bob", room.UserVisible)
			time.Sleep(10 * time.Second)
		}
		if after := server.Counts(); after.Events != before.Events {
			t.Errorf("%d events were sent to it", after.Events-before.Events)
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		leave(ctx)
		if took := time.Since(begin); took != 0 { // in synctest time
			t.Errorf("leave waited %v for a stream that is left", took)
		}
		if !slices.Equal(g.seen, []int64{1, 2, 3}) {
			t.Errorf("it saw %v", g.seen)
		}
		g.stop()
		host.kill()
	})
}

// TestWatchUntrustedHost checks that a host whose keys have changed is not
// watched.
func TestWatchUntrustedHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, nil)
		host, guest := w.owner(), w.owner()
		guest.knows(host, "ann", 0)
		if err := guest.peers.Update(host.self.ID(), func(p *identity.Peer) { p.Changed = time.Now().UTC() }); err != nil {
			t.Fatal(err)
		}
		g := &restartingViewer{owner: guest, host: host, w: w}
		g.watch()
		if err := <-g.ended; !errors.Is(err, endpoint.ErrUntrusted) {
			t.Errorf("Run returned %v", err)
		}
		g.stop()
	})
}

// A memoryRoom is a spectate.Room without a coordinator.
type memoryRoom struct{ *relaytest.Room }

func newMemoryRoom(id string, observers ...room.Observer) memoryRoom {
	return memoryRoom{relaytest.NewRoom(id, observers...)}
}

func (p memoryRoom) Say(_ context.Context, g spectate.Spectator, id, text string) error {
	if !p.Said(id) {
		p.PostAs(g.Name, text)
	}
	return nil
}
