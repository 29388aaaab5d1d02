package moot

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log/audit"
)

// A DeviceInfo describes this device toward other owners.
type DeviceInfo struct {
	ID     string // that others allow
	Spoken string // the id with check characters, for people
	Online bool   // a relay has let the device in
	Relays []device.Relay
}

// Device describes this device. It makes keys when there are none, and does not
// go online.
func (h *Host) Device() (DeviceInfo, error) {
	c := h.connection()
	if c == nil {
		d, err := h.wiring.Device()
		if err != nil {
			return DeviceInfo{}, err
		}
		return DeviceInfo{ID: d.Self.ID().String(), Spoken: d.Self.ID().Display()}, nil
	}
	i := DeviceInfo{ID: c.Self.ID().String(), Spoken: c.Self.ID().Display(), Relays: c.Relays()}
	i.Online = slices.ContainsFunc(i.Relays, func(r device.Relay) bool { return r.Connected })
	return i, nil
}

// connection returns the connection to other owners, nil while there is none.
func (h *Host) connection() *device.Connection {
	h.remote.mu.Lock()
	defer h.remote.mu.Unlock()
	if c := h.remote.conn; c != nil && c.Err() == nil {
		return c
	}
	return nil
}

// DeviceHolder returns the id of another process in which this device is online,
// 0 if there is none.
func (h *Host) DeviceHolder() int {
	if h.connection() != nil {
		return 0
	}
	if pid := device.Holder(h.wiring.DeviceDir()); pid != os.Getpid() {
		return pid
	}
	return 0
}

// Peers returns the devices that this one is paired with. They are shared with
// other processes of the data folder.
func (h *Host) Peers() (*identity.Peers, error) { return h.wiring.Peers() }

// Profiles returns the profiles of the settings file as it is now, and its path, which
// is "" if there is none.
func (h *Host) Profiles() (all []config.Profile, file string) {
	s := h.current().Settings
	return s.Profiles, s.File
}

// SharedBy returns the names of the agents that a paired device shares with this one. It
// goes online, and waits for the device until ctx ends.
func (h *Host) SharedBy(ctx context.Context, peer string) ([]string, error) {
	store, err := h.Peers()
	if err != nil {
		return nil, err
	}
	p, err := store.Find(peer)
	if err != nil {
		return nil, err
	}
	c, err := h.online(ctx, device.Options{}, func(c *device.Connection) error { return c.Reach(p.ID) })
	if err != nil {
		return nil, err
	}
	q := newInquiry(p.ID)
	c.Dispatcher.Handle(q)
	defer c.Dispatcher.Unhandle(q)
	names, err := q.Ask(ctx)
	if errors.Is(err, share.ErrOffers) {
		err = &problem.Error{Code: "RELAY-SILENT", What: "the device of " + p.Name + " does not say which agents it shares", Fix: "ask its owner to run `moot share`; agents can be named without the list", Err: err}
	}
	return names, err
}

// ShareOptions say what is shared with other owners.
type ShareOptions struct {
	Profiles []string // of the settings file; none: all that have an endpoint
	Relay    string   // URL of a relay to connect to as well
	Name     string   // what this device calls itself to others, if it is not online yet
}

// A Sharing is a share of agents with other owners until End is called.
type Sharing struct {
	ID       string
	Profiles []string
	Unused   []string // profiles that no device may call

	host   *Host
	agents []share.AgentConfig
	conn   *device.Connection
	end    sync.Once
}

