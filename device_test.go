package moot

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/server"
	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/room"
)

// startRelay runs a relay until the test ends, and returns its URL.
func startRelay(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Hosts: []string{l.Addr().String()}, Open: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); <-done })
	return "ws://" + l.Addr().String()
}

// A testOwner has a device with a Host.
type testOwner struct {
	*Host
	t    *testing.T
	name string
	id   string // of the device
}

func newOwner(t *testing.T, name, relay string) *testOwner {
	t.Helper()
	dir := t.TempDir()
	w := Wiring{Settings: config.Settings{Data: dir, Cache: filepath.Join(dir, "cache"), RelayURL: relay}, Log: slog.New(slog.DiscardHandler)}
	h, err := w.OpenHost()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	i, err := h.Device()
	if err != nil {
		t.Fatal(err)
	}
	return &testOwner{Host: h, t: t, name: name, id: i.ID}
}

// allow adds a profile that may work with devices, with an agent that says lines
// unless there are none.
func (o *testOwner) allow(profile string, lines []string, with ...*testOwner) {
	p := config.Profile{Name: profile, Allow: true, PerMinute: 1000, Burst: 100}
	for _, x := range with {
		p.Devices = append(p.Devices, x.id)
	}
	if lines != nil {
		p.Endpoint, _ = json.Marshal(map[string]any{"kind": "scripted", "lines": lines})
	}
	o.wiring.Settings.Profiles = append(o.wiring.Settings.Profiles, p)
}

// pair pairs two devices without questions.
func pair(t *testing.T, a, b *testOwner) {
	t.Helper()
	p, err := a.Invite(t.Context(), device.InviteOptions{Name: a.name, Auto: true})
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.Join(t.Context(), p.Pairing.Invite, device.JoinOptions{Name: b.name, Yes: true})
	if err != nil {
		t.Fatal(err)
	}
	until(t, p, device.PairingPaired)
	until(t, q, device.PairingPaired)
}

