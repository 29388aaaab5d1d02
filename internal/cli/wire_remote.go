package cli

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/seat"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/audit"
)

// A remote is a host's way to other owners' devices: online as soon as a room
// has a seat on one.
type remote struct {
	mu   sync.Mutex
	conn *connection
	err  error // why there is none, when somebody tried beforehand
	// What this device shares meanwhile; nil is nothing.
	share func(*connection) (*share.Share, error)

	// Who watches from there, as soon as the device is online. The lock is another
	// one, for going online may take time.
	watching sync.Mutex
	gallery  *spectate.Server
	stages   []spectate.Room
	leave    []func(context.Context)
}

func (r *remote) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn != nil {
		r.conn.close()
		r.conn = nil
	}
}

// dial goes online for a room with remote seats, so that the first turn does
// not wait for it, for who may watch it, or to share agents beside the room.
func (h *host) dial(ctx context.Context, spec room.Spec, seats []room.Participant, share bool) error {
	if share {
		serve, err := h.app.served(nil)
		if err != nil {
			return err
		}
		h.remote.share = sharer(serve, h.audit)
		_, err = h.online(ctx)
		return err
	}
	if !h.app.watched(spec) && !slices.ContainsFunc(seats, config.Remote) {
		return nil
	}
	_, err := h.online(ctx)
	return err
}

func (h *host) online(ctx context.Context) (*connection, error) {
	h.remote.mu.Lock()
	defer h.remote.mu.Unlock()
	switch {
	case h.remote.err != nil:
		return nil, h.remote.err
	case h.remote.conn != nil:
		return h.remote.conn, h.remote.conn.refused()
	}
	d, err := h.app.openDevice()
	if err != nil {
		return nil, err
	}
	c, err := d.connect(ctx, online{share: h.remote.share, listen: h.openGallery})
	h.remote.conn = c
	return c, err
}

// reachRemote makes the endpoint of a seat on another owner's device.
func (h *host) reachRemote(ctx context.Context, p room.Participant, e config.Endpoint) (coordinator.Endpoint, error) {
	id, err := identity.ParseDeviceID(p.Device)
	if err != nil {
		return nil, &problem.Error{Code: "ROOM-PEER", What: p.ID + " is on no device that is known", Fix: "open a new room from its file", Err: err}
	}
	rules, err := h.app.profile(p.Profile)
	if err != nil {
		return nil, err
	}
	c, err := h.online(ctx)
	if err != nil {
		return nil, err
	}
	return seat.New(seat.Config{
		Dispatcher: c.dispatcher, Device: id, Remote: e.Profile, Profile: rules, Quota: c.quota, Trusted: c.trusted(id),
		Refused: func(q endpoint.Prompt, err error) {
			h.refused(audit.Event{Time: time.Now(), Profile: rules.Name, Device: p.Device, Requester: p.ID, Room: q.Room, Turn: q.Turn, Mode: q.Mode, Status: "refused", Reason: codeIn(err)})
		},
	}), nil
}

// trusted asks the store, as whoever runs `moot peers` has left it.
func (d *device) trusted(id identity.DeviceID) func() error {
	return func() error {
		p, err := d.peers.Lookup(id)
		switch {
		case errors.Is(err, identity.ErrNoPeer):
			return session.ErrUnknownPeer
		case err == nil && p.Suspended():
			return session.ErrSuspended
		}
		return nil // a store that cannot be read is the Link's to refuse
	}
}

// refused keeps what this device did not let out. The turn has failed already,
// so an error is only for the log.
func (h *host) refused(e audit.Event) {
	if err := h.audit.Append(e); err != nil {
		h.app.log.Error("a refusal is not in the host log", "error", err)
	}
}

// codeIn is the stable code of an error, for records.
func codeIn(err error) string {
	if c, ok := err.(problem.Coded); ok {
		return c.ErrorCode()
	}
	return "failed"
}

// findDevice looks a peer up for a room file. A device that has no keys yet is
// paired with nobody.
func (a *app) findDevice(peer string) (id, owner string, err error) {
	d, err := a.openDevice()
	if err != nil {
		return "", "", err
	}
	return d.find(peer)
}
