package moot

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/hold"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/seat"
	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/audit"
)

// A remote is the Host's connection to devices of other owners. It is made
// when it is needed first.
type remote struct {
	mu     sync.Mutex
	conn   *device.Connection
	holder *hold.Client // of conn
	err    error        // why UseDevice has none
	closed bool

	connecting sync.WaitGroup // goroutines of publish

	sharing sync.Mutex
	all     *Sharing // of Options.Share; nil until a room has that

	// Shares, pairings and watches that have not ended; see device.go.
	using    sync.Mutex
	rules    []config.Profile // of UseDevice
	sharings []*Sharing
	pairings []*Pairing
	watches  []*PeerWatch

	// Spectators have a lock of their own, because connecting takes time.
	watching   sync.Mutex
	spectators *spectate.Server      // nil while the Host is offline
	rooms      map[string]*watchable // by id
}

// end goes offline for good.
func (r *remote) end() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.connecting.Wait()
	r.close()
}

func (r *remote) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn != nil {
		r.conn.Close()
		r.conn = nil
	}
}

// UseDevice makes the Host connect to other owners by connect instead of as
// this device, and adds rules for an agent that asks there. connect runs at
// once, in its own goroutine: rooms wait for it when they need a remote seat.
// The caller calls closeDevice before it closes the Host.
func (h *Host) UseDevice(rules config.Profile, connect func() (*device.Connection, error)) (closeDevice func()) {
	h.remote.using.Lock()
	h.remote.rules = append(h.remote.rules, rules)
	h.remote.using.Unlock()
	h.remote.mu.Lock()
	go func() {
		defer h.remote.mu.Unlock()
		h.remote.conn, h.remote.err = connect()
	}()
	return h.remote.close
}

// connectFor goes online for a room with remote seats, sessions on other devices or
// spectators, so that its first turn does not wait for the connection, and to share
// agents.
func (h *Host) connectFor(ctx context.Context, spec Spec, participants []Participant, share bool) error {
	if share {
		return h.shareForever(ctx)
	}
	if !h.mayBeWatched(spec) && !h.mayBeHeld(spec.Room) && !slices.ContainsFunc(participants, config.Remote) {
		return nil
	}
	_, err := h.online(ctx, device.Options{}, nil)
	return err
}

// online returns the connection to other owners, which it makes as o says if
// there is none. It first calls prepare with the connection, before anything
// arrives on a new one.
func (h *Host) online(ctx context.Context, o device.Options, prepare func(*device.Connection) error) (*device.Connection, error) {
	h.remote.mu.Lock()
	defer h.remote.mu.Unlock()
	switch c := h.remote.conn; {
	case h.remote.err != nil:
		return nil, h.remote.err
	case h.remote.closed:
		return nil, errHostClosed
	case c != nil && c.Err() == nil:
		if prepare != nil {
			return c, prepare(c)
		}
		return c, nil
	case c != nil: // no relay lets the device in; that may have changed
		c.Close()
		h.remote.conn = nil
	}
	d, err := h.current().Device()
	if err != nil {
		return nil, err
	}
	o.Audit = h.auditShared(d)
	o.Listen = func(c *device.Connection) error {
		h.serveHolders(c)
		h.serveSpectators(c)
		if err := h.shareAgain(c); err != nil || prepare == nil {
			return err
		}
		return prepare(c)
	}
	c, err := d.Connect(ctx, o)
	h.remote.conn = c
	return c, err
}

var errHostClosed = &problem.Error{Code: "RELAY-OFFLINE", What: "this process is ending, and connects to other devices no more", Fix: "try again"}

// current returns the wiring with the profiles and tokens that the settings file
// has now: they change while a Host runs.
func (h *Host) current() Wiring {
	w := h.wiring
	if s, _, err := config.LoadSettings(nil); w.Settings.File != "" && err == nil && s.File == w.Settings.File {
		w.Settings.Profiles, w.Settings.RelayTokens = s.Profiles, s.RelayTokens
	} else if err != nil {
		w.Log.Warn("the settings file cannot be read, so that its profiles stay as they were", "error", err)
	}
	h.remote.using.Lock()
	defer h.remote.using.Unlock()
	w.Settings.Profiles = slices.Concat(h.remote.rules, w.Settings.Profiles)
	return w
}

// remoteSeat makes the endpoint of a seat on another owner's device.
func (h *Host) remoteSeat(ctx context.Context, p Participant, e config.Endpoint) (coordinator.Endpoint, error) {
	id, err := identity.ParseDeviceID(p.Device)
	if err != nil {
		return nil, &problem.Error{Code: "ROOM-PEER", What: p.ID + " is on no device that is known", Fix: "open a new room from its file", Err: err}
	}
	c, err := h.online(ctx, device.Options{}, func(c *device.Connection) error { return c.Reach(id) })
	if err != nil {
		return nil, err
	}
	rules, err := h.current().profile(p.Profile)
	if err != nil {
		return nil, err
	}
	refused := func(q endpoint.Prompt, err error) {
		h.auditRefusal(audit.Event{Time: time.Now(), Profile: rules.Name, Device: p.Device, Requester: p.ID, Room: q.Room, Turn: q.Turn, Mode: q.Mode, Status: "refused", Reason: codeOf(err)})
	}
	return newRemoteSeat(c, h.wiring.Log, seat.Config{Device: id, Remote: e.Profile, Profile: rules, Refused: refused}), nil
}

// auditRefusal records a request that this device did not send. The turn has
// failed already, so an error is only logged.
func (h *Host) auditRefusal(e audit.Event) {
	if err := h.audit.Append(e); err != nil {
		h.wiring.Log.Error("a refusal is not in the host log", "error", err)
	}
}

// codeOf returns the stable code of an error, for records.
func codeOf(err error) string {
	if c, ok := err.(problem.Coded); ok {
		return c.ErrorCode()
	}
	return "failed"
}

// goEndpoint makes the endpoint of an agent in Go.
func (h *Host) goEndpoint(ctx context.Context, p Participant, e config.Endpoint) (coordinator.Endpoint, error) {
	open := h.wiring.Endpoints[e.Name]
	if open == nil {
		return nil, noGoEndpoint(e.Name)
	}
	made, err := open(ctx, p)
	if err == nil && made == nil {
		err = errors.New("Config.Endpoints returned nil")
	}
	return made, err
}

func noGoEndpoint(name string) error {
	return &problem.Error{Code: "ROOM-ENDPOINT", What: "this program has no agent in Go named " + name, Fix: "add it to moot.Config.Endpoints; the moot command has none"}
}
