package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A switchboard is a relay in the same process.
type switchboard struct {
	mu    sync.Mutex
	links map[[32]byte]*Link
	cut   atomic.Bool
	sent  atomic.Int64
	tap   func(to [32]byte, payload []byte) // called with each payload while mu is held; may be nil
}

type switchboardPort struct {
	board *switchboard
	from  [32]byte
}

func (p switchboardPort) Send(_ context.Context, to [32]byte, payload []byte) error {
	p.board.sent.Add(1)
	if p.board.cut.Load() {
		return errors.New("cut")
	}
	p.board.mu.Lock()
	l := p.board.links[to]
	if p.board.tap != nil {
		p.board.tap(to, payload)
	}
	p.board.mu.Unlock()
	if l != nil {
		l.Deliver(p.from, bytes.Clone(payload))
	}
	return nil
}

// A testDevice is a device with its stores and its link.
type testDevice struct {
	*Link
	self    *identity.Device
	peers   *identity.Peers
	invites *identity.Invites
	logged  chan error
	ended   chan error // of pairings without a peer
	stop    func()
}

func newTestDevice(t *testing.T, x *switchboard, name string, admit func(context.Context, JoinRequest) bool) *testDevice {
	t.Helper()
	dir := t.TempDir()
	self, err := identity.LoadOrGenerate(filepath.Join(dir, "device.json"), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s := &testDevice{self: self, logged: make(chan error, 100), ended: make(chan error, 10)}
	if s.peers, err = identity.OpenPeers(filepath.Join(dir, "peers.json")); err != nil {
		t.Fatal(err)
	}
	if s.invites, err = identity.OpenInvites(filepath.Join(dir, "invites.json")); err != nil {
		t.Fatal(err)
	}
	s.start(t, x, name, admit)
	return s
}

// start creates and runs a new link, as a new process does.
func (s *testDevice) start(t *testing.T, x *switchboard, name string, admit func(context.Context, JoinRequest) bool) {
	t.Helper()
	s.Link = NewLink(LinkConfig{
		Self: s.self, Name: name, Peers: s.peers, Invites: s.invites, Transport: switchboardPort{x, s.self.ID()}, Admit: admit,
		Log:      func(_ identity.DeviceID, err error) { s.logged <- err },
		Unpaired: func(_ [16]byte, _ identity.DeviceID, err error) { s.ended <- err },
	})
	x.mu.Lock()
	x.links[s.self.ID()] = s.Link
	x.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Run(ctx) })
	s.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(func() { s.stop() })
}

