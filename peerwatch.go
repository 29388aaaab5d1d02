package moot

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/spectate"
)

// PeerWatchOptions say which room of another owner's device is watched.
type PeerWatchOptions struct {
	Peer  string        // name or id of the device
	Room  string        // "" is the only room that this device may watch there
	After *int64        // go on after this event; nil: begin with the last events
	Last  int           // how many
	Wait  time.Duration // how long to wait for a device that does not answer; 0 is for ever
	Relay string        // URL of the relay to connect to; "" is that of the peer
	Name  string        // what this device calls itself to others, if it is not online yet

	// Show is called with each answer of the other device, Silent when it has not
	// answered for a while, and Offline when a relay says whether it is connected.
	// One call is made at a time. An error of Show ends the watch.
	Show    func(spectate.Snapshot) error
	Silent  func()
	Offline func(offline bool)
}

// A PeerWatch watches one room on another owner's device.
type PeerWatch struct {
	ID   string
	Peer identity.Peer

	room   string
	host   *Host
	conn   *device.Connection
	client *spectate.Client
	opts   PeerWatchOptions
}

// WatchPeer begins to watch a room of another owner's device. The caller calls
// Run.
func (h *Host) WatchPeer(ctx context.Context, o PeerWatchOptions) (*PeerWatch, error) {
	peers, err := h.Peers()
	if err != nil {
		return nil, err
	}
	p, err := peers.Find(o.Peer)
	if err != nil {
		return nil, err
	}
	var one sync.Mutex // the callbacks come from two goroutines
	if show := o.Show; show != nil {
		o.Show = func(s spectate.Snapshot) error { one.Lock(); defer one.Unlock(); return show(s) }
	} else {
		o.Show = func(spectate.Snapshot) error { return nil }
	}
	if offline := o.Offline; offline != nil {
		o.Offline = func(now bool) { one.Lock(); defer one.Unlock(); offline(now) }
	} else {
		o.Offline = func(bool) {}
	}
	if silent := o.Silent; silent != nil {
		o.Silent = func() { one.Lock(); defer one.Unlock(); silent() }
	}
	w := &PeerWatch{ID: rand.Text(), Peer: p, room: o.Room, host: h, opts: o}
	w.client = h.wiring.Watcher(spectate.ClientConfig{Host: p.ID, Room: o.Room, After: o.After, Last: o.Last, Wait: o.Wait, Show: o.Show, Silent: o.Silent})
	url := cmp.Or(o.Relay, p.Relay)
	w.conn, err = h.online(ctx, device.Options{Relay: url, Name: o.Name}, func(c *device.Connection) error {
		c.Dispatcher.Handle(w.client)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if url != "" {
		if _, err := w.conn.Use(url); err != nil { // for as long as the connection lasts
			w.conn.Dispatcher.Unhandle(w.client)
			return nil, err
		}
	}
	h.remote.using.Lock()
	defer h.remote.using.Unlock()
	h.remote.watches = append(h.remote.watches, w)
	return w, nil
}

// Run watches until the room has ended, ctx ends, or the Host goes offline.
func (w *PeerWatch) Run(ctx context.Context) error {
	defer w.leave()
	follow, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { w.conn.FollowOffline(follow, w.Peer.ID, w.opts.Offline) })
	defer work.Wait()
	defer stop()
	err := w.client.Run(ctx)
	if err != nil && ctx.Err() == nil {
		return errors.Join(w.conn.Err(), err)
	}
	return err
}

// leave makes the watch one that is not found any more.
func (w *PeerWatch) leave() {
	w.conn.Dispatcher.Unhandle(w.client)
	r := &w.host.remote
	r.using.Lock()
	defer r.using.Unlock()
	r.watches = slices.DeleteFunc(r.watches, func(x *PeerWatch) bool { return x == w })
}

// Say posts a message in the room, once its host has shown it.
func (w *PeerWatch) Say(ctx context.Context, text string) error { return w.client.Say(ctx, text) }

// Watches returns the watches that have not ended.
func (h *Host) Watches() []*PeerWatch {
	h.remote.using.Lock()
	defer h.remote.using.Unlock()
	return slices.Clone(h.remote.watches)
}

// SayThere posts a message in a room on another owner's device, by a watch of the
// room or, if there is none, by one for this message.
func (h *Host) SayThere(ctx context.Context, o PeerWatchOptions, text string) error {
	peers, err := h.Peers()
	if err != nil {
		return err
	}
	p, err := peers.Find(o.Peer)
	if err != nil {
		return err
	}
	all := h.Watches()
	if i := slices.IndexFunc(all, func(w *PeerWatch) bool { return w.Peer.ID == p.ID && w.room == o.Room }); i >= 0 {
		return all[i].Say(ctx, text)
	}
	w, err := h.WatchPeer(ctx, o)
	if err != nil {
		return err
	}
	watch, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(watch) }()
	err = w.Say(ctx, text)
	stop()
	if ran := <-ended; ran != nil && !errors.Is(ran, context.Canceled) {
		err = ran // it says why the room was not shown
	}
	return err
}
