package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// switchboard stands in for a relay and the connections to it.
type switchboard struct {
	mu    sync.Mutex
	links map[[32]byte]*session.Link
}

func (s *switchboard) connect(id identity.DeviceID, l *session.Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[id] = l
}

type port struct {
	s    *switchboard
	from [32]byte
}

func (l port) Send(_ context.Context, to [32]byte, payload []byte) error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if there := l.s.links[to]; there != nil {
		there.Deliver(l.from, payload)
	}
	return nil
}

// device opens the files of a device and runs its link.
func device(ctx context.Context, wg *sync.WaitGroup, relay *switchboard, dir, name string) (*session.Link, *identity.Device, *identity.Invites) {
	self, err := identity.LoadOrGenerate(filepath.Join(dir, name, "device.json"), nil, time.Now())
	check(err)
	peers, err := identity.OpenPeers(filepath.Join(dir, name, "peers.json"))
	check(err)
	invites, err := identity.OpenInvites(filepath.Join(dir, name, "invites.json"))
	check(err)
	l := session.NewLink(session.LinkConfig{
		Self: self, Name: name, Peers: peers, Transport: port{relay, self.ID()}, Invites: invites,
		Admit: func(_ context.Context, n session.JoinRequest) bool { // a person compares n.Digits
			fmt.Printf("%s: accepting %s as %s\n", name, n.Name, n.Grant)
			return true
		},
	})
	relay.connect(self.ID(), l)
	wg.Go(func() { _ = l.Run(ctx) })
	return l, self, invites
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// Example pairs two devices through a relay and sends a message.
func Example() {
	dir, err := os.MkdirTemp("", "moot")
	check(err)
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	relay := &switchboard{links: map[[32]byte]*session.Link{}}
	host, self, invites := device(ctx, &wg, relay, dir, "host")
	guest, _, _ := device(ctx, &wg, relay, dir, "guest")

	in, err := identity.NewInvite(self, identity.Invite{Relay: "wss://relay.example"}, time.Now())
	check(err)
	check(invites.Add(in, time.Now()))

	// The owner sent the invite as text. Both owners compare the digits.
	agree := func(_ context.Context, w session.AwaitingApproval) bool { return len(w.Digits) == 13 }
	peer, err := guest.Join(ctx, in, []string{"review"}, agree)
	check(err)
	fmt.Printf("guest: paired with %s\n", peer.Name)

	check(guest.Send(ctx, peer.ID, []byte("hello")))
	for {
		event, err := host.Next(ctx)
		check(err)
		if m, ok := event.Event.(session.Delivered); ok {
			fmt.Printf("host: got %s\n", m.Message)
			break
		}
	}
	cancel()
	wg.Wait()
	// Output:
	// host: accepting guest as agent
	// guest: paired with host
	// host: got hello
}