func (s *testDevice) invite(t *testing.T, in identity.Invite) identity.Invite {
	t.Helper()
	in.Relay = "wss://relay.example"
	in, err := identity.NewInvite(s.self, in, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.invites.Add(in, time.Now()); err != nil {
		t.Fatal(err)
	}
	return in
}

// message waits for the next message.
func (s *testDevice) message(t *testing.T) string {
	t.Helper()
	for {
		in, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := in.Event.(Delivered); ok {
			return string(m.Message)
		}
	}
}

func newSwitchboard() *switchboard { return &switchboard{links: map[[32]byte]*Link{}} }

// pairedDevices returns two devices that are paired.
func pairedDevices(t *testing.T) (x *switchboard, host, guest *testDevice) {
	t.Helper()
	x = newSwitchboard()
	host, guest = newTestDevice(t, x, "host", nil), newTestDevice(t, x, "guest", nil)
	in := host.invite(t, identity.Invite{Auto: true})
	if _, err := guest.Join(t.Context(), in, nil, agreeing); err != nil {
		t.Fatal(err)
	}
	return x, host, guest
}

func agreeing(context.Context, AwaitingApproval) bool { return true }

// TestLinkJoin: both owners are asked, and neither device stores anything
// before both have agreed.
func TestLinkJoin(t *testing.T) {
	for _, c := range []struct {
		host, guest       bool
		hostErr, guestErr error
	}{{true, true, nil, nil}, {false, true, ErrRefused, ErrRefused}, {true, false, ErrDeclined, ErrDeclined}} {
		x := newSwitchboard()
		seen, bothAsked := make(chan JoinRequest, 1), make(chan struct{})
		host := newTestDevice(t, x, "host", func(_ context.Context, n JoinRequest) bool { seen <- n; <-bothAsked; return c.host })
		guest := newTestDevice(t, x, "guest", nil)
		nothingStored := func(when string) {
			for _, d := range []*testDevice{host, guest} {
				if all, err := d.peers.List(); err != nil || len(all) != 0 {
					t.Errorf("%s: %d peers are stored, %v", when, len(all), err)
				}
			}
		}
		var digits string
		agree := func(_ context.Context, w AwaitingApproval) bool {
			digits = w.Digits
			if n := <-seen; n.Digits != digits || n.Name != "guest" || w.Host != "host" {
				t.Errorf("the host saw %+v, the guest %+v", n, w)
			}
			nothingStored("before the answers")
			close(bothAsked)
			return c.guest
		}
		peer, err := guest.Join(t.Context(), host.invite(t, identity.Invite{}), []string{"review"}, agree)
		if !errors.Is(err, c.guestErr) {
			t.Errorf("%+v: %v", c, err)
		}
		if c.guestErr != nil {
			if err := <-host.ended; !errors.Is(err, c.hostErr) {
				t.Errorf("%+v: the host reports %v", c, err)
			}
			nothingStored("after a no")
			continue
		}
		if stored, err := host.peers.Lookup(guest.self.ID()); err != nil || peer.Name != "host" || stored.Digits != digits || peer.Digits != digits {
			t.Errorf("%+v, %+v, %v", peer, stored, err)
		}
		if err := host.Send(t.Context(), guest.self.ID(), []byte("welcome")); err != nil || guest.message(t) != "welcome" {
			t.Error(err)
		}
	}
}

func TestLinkOrder(t *testing.T) {
	_, host, guest := pairedDevices(t)
	const n = 200
	var wg sync.WaitGroup
	for from, to := range map[*testDevice]*testDevice{host: guest, guest: host} {
		wg.Go(func() {
			for i := range n {
				if err := from.Send(t.Context(), to.self.ID(), fmt.Appendf(nil, "%d", i)); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for i := range n {
				if got := to.message(t); got != fmt.Sprint(i) {
					t.Errorf("message %d is %s", i, got)
				}
			}
		})
	}
	wg.Wait()
}

// TestLinkRevoked: a peer that `moot peers rm` removes is unknown immediately.
func TestLinkRevoked(t *testing.T) { synctest.Test(t, linkRevoked) }

func linkRevoked(t *testing.T) {
	x, host, guest := pairedDevices(t)
	if err := guest.Send(t.Context(), host.self.ID(), []byte("before")); err != nil {
		t.Fatal(err)
	}
	if err := host.peers.Remove(guest.self.ID()); err != nil {
		t.Fatal(err)
	}
	if err := host.Send(t.Context(), guest.self.ID(), []byte("x")); !errors.Is(err, ErrUnknownPeer) {
		t.Errorf("sending to a removed device: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	sent := x.sent.Load()
	go func() { result <- guest.Send(ctx, host.self.ID(), []byte("after")) }()
	synctest.Wait() // until all goroutines are blocked
	if n := x.sent.Load(); n != sent+1 {
		t.Errorf("the host answered a removed device: %d payloads", n-sent)
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLinkChangedKey: a changed key suspends the peer until a person accepts
// it.
func TestLinkChangedKey(t *testing.T) {
	x, host, guest := pairedDevices(t)
	guest.stop()
	if err := guest.self.Rotate(time.Now()); err != nil {
		t.Fatal(err)
	}
	guest.start(t, x, "guest", nil)
	in := host.invite(t, identity.Invite{Auto: true})
	if _, err := guest.Join(t.Context(), in, nil, agreeing); err != nil {
		t.Fatal(err)
	}
	if err := host.Send(t.Context(), guest.self.ID(), []byte("x")); !errors.Is(err, ErrSuspended) {
		t.Errorf("sending under a key that is not accepted: %v", err)
	}
	if err := host.peers.Verify(guest.self.ID(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := host.Send(t.Context(), guest.self.ID(), []byte("y")); err != nil || guest.message(t) != "y" {
		t.Errorf("after Verify: %v", err)
	}
}

func TestLinkRestart(t *testing.T) {
	x, host, guest := pairedDevices(t)
	if err := host.Send(t.Context(), guest.self.ID(), []byte("before")); err != nil || guest.message(t) != "before" {
		t.Fatal(err)
	}
	guest.stop()
	if _, err := guest.Next(t.Context()); !errors.Is(err, ErrStopped) {
		t.Errorf("Next on a stopped link: %v", err)
	}
	if err := guest.Send(t.Context(), host.self.ID(), []byte("x")); !errors.Is(err, ErrStopped) {
		t.Errorf("Send on a stopped link: %v", err)
	}
	guest.start(t, x, "guest", nil)
	if err := guest.Send(t.Context(), host.self.ID(), []byte("after")); err != nil {
		t.Fatal(err)
	}
	if got := host.message(t); got != "after" {
		t.Error(got)
	}
}

// TestLinkBackPressure: an owner that does not read delays its peer, and loses
// no message.
func TestLinkBackPressure(t *testing.T) { synctest.Test(t, linkBackPressure) }

func linkBackPressure(t *testing.T) {
	_, host, guest := pairedDevices(t)
	const n = inboxMessages + 20
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range n {
			if err := guest.Send(t.Context(), host.self.ID(), fmt.Appendf(nil, "%d", i)); err != nil {
				t.Error(err)
			}
		}
	}()
	synctest.Wait()
	if !host.inboxFull(guest.self.ID()) {
		t.Error("unread messages are accepted without limit")
	}
	for i := range n {
		if got := host.message(t); got != fmt.Sprint(i) {
			t.Fatalf("message %d is %s", i, got)
		}
	}
	<-done
}

// TestLinkCuts: after a network cut of up to two minutes the message arrives;
// after 151 seconds the sender gives up. The test uses synctest's clock.
func TestLinkCuts(t *testing.T) {
	for cut, want := range map[time.Duration]error{59: nil, 60: nil, 61: nil, 120: nil, 151: ErrUnreachable} {
		synctest.Test(t, func(t *testing.T) {
			x, host, guest := pairedDevices(t)
			if err := guest.Send(t.Context(), host.self.ID(), []byte("before")); err != nil {
				t.Fatal(err)
			}
			x.cut.Store(true)
			heal := time.AfterFunc(cut*time.Second, func() {
				x.cut.Store(false)
				host.Reconnected()
				guest.Reconnected()
			})
			defer heal.Stop()
			start := time.Now()
			err := guest.Send(t.Context(), host.self.ID(), []byte("in the cut"))
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("cut of %d s: %v after %v", cut, err, time.Since(start))
			}
			if took := time.Since(start); err == nil && took > cut*time.Second+2*time.Second {
				t.Errorf("cut of %d s: confirmed after %v", cut, took)
			}
			host.stop()
			guest.stop()
		})
	}
}

// TestLinkCounts: forged, replayed, modified and unknown payloads have no
// effect and are counted.
func TestLinkCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, host, guest := pairedDevices(t)
		var passed [][]byte
		x.mu.Lock()
		x.tap = func(to [32]byte, payload []byte) {
			if to == guest.self.ID() && payload[0] == kindData {
				passed = append(passed, bytes.Clone(payload))
			}
		}
		x.mu.Unlock()
		for _, m := range []string{"one", "two"} {
			if err := host.Send(t.Context(), guest.self.ID(), []byte(m)); err != nil {
				t.Fatal(err)
			}
			if got := guest.message(t); got != m {
				t.Fatalf("got %q", got)
			}
		}
		synctest.Wait()
		before := guest.Counts()
		if before.Delivered != 2 || before.Dropped+before.Repeated+before.Strangers+before.Violations+before.Lost != 0 {
			t.Errorf("without faults: %+v", before)
		}
		for _, p := range passed {
			guest.Deliver(host.self.ID(), bytes.Clone(p))
			p[len(p)-1] ^= 1
			guest.Deliver(host.self.ID(), p) // modified
		}
		guest.Deliver(host.self.ID(), nil)
		guest.Deliver(host.self.ID(), []byte("forged"))
		guest.Deliver([32]byte{7}, []byte("from an unknown device"))
		synctest.Wait()
		got, n := guest.Counts(), uint64(len(passed))
		want := before
		want.Received, want.Dropped, want.Repeated, want.Strangers = before.Received+2*n+3, n+2, n, 1
		if got != want || n < 2 {
			t.Errorf("after %d frames: %+v, want %+v", n, got, want)
		}
		guest.stop()
		for range packetQueue + 5 {
			guest.Deliver(host.self.ID(), []byte("too much"))
		}
		if n := guest.Counts().Overflowed; n != 5 {
			t.Errorf("%d payloads overflowed, want 5", n)
		}
	})
}
