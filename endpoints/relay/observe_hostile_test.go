package relay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/room"
)

// A wire is what lies between two devices: a hostile relay before an honest
// one, in a bubble.
type wire struct {
	t     *testing.T
	front *relaytest.Network
	bad   *relaytest.HostileRelay
	work  sync.WaitGroup
	ctx   context.Context
}

func newWire(t *testing.T, bend relaytest.Mangle) *wire {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	back := relaytest.NewNetwork()
	w := &wire{t: t, ctx: ctx, front: relaytest.NewNetwork()}
	w.bad = relaytest.NewHostileRelay(relaytest.HostileConfig{Mangle: bend, Relay: func(ctx context.Context) (net.Conn, error) { return back.Dial(ctx, "") }})
	s, err := server.New(server.Config{Hosts: []string{relaytest.Host}, Open: true, Limits: server.Limits{LoginBurst: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, serve := range []func() error{
		func() error { return s.Serve(ctx, back.Listen()) },
		func() error { return w.bad.Serve(ctx, w.front.Listen()) },
	} {
		w.work.Go(func() {
			if err := serve(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { cancel(); w.work.Wait() })
	return w
}

// An owner is a device with its files, whose process can end and start again.
type owner struct {
	w     *wire
	self  *identity.Device
	peers *identity.Peers
	gate  *Gate
	kill  func()
}

func (w *wire) owner() *owner {
	w.t.Helper()
	self, err := identity.Generate(time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	peers, err := identity.OpenPeers(filepath.Join(w.t.TempDir(), "peers.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	return &owner{w: w, self: self, peers: peers, gate: newGate(w.t), kill: func() {}}
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

// start starts the owner's process: nothing but its files is what it was.
func (o *owner) start(listen func(*Post)) {
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
	p := NewPost(o.self.ID(), link, nil, nil)
	listen(p)
	work.Go(func() { _ = link.Run(ctx) })
	work.Go(func() { _ = c.Run(ctx) })
	work.Go(func() { _ = p.Run(ctx) })
	o.kill = func() { cancel(); work.Wait() }
}

// hosts starts a host that shows a room.
func (o *owner) hosts(s Stage) *Gallery {
	g := NewGallery(GalleryConfig{Peer: o.peers.Lookup, Peers: o.peers.List, Gate: o.gate})
	g.Show(s)
	o.start(func(p *Post) { p.ServeGallery(g) })
	return g
}

// TestObserveHostile: between a room and who watches it is a relay that drops,
// repeats, reorders, delays, flips, cuts, swaps, replays and invents; it goes
// away now and then, and so do both sides, which are killed and started again.
// Every event is seen once and in order, and what is said is posted once.
func TestObserveHostile(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { watchHostile(t, seed) }) })
	}
}

func watchHostile(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	chaos := &relaytest.FaultInjector{
		Rand: rand.New(rand.NewPCG(seed, 1)), Drop: 20, Duplicate: 20, Delay: 30, MaxDelay: 3 * time.Second, Flip: 5, Reflect: 10, Replay: 20, Truncate: 3, Forge: 10,
	}
	w := newWire(t, chaos.Mangle)
	host, guest := w.owner(), w.owner()
	host.knows(guest, "bob", identity.GrantObserver)
	guest.knows(host, "ann", 0)
	p := newPlay("r_1", room.Observer{Device: guest.self.ID().String()})
	host.hosts(p)
	g := &goer{owner: guest, host: host, w: w}
	g.watch()
	said := 0
	for i := range 40 {
		for range rnd.IntN(20) {
			p.post(fmt.Sprint("event ", p.Tail()+1), []room.Visibility{room.UserVisible, room.UserVisible, room.Internal}[rnd.IntN(3)])
		}
		switch rnd.IntN(8) {
		case 0:
			w.bad.Cut()
		case 1:
			host.kill()
			pause(t.Context(), time.Duration(rnd.IntN(20))*time.Second)
			host.hosts(p)
		case 2:
			g.stop() // killed: it goes on after what it has shown
			g.watch()
		case 3:
			g.say(fmt.Sprint("said ", i))
			said++
		}
		pause(t.Context(), time.Duration(rnd.IntN(8000))*time.Millisecond)
	}
	pause(t.Context(), 10*time.Minute) // what was given up, such as an answer to a device that was killed, is asked again
	p.end(true)
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
	for _, e := range p.log {
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
	if len(posts)+g.failed < said { // who was killed does not know whether it was posted
		t.Errorf("of %d messages %d were posted and %d failed", said, len(posts), g.failed)
	}
}

// A goer watches, and starts again where it was.
type goer struct {
	*owner
	host *owner
	w    *wire

	mu      sync.Mutex
	seen    []int64
	failed  int
	watcher *Watcher
	ended   chan error
	cancel  func()
	talking sync.WaitGroup
}

func (g *goer) watch() {
	after := int64(0)
	g.mu.Lock()
	if len(g.seen) > 0 {
		after = g.seen[len(g.seen)-1]
	}
	g.mu.Unlock()
	w := NewWatcher(WatcherConfig{Host: g.host.self.ID(), After: &after, Show: func(s Shown) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, e := range s.Events {
			g.seen = append(g.seen, e.Seq)
		}
		return nil
	}})
	g.start(func(p *Post) { p.ServeWatcher(w) })
	ctx, cancel := context.WithCancel(g.w.ctx)
	ended, done := make(chan error, 1), make(chan struct{})
	go func() { defer close(done); ended <- w.Run(ctx) }()
	g.watcher, g.ended = w, ended
	g.cancel = func() { cancel(); <-done }
}

func (g *goer) stop() {
	g.cancel()
	g.talking.Wait()
	g.kill()
}

// say says something until it is posted, or the process ends.
func (g *goer) say(text string) {
	w := g.watcher
	g.talking.Go(func() {
		if err := w.Say(g.w.ctx, text); err != nil {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.failed++
		}
	})
}

// TestObserveRemoved: who is removed from the store hears nothing more, from a
// host that runs, while it waits as when something happens.
func TestObserveRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t, nil)
		host, guest := w.owner(), w.owner()
		host.knows(guest, "bob", identity.GrantObserver)
		guest.knows(host, "ann", 0)
		p := newPlay("r_1", room.Observer{Device: guest.self.ID().String()})
		gallery := host.hosts(p)
		g := &goer{owner: guest, host: host, w: w}
		g.watch()
		p.post("for bob", room.UserVisible)
		pause(t.Context(), time.Minute)
		if err := host.peers.Remove(guest.self.ID()); err != nil {
			t.Fatal(err)
		}
		before := gallery.Counts()
		for range 100 {
			p.post("not for bob", room.UserVisible)
			pause(t.Context(), 10*time.Second)
		}
		if after := gallery.Counts(); after.Events != before.Events {
			t.Errorf("%d events were sent to it", after.Events-before.Events)
		}
		gallery.mu.Lock()
		n := len(gallery.streams)
		gallery.mu.Unlock()
		if n != 0 {
			t.Errorf("%d streams are left", n)
		}
		if !slices.Equal(g.seen, []int64{1, 2, 3}) {
			t.Errorf("it saw %v", g.seen)
		}
		g.stop()
		host.kill()
	})
}

// TestObserveUntrusted: a host whose keys have changed, or that was removed, is
// not watched.
func TestObserveUntrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t, nil)
		host, guest := w.owner(), w.owner()
		guest.knows(host, "ann", 0)
		if err := guest.peers.Update(host.self.ID(), func(p *identity.Peer) { p.Changed = time.Now().UTC() }); err != nil {
			t.Fatal(err)
		}
		g := &goer{owner: guest, host: host, w: w}
		g.watch()
		if err := <-g.ended; !errors.Is(err, endpoint.ErrUntrusted) {
			t.Errorf("it ended with %v", err)
		}
		g.stop()
	})
}
