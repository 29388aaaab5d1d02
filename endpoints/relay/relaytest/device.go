package relaytest

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// A Device is a device with keys, a connection to a relay, and a link to its
// peers.
type Device struct {
	*session.Link
	Self    *identity.Device
	Invites *identity.Invites
	Client  *client.Client

	t   testing.TB
	url string
}

// NewDevice returns a device that is connected to its relay. cfg.URL and the
// way to dial it are required; device and callbacks are set here. The device
// goes offline when ctx ends, and work waits for that.
func NewDevice(ctx context.Context, t testing.TB, work *sync.WaitGroup, name string, cfg client.Config) *Device {
	t.Helper()
	dir := t.TempDir()
	self, err := identity.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	d := &Device{Self: self, t: t, url: cfg.URL}
	peers, err := identity.OpenPeers(filepath.Join(dir, "peers"))
	if err != nil {
		t.Fatal(err)
	}
	if d.Invites, err = identity.OpenInvites(filepath.Join(dir, "invites")); err != nil {
		t.Fatal(err)
	}
	connected := make(chan struct{})
	var once sync.Once
	cfg.Device, cfg.Signer = frame.ID(self.ID()), self
	cfg.Deliver = func(from frame.ID, payload []byte) { d.Deliver(from, payload) }
	cfg.Changed = func(s client.Status) {
		if s.Connected {
			once.Do(func() { close(connected) })
			d.Reconnected()
		}
	}
	if d.Client, err = client.New(cfg); err != nil {
		t.Fatal(err)
	}
	d.Link = session.NewLink(session.LinkConfig{Self: self, Name: name, Peers: peers, Invites: d.Invites, Transport: d.Client})
	work.Go(func() { _ = d.Run(ctx) }) // returns the end of ctx
	work.Go(func() {
		if err := d.Client.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	<-connected
	return d
}

// ID returns the device's id.
func (d *Device) ID() identity.DeviceID { return d.Self.ID() }

// Pair pairs d with host by an automatic invite.
func (d *Device) Pair(ctx context.Context, host *Device, capabilities ...string) {
	d.t.Helper()
	in, err := identity.NewInvite(host.Self, identity.Invite{Relay: d.url, Auto: true}, time.Now())
	if err != nil {
		d.t.Fatal(err)
	}
	if err := host.Invites.Add(in, time.Now()); err != nil {
		d.t.Fatal(err)
	}
	agree := func(context.Context, session.AwaitingApproval) bool { return true }
	if _, err := d.Join(ctx, in, capabilities, agree); err != nil {
		d.t.Fatal(err)
	}
}

// NextMessage waits for the next message of any peer.
func (d *Device) NextMessage(ctx context.Context) (from identity.DeviceID, message string, err error) {
	for {
		in, err := d.Next(ctx)
		if err != nil {
			return identity.DeviceID{}, "", err
		}
		if m, ok := in.Event.(session.Delivered); ok {
			return in.From, string(m.Message), nil
		}
	}
}