// until waits for a phase of a pairing.
func until(t *testing.T, p *Pairing, want device.Phase) device.PairingState {
	t.Helper()
	s := p.State()
	for s.Phase != want {
		if s.Phase.Over() {
			t.Fatalf("the pairing is %s: %v", s.Phase, s.Err)
		}
		var err error
		if s, err = p.Next(t.Context(), s.Version); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// sharedRoom has an agent of this device, which waits for approvals, and one of
// another owner.
func sharedRoom(name string, peer *testOwner, profile string) string {
	return fmt.Sprintf(`version: room/v1
name: %s
objective: Try it.
participants:
  - {id: theirs, profile: orchestrator, mode: full_auto, endpoint: {kind: relay, peer: %s, profile: %s}}
  - {id: mine, mode: manual, endpoint: {kind: scripted, lines: [mine of %s]}}
policy: {use: roundrobin}
`, name, peer.id, profile, name)
}

// open opens a room and waits until the other owner's agent has spoken and ours
// waits for approval.
func (o *testOwner) open(yaml, want string) *Room {
	o.t.Helper()
	r, err := o.Create(o.t.Context(), Source{YAML: yaml}, Options{Say: "begin"})
	if err != nil {
		o.t.Fatal(err)
	}
	spoke := false
	for u, err := range o.Watch(o.t.Context(), r.ID(), 0, room.Internal) {
		if err != nil {
			o.t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		switch b := u.Event.Body.(type) {
		case room.MessagePosted:
			spoke = spoke || b.Message.From == "theirs" && b.Message.Text == want
		case room.TurnFailed:
			o.t.Fatalf("a turn failed: %+v", b)
		case room.TurnDrafted:
			if spoke {
				return r
			}
		}
	}
	o.t.Fatalf("%s: the room ended", o.name)
	return nil
}

// TestAtOnce checks that one Host runs two rooms with remote seats, shares an
// agent, answers an invite with a question, and serves a spectator, while it
// watches a room itself, all on one connection.
func TestAtOnce(t *testing.T) {
	relay := startRelay(t)
	ann, bob, cid := newOwner(t, "ann", relay), newOwner(t, "bob", relay), newOwner(t, "cid", relay)
	pair(t, ann, bob)
	for _, o := range []*testOwner{ann, bob} {
		o.allow("orchestrator", nil, ann, bob)
	}
	bob.allow("reviewer", []string{"bob's agent", "bob's agent", "bob's agent"}, ann)
	ann.allow("helper", []string{"ann's agent", "ann's agent"}, bob)

	shared, err := bob.Share(t.Context(), ShareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(shared.Profiles, []string{"reviewer"}) || len(shared.Relays()) != 1 {
		t.Errorf("shared %v at %v", shared.Profiles, shared.Relays())
	}
	first := ann.open(sharedRoom("first", bob, "reviewer"), "bob's agent")
	second := ann.open(sharedRoom("second", bob, "reviewer"), "bob's agent")
	if _, err := ann.Share(t.Context(), ShareOptions{Profiles: []string{"helper"}}); err != nil {
		t.Fatal(err)
	}
	bob.open(sharedRoom("third", ann, "helper"), "ann's agent") // while both rooms of ann are live

	joinAsked(t, ann, cid, device.InviteOptions{Grant: identity.GrantObserver, Room: first.ID(), Name: "Ann's desk"})
	v := watchRoom(t, cid, ann, "")
	v.await(func(e room.Event) bool { _, ok := e.Body.(room.TurnDrafted); return ok })
	if err := v.watch.Say(t.Context(), "cid was here"); err != nil {
		t.Fatal(err)
	}
	if err := cid.SayThere(t.Context(), PeerWatchOptions{Peer: ann.id, Room: first.ID()}, "and here"); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"cid was here", "and here"} {
		v.await(func(e room.Event) bool {
			b, ok := e.Body.(room.MessagePosted)
			return ok && b.Message.Text == text
		})
	}
	for _, r := range []*Room{first, second} {
		if p := r.View().Phase; p != room.PhaseLive {
			t.Errorf("a room of ann is %s", p)
		}
	}
	v.stop()
}

// joinAsked pairs two devices whose owners compare the digits.
func joinAsked(t *testing.T, host, guest *testOwner, o device.InviteOptions) {
	t.Helper()
	p, err := host.Invite(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	q, err := guest.Join(t.Context(), p.Pairing.Invite, device.JoinOptions{Name: guest.name})
	if err != nil {
		t.Fatal(err)
	}
	there, here := until(t, q, device.PairingAsked).Question, until(t, p, device.PairingAsked).Question
	if here.Digits != there.Digits || len(here.Digits) < 12 || here.Name != guest.name || here.Device.String() != guest.id || there.Name != o.Name {
		t.Errorf("asked %+v and %+v", here, there)
	}
	if err := p.Answer("0000 0000 0000", true); codeOf(err) != "INVITE-ANSWERED" {
		t.Errorf("an answer to other digits: %v", err)
	}
	for _, x := range []*Pairing{p, q} {
		if err := x.Answer(here.Digits, true); err != nil {
			t.Fatal(err)
		}
		if err := x.Answer(here.Digits, false); codeOf(err) != "INVITE-ANSWERED" {
			t.Errorf("a second answer: %v", err)
		}
	}
	if s := until(t, p, device.PairingPaired); s.Peer.ID.String() != guest.id || s.Peer.Grant != o.Grant {
		t.Errorf("paired with %+v", s.Peer)
	}
	until(t, q, device.PairingPaired)
}

// A viewing is a watch that keeps what it was shown.
type viewing struct {
	t     *testing.T
	watch *PeerWatch
	stop  func()
	news  chan room.Event
}

func watchRoom(t *testing.T, o, host *testOwner, id string) *viewing {
	t.Helper()
	v := &viewing{t: t, news: make(chan room.Event, 1000)}
	var err error
	v.watch, err = o.WatchPeer(t.Context(), PeerWatchOptions{Peer: host.id, Room: id, Last: 100, Show: func(s spectate.Snapshot) error {
		for _, e := range append(s.Opening, s.Events...) {
			v.news <- e
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = v.watch.Run(ctx) }()
	v.stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(v.stop)
	return v
}

func (v *viewing) await(want func(room.Event) bool) {
	v.t.Helper()
	for {
		select {
		case e := <-v.news:
			if want(e) {
				return
			}
		case <-time.After(time.Minute):
			v.t.Fatal("the event was not shown")
		}
	}
}

// TestRefused checks that the invite is used up, and that both owners are told,
// when one of them refuses, and that a withdrawn invite pairs no device.
func TestRefused(t *testing.T) {
	relay := startRelay(t)
	ann, bob := newOwner(t, "ann", relay), newOwner(t, "bob", relay)
	for name, refuser := range map[string]int{"the host": 0, "the guest": 1} {
		p, q := begin(t, ann, bob)
		both := []*Pairing{p, q}
		digits := until(t, p, device.PairingAsked).Question.Digits
		until(t, q, device.PairingAsked)
		if err := both[refuser].Answer(digits, false); err != nil {
			t.Fatal(err)
		}
		for i, x := range both {
			if s := until(t, x, device.PairingRefused); codeOf(s.Err) != "INVITE-REFUSED" || (i == refuser) != strings.Contains(s.Err.Error(), "you have refused") {
				t.Errorf("%s refuses: %v", name, s.Err)
			}
		}
		again, err := bob.Join(t.Context(), p.Pairing.Invite, device.JoinOptions{Yes: true})
		if err != nil {
			t.Fatal(err)
		}
		ended(t, again)
	}
	p, q := begin(t, ann, bob)
	digits := until(t, p, device.PairingAsked).Question.Digits
	if err := p.Answer(digits, true); err != nil {
		t.Fatal(err)
	}
	ann.Forget(p) // and only then the other owner agrees
	until(t, q, device.PairingAsked)
	if err := q.Answer(digits, true); err != nil {
		t.Fatal(err)
	}
	until(t, q, device.PairingRefused)
	for _, o := range []*testOwner{ann, bob} {
		peers, err := o.Peers()
		if err != nil {
			t.Fatal(err)
		}
		if all, err := peers.List(); err != nil || len(all) > 0 {
			t.Errorf("%s is paired with %+v, %v", o.name, all, err)
		}
	}
	if _, err := ann.Pairing(false, p.ID); codeOf(err) != "INVITE-UNKNOWN" {
		t.Errorf("a forgotten invite: %v", err)
	}
}

// begin makes an invite and uses it.
func begin(t *testing.T, host, guest *testOwner) (p, q *Pairing) {
	t.Helper()
	p, err := host.Invite(t.Context(), device.InviteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if q, err = guest.Join(t.Context(), p.Pairing.Invite, device.JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	return p, q
}

// ended waits for the end of a pairing, which must not be a peer.
func ended(t *testing.T, p *Pairing) {
	t.Helper()
	s := p.State()
	for !s.Phase.Over() {
		var err error
		if s, err = p.Next(t.Context(), s.Version); err != nil {
			t.Fatal(err)
		}
	}
	if s.Phase == device.PairingPaired {
		t.Error("an invite that was used up pairs a device")
	}
}

// TestExpired checks that an invite which no device uses ends, and that the
// process tells a device that uses it later.
func TestExpired(t *testing.T) {
	relay := startRelay(t)
	ann, bob := newOwner(t, "ann", relay), newOwner(t, "bob", relay)
	p, err := ann.Invite(t.Context(), device.InviteOptions{Expires: time.Second, Auto: true})
	if err != nil {
		t.Fatal(err)
	}
	if s := until(t, p, device.PairingExpired); codeOf(s.Err) != "INVITE-EXPIRED" {
		t.Error(s.Err)
	}
	q, err := bob.Join(t.Context(), p.Pairing.Invite, device.JoinOptions{Yes: true})
	if err != nil {
		t.Fatal(err)
	}
	if s := until(t, q, device.PairingExpired); codeOf(s.Err) != "INVITE-EXPIRED" {
		t.Error(s.Err)
	}
}

// TestTwoRelays checks that a device which is online at one relay joins an
// invite of another relay, keeps the connection for the new peer, and closes
// that of an invite which pairs no device.
func TestTwoRelays(t *testing.T) {
	here, there := startRelay(t), startRelay(t)
	ann, bob := newOwner(t, "ann", here), newOwner(t, "bob", there)
	go1, err := ann.Invite(t.Context(), device.InviteOptions{}) // ann is online here
	if err != nil {
		t.Fatal(err)
	}
	ann.Forget(go1)
	p, q := begin(t, bob, ann)
	digits := until(t, p, device.PairingAsked).Question.Digits
	if err := p.Answer(digits, false); err != nil {
		t.Fatal(err)
	}
	until(t, q, device.PairingRefused)
	for relays := []string{""}; len(relays) != 1 || relays[0] != here; { // it is released soon after
		relays = relays[:0]
		for _, r := range ann.connection().Relays() {
			relays = append(relays, r.URL)
		}
	}
	joinAsked(t, bob, ann, device.InviteOptions{Grant: identity.GrantAgent, Name: "bob"})
	if urls := ann.connection().URLs(); !slices.Equal(urls, []string{here, there}) {
		t.Errorf("ann is connected to %v", urls)
	}
	ann.allow("orchestrator", nil, bob)
	bob.allow("reviewer", []string{"from there"}, ann)
	if _, err := bob.Share(t.Context(), ShareOptions{}); err != nil {
		t.Fatal(err)
	}
	ann.open(sharedRoom("far", bob, "reviewer"), "from there")
}

// TestShareEnds checks that a profile is shared once at a time, that the end of
// one share leaves the others, and that a profile can be shared again.
func TestShareEnds(t *testing.T) {
	relay := startRelay(t)
	ann, bob := newOwner(t, "ann", relay), newOwner(t, "bob", relay)
	pair(t, ann, bob)
	ann.allow("orchestrator", nil, bob)
	bob.allow("one", []string{"from one", "from one"}, ann)
	bob.allow("two", []string{"from two", "from two"}, ann)
	share := func(profile string) *Sharing {
		s, err := bob.Share(t.Context(), ShareOptions{Profiles: []string{profile}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one := share("one")
	share("two")
	if _, err := bob.Share(t.Context(), ShareOptions{}); codeOf(err) != "SHARE-TWICE" {
		t.Errorf("shared again: %v", err)
	}
	one.End()
	one.End() // changes nothing
	if all := bob.Shares(); len(all) != 1 || all[0].Profiles[0] != "two" {
		t.Errorf("shared: %+v", all)
	}
	ann.open(sharedRoom("two", bob, "two"), "from two")
	r, err := ann.Create(t.Context(), Source{YAML: sharedRoom("one", bob, "one")}, Options{Say: "begin"})
	if err != nil {
		t.Fatal(err)
	}
	for u, err := range ann.Watch(t.Context(), r.ID(), 0, room.Internal) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		if b, ok := u.Event.Body.(room.TurnFailed); ok {
			if b.Code == "" {
				t.Errorf("failed: %+v", b)
			}
			break
		}
		if _, ok := u.Event.Body.(room.MessagePosted); ok && u.Event.Actor == "theirs" {
			t.Fatal("a profile that is not shared has answered")
		}
	}
	share("one")
	ann.open(sharedRoom("one", bob, "one"), "from one")
}