// Share shares agents of this device. It returns when a relay has let the device
// in and one agent of each profile is ready for its first room.
func (h *Host) Share(ctx context.Context, o ShareOptions) (*Sharing, error) {
	s := &Sharing{ID: rand.Text(), host: h}
	err := s.find(o.Profiles)
	if err == nil {
		err = s.begin(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	if o.Relay != "" {
		_, err = s.conn.Use(o.Relay) // for as long as the connection lasts
	}
	if err == nil {
		err = s.conn.Await(ctx)
	}
	if err == nil {
		err = s.conn.AwaitAgents(ctx, s.Profiles...)
	}
	if err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// find finds the agents of profiles.
func (s *Sharing) find(profiles []string) (err error) {
	if s.agents, err = s.host.current().served(profiles); err != nil {
		return err
	}
	for _, a := range s.agents {
		s.Profiles = append(s.Profiles, a.Profile.Name)
		if !a.Profile.Allow || len(a.Profile.Devices) == 0 {
			s.Unused = append(s.Unused, a.Profile.Name)
		}
	}
	return nil
}

// begin shares the agents.
func (s *Sharing) begin(ctx context.Context, o ShareOptions) (err error) {
	s.conn, err = s.host.online(ctx, device.Options{Relay: o.Relay, Name: o.Name}, func(c *device.Connection) error { return c.Share(s.agents) })
	if err != nil {
		return err
	}
	r := &s.host.remote
	r.using.Lock()
	defer r.using.Unlock()
	r.sharings = append(r.sharings, s)
	return nil
}

// shareForever shares all profiles until the Host is closed, once. It does not
// wait for the relay.
func (h *Host) shareForever(ctx context.Context) error {
	r := &h.remote
	r.sharing.Lock()
	defer r.sharing.Unlock()
	if r.all != nil {
		return nil
	}
	s := &Sharing{ID: rand.Text(), host: h}
	err := s.find(nil)
	if err == nil {
		err = s.begin(ctx, ShareOptions{})
	}
	if err == nil {
		r.all = s
	}
	return err
}

// shareAgain shares on a new connection what was shared on the one before.
func (h *Host) shareAgain(c *device.Connection) error {
	h.remote.using.Lock()
	defer h.remote.using.Unlock()
	for _, s := range h.remote.sharings {
		if err := c.Share(s.agents); err != nil {
			return err
		}
	}
	return nil
}

// Shares returns the shares that have not ended.
func (h *Host) Shares() []*Sharing {
	h.remote.using.Lock()
	defer h.remote.using.Unlock()
	return slices.Clone(h.remote.sharings)
}

// Relays returns the URLs of the relays where others reach this device.
func (s *Sharing) Relays() []string { return s.conn.URLs() }

// Done is closed when the connection of the share has ended; Err says why.
func (s *Sharing) Done() <-chan struct{} { return s.conn.Done() }

// Err returns why no relay lets this device in, nil while one may.
func (s *Sharing) Err() error { return s.conn.Err() }

// End ends the share and waits for its agents. Requests in progress are answered
// with "interrupted".
func (s *Sharing) End() {
	s.end.Do(func() {
		r := &s.host.remote
		r.using.Lock()
		r.sharings = slices.DeleteFunc(r.sharings, func(x *Sharing) bool { return x == s })
		r.using.Unlock()
		if c := s.host.connection(); c != nil {
			c.Unshare(s.Profiles...)
		}
	})
}

// auditShared returns what records the requests of other devices in the host log.
func (h *Host) auditShared(d *device.Device) func(share.AuditEntry) error {
	return func(q share.AuditEntry) error {
		return h.audit.Append(audit.Event{
			Time: q.Time, Profile: q.Profile, Device: q.Device.String(), Requester: d.NameOf(q.Device), Room: q.Room, Turn: q.Turn,
			Mode: q.Mode, Status: q.Status, Reason: q.Reason, MS: int64(q.Took / time.Millisecond),
		})
	}
}

// A Pairing is an invite of this device, or the use of an invite of another one.
type Pairing struct {
	*device.Pairing
	ID string
}

// maxPairings bounds the pairings that a Host keeps, to tell how they ended.
const maxPairings = 200

// Invite makes an invite for another device and waits for it in the background,
// until the Host is closed. With a seat the other device may hold that seat, in place
// of the device that may hold it now.
func (h *Host) Invite(ctx context.Context, o device.InviteOptions) (*Pairing, error) {
	if o.Seat != "" {
		o.Grant = identity.GrantSeat
		if err := h.checkSeatInvite(ctx, o); err != nil {
			return nil, err
		}
		if err := h.stay(ctx, o.Room, o.Seat); err != nil {
			return nil, err
		}
	}
	if o.Grant == identity.GrantObserver && o.Room != "" {
		if s, err := h.fold(ctx, o.Room); err == nil { // a room that is made later is offered then
			h.offer(s.Spec)
		}
	}
	c, err := h.online(ctx, device.Options{Relay: o.Relay, Name: o.Name}, nil)
	if err != nil {
		return nil, err
	}
	return h.keep(c.Invite(ctx, o))
}

// Join uses an invite of another device in the background.
func (h *Host) Join(ctx context.Context, in identity.Invite, o device.JoinOptions) (*Pairing, error) {
	c, err := h.online(ctx, device.Options{Relay: in.Relay, Name: o.Name}, nil)
	if err != nil {
		return nil, err
	}
	return h.keep(c.Join(in, o))
}

// keep makes a pairing one that Pairing finds.
func (h *Host) keep(p *device.Pairing, err error) (*Pairing, error) {
	if err != nil {
		return nil, err
	}
	r := &h.remote
	r.using.Lock()
	defer r.using.Unlock()
	kept := &Pairing{p, rand.Text()}
	r.pairings = append(r.pairings, kept)
	if i := slices.IndexFunc(r.pairings, func(p *Pairing) bool { return p.State().Phase.Over() }); i >= 0 && len(r.pairings) > maxPairings {
		r.pairings = slices.Delete(r.pairings, i, i+1)
	}
	return kept, nil
}

// Pairings returns the invites of this device, or its joins, the oldest first.
// Those that are over stay for some time.
func (h *Host) Pairings(joining bool) []*Pairing {
	h.remote.using.Lock()
	defer h.remote.using.Unlock()
	var all []*Pairing
	for _, p := range h.remote.pairings {
		if p.Joining == joining {
			all = append(all, p)
		}
	}
	return all
}

// Pairing returns an invite of this device, or a join.
func (h *Host) Pairing(joining bool, id string) (*Pairing, error) {
	all := h.Pairings(joining)
	if i := slices.IndexFunc(all, func(p *Pairing) bool { return p.ID == id }); i >= 0 {
		return all[i], nil
	}
	return nil, &problem.Error{Code: "INVITE-UNKNOWN", What: "there is no such pairing", Where: id, Fix: "it may have ended long ago; make another", Kind: errUnknown}
}

// errUnknown is the kind of errors about things of the device that are not there.
var errUnknown = errors.New("not found")

// Forget ends a pairing that is not over, and forgets it.
func (h *Host) Forget(p *Pairing) {
	p.Withdraw()
	h.remote.using.Lock()
	defer h.remote.using.Unlock()
	h.remote.pairings = slices.DeleteFunc(h.remote.pairings, func(x *Pairing) bool { return x == p })
}
