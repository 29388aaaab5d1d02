package cli

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/audit"
)

// watched reports whether anybody on another device may watch a room.
func (a *app) watched(spec room.Spec) bool {
	if len(spec.Observers) > 0 {
		return true
	}
	peers, err := identity.OpenPeers(filepath.Join(a.settings.Data, "device", "peers.json")) // no keys are needed, and none made
	if err != nil {
		a.log.Warn("nobody may watch the room", "error", err)
		return false
	}
	all, err := peers.List()
	if err != nil {
		a.log.Warn("nobody may watch the room", "error", err)
	}
	return slices.ContainsFunc(all, func(p identity.Peer) bool { return p.Grant == identity.GrantObserver && p.Room == spec.Room })
}

// findObserver looks a peer up that is to watch a room.
func (a *app) findObserver(peer string) (id, name string, err error) {
	d, err := a.openDevice()
	if err != nil {
		return "", "", err
	}
	p, err := d.peers.Find(peer)
	if err != nil {
		return "", "", err
	}
	fix := "make it an invite: `moot invite --grant observer`"
	switch {
	case p.Grant != identity.GrantObserver:
		return "", "", &problem.Error{Code: "ROOM-PEER", What: fmt.Sprintf("%q was not paired as observer but as %s", p.Name, p.Grant), Fix: fix}
	case p.Room != "":
		return "", "", &problem.Error{Code: "ROOM-PEER", What: fmt.Sprintf("%q was invited to room %s and may watch no other", p.Name, p.Room), Fix: fix + " without --room"}
	}
	return p.ID.String(), p.Name, nil
}

// openGallery answers who watches, on a connection that is being made.
func (h *host) openGallery(c *connection) {
	g := spectate.NewServer(spectate.ServerConfig{
		Peer: c.peers.Lookup, Peers: c.peers.List, Quota: c.quota, Log: h.app.log,
		Audit: func(o spectate.AuditEntry) error {
			return h.audit.Append(audit.Event{Time: o.Time, Device: o.Device.String(), Requester: c.nameOf(o.Device), Room: o.Room, Status: o.Status, Reason: o.Reason})
		},
	})
	c.dispatcher.Handle(g)
	h.remote.watching.Lock()
	defer h.remote.watching.Unlock()
	h.remote.gallery, h.remote.leave = g, nil
	for _, s := range h.remote.stages {
		h.remote.leave = append(h.remote.leave, g.Publish(s))
	}
}

// lingering is how long the end of a room is told to those who watch it.
const lingering = 3 * time.Second

// exhibit lets a room be watched from other devices, as far as they may, until
// leave is called once it does not run any more.
func (h *host) exhibit(ctx context.Context, r *coordinator.Room) (leave func()) {
	s := &exhibit{Room: r, host: h}
	if state, err := foldRoom(ctx, h.log, r.ID()); err == nil {
		s.observers = state.Spec.Observers
	}
	if imported, err := h.log.Imported(ctx, r.ID()); err != nil || imported {
		s.observers = nil // a stranger's word
	}
	h.remote.watching.Lock()
	defer h.remote.watching.Unlock()
	h.remote.stages = append(h.remote.stages, s)
	if g := h.remote.gallery; g != nil {
		h.remote.leave = append(h.remote.leave, g.Publish(s))
	}
	return func() {
		h.remote.watching.Lock()
		all := h.remote.leave
		h.remote.stages, h.remote.leave = nil, nil
		h.remote.watching.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lingering)
		defer cancel()
		for _, leave := range all {
			leave(ctx)
		}
	}
}

// An exhibit is a room that is watched.
type exhibit struct {
	*coordinator.Room
	host      *host
	observers []room.Observer

	seating sync.Mutex
}

func (s *exhibit) Observers() []room.Observer { return s.observers }

func (s *exhibit) Tail() int64 { return s.View().Seq }

func (s *exhibit) Head(ctx context.Context, most int) ([]room.Event, error) {
	entries, err := s.host.log.Read(ctx, s.ID(), log.Pos{}, most)
	events := make([]room.Event, len(entries))
	for i, e := range entries {
		events[i] = e.Event
	}
	return events, err
}

// Watch leaves live text out: its pace would say too much on the way.
func (s *exhibit) Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		for u, err := range s.Room.Watch(ctx, after, level) {
			if err != nil {
				yield(room.Event{}, err)
				return
			}
			if u.Event != nil && !yield(*u.Event, nil) {
				return
			}
		}
	}
}

func (s *exhibit) Ending() (phase room.Phase, reason string, over bool) {
	v := s.View()
	return v.Phase, v.Ending.Reason, v.Phase == room.PhaseCompleted || v.Phase == room.PhaseStopped || v.Phase == room.PhaseError
}

// Say posts what a guest says, who is given a seat first.
func (s *exhibit) Say(ctx context.Context, g spectate.Spectator, id, text string) error {
	seat, err := s.seat(ctx, g)
	if err != nil {
		return err
	}
	_, err = s.Do(ctx, room.Command{ID: id, Actor: seat, Do: room.Say{Text: text}})
	return err
}

// seat finds the seat of a device's owner, or makes one.
func (s *exhibit) seat(ctx context.Context, g spectate.Spectator) (id string, err error) {
	s.seating.Lock()
	defer s.seating.Unlock()
	v := s.View()
	for _, x := range v.Seats {
		if x.Kind == policy.Human && x.Device == g.Device.String() {
			return x.ID, nil
		}
	}
	id = freeSeat(v, g.Name)
	_, err = s.Do(ctx, room.Command{Actor: room.ActorHost, Do: room.Join{
		Participant: room.Participant{ID: id, Kind: policy.Human, Owner: g.Name, Device: g.Device.String()},
	}})
	return id, err
}

// maxSeatName is the length of an id in room.yaml, less a number.
const maxSeatName = 28

// freeSeat makes an id of what somebody is called, which nobody in the room
// has as id or name.
func freeSeat(v room.View, name string) string {
	base := strings.Trim(strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return r
		}
		return '-'
	}, name), "-_0123456789")
	if base == "" {
		base = "observer"
	}
	base = base[:min(len(base), maxSeatName)]
	reserved := []string{room.ActorRoom, room.ActorPolicy, room.ActorHost, room.Broadcast}
	taken := func(id string) bool {
		return slices.Contains(reserved, strings.ToLower(id)) || slices.ContainsFunc(v.Seats, func(x room.SeatView) bool { return strings.EqualFold(x.ID, id) || strings.EqualFold(x.Name, id) })
	}
	id := base
	for n := 2; taken(id); n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	return id
}
