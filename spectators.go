package moot

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/audit"
)

// mayBeWatched reports whether a device of another owner may watch a room.
func (h *Host) mayBeWatched(spec Spec) bool {
	if len(spec.Observers) > 0 {
		return true
	}
	all, err := h.wiring.peers()
	if err != nil {
		h.wiring.Log.Warn("nobody may watch the room", "error", err)
	}
	return slices.ContainsFunc(all, func(p identity.Peer) bool { return p.Grant == identity.GrantObserver && p.Room == spec.Room })
}

// serveSpectators answers devices that watch, on a connection that is being
// made.
func (h *Host) serveSpectators(c *device.Connection) {
	g := newSpectatorServer(c, h.wiring.Log, func(o spectate.AuditEntry) error {
		return h.audit.Append(audit.Event{Time: o.Time, Device: o.Device.String(), Requester: c.NameOf(o.Device), Room: o.Room, Status: o.Status, Reason: o.Reason})
	})
	c.Dispatcher.Handle(g)
	h.remote.watching.Lock()
	defer h.remote.watching.Unlock()
	h.remote.spectators = g
	for _, w := range h.remote.rooms {
		w.leave = g.Publish(w)
	}
}

// lingerTime is how long a stopped Host tells spectators how rooms ended.
const lingerTime = 8 * time.Second

// publish lets other devices watch a room that was loaded, as far as they may,
// until the Host stops or withdraws it. If there are any, it goes online in the background.
func (h *Host) publish(r *coordinator.Room) {
	spec := r.Spec()
	if h.mayBeWatched(spec) || h.mayBeHeld(spec.Room) {
		h.remote.connecting.Go(func() {
			if _, err := h.online(context.Background(), device.Options{}, nil); err != nil {
				h.wiring.Log.Warn("a room has no spectators and no sessions on other devices", "room", spec.Room, "error", err)
			}
		})
	}
	h.offer(spec)
}

// offer adds a room to those that other devices may watch.
func (h *Host) offer(spec Spec) {
	w := &watchable{id: spec.Room, host: h, observers: spec.Observers}
	if imported, err := h.log.Imported(context.Background(), w.id); err != nil || imported {
		w.observers = nil // its log was written elsewhere
	}
	h.remote.watching.Lock()
	defer h.remote.watching.Unlock()
	if h.remote.rooms[w.id] != nil {
		return // it was loaded before
	}
	if h.remote.rooms == nil {
		h.remote.rooms = map[string]*watchable{}
	}
	h.remote.rooms[w.id] = w
	if g := h.remote.spectators; g != nil {
		w.leave = g.Publish(w)
	}
}

// withdraw forgets a room that was unloaded if it has ended and no other device may watch
// it, so that a server does not grow with each room that it has run. [Host.Invite] offers
// it again.
func (h *Host) withdraw(r *coordinator.Room) {
	spec := r.Spec()
	if !isOver(r.View().Phase) || h.mayBeWatched(spec) {
		return
	}
	h.remote.watching.Lock()
	defer h.remote.watching.Unlock()
	if h.rooms.Has(spec.Room) {
		return // it was loaded again
	}
	delete(h.remote.rooms, spec.Room)
	if g := h.remote.spectators; g != nil {
		g.Forget(spec.Room)
	}
}

// leaveAll ends what publish has begun, once the rooms have ended.
func (r *remote) leaveAll() {
	r.watching.Lock()
	all := r.rooms
	r.rooms = nil
	r.watching.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), lingerTime)
	defer cancel()
	for _, w := range all {
		if w.leave != nil {
			w.leave(ctx)
		}
	}
}

// A watchable is a room that other devices may watch, loaded or not.
type watchable struct {
	id        string
	host      *Host
	observers []room.Observer
	leave     func(context.Context) // nil while the Host is offline; see [spectate.Server.Publish]

	seating sync.Mutex
}

// ID implements [spectate.Room], like the other methods.
func (w *watchable) ID() string { return w.id }

func (w *watchable) Observers() []room.Observer { return w.observers }

func (w *watchable) Tail() int64 { return w.view().Seq }

// view returns the room of now. A log that cannot be read gives an empty view.
func (w *watchable) view() room.View {
	v, err := w.host.View(context.Background(), w.id, room.Internal)
	if err != nil {
		w.host.wiring.Log.Warn("a room cannot be shown to spectators", "room", w.id, "error", err)
	}
	return v
}

func (w *watchable) Head(ctx context.Context, most int) ([]room.Event, error) {
	entries, err := w.host.log.Read(ctx, w.id, log.Pos{}, most)
	events := make([]room.Event, len(entries))
	for i, e := range entries {
		events[i] = e.Event
	}
	return events, err
}

// Watch leaves live text out: its pace would say too much on the way. It goes on
// while the room is not loaded, and ends with the room or the Host.
func (w *watchable) Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		if r, ok := w.host.rooms.Running(w.id); ok { // to the last event, also when the Host stops
			for u, err := range r.Watch(ctx, after, level) {
				if u.Event != nil {
					after = u.Event.Seq
				}
				if (err != nil || u.Event != nil) && !yieldEvent(yield, u, err) {
					return
				}
			}
		}
		if _, _, over := w.Ending(); over || ctx.Err() != nil || w.host.running.Err() != nil {
			return
		}
		for u, err := range w.host.Watch(ctx, w.id, after, level) {
			if (err != nil || u.Event != nil) && !yieldEvent(yield, u, err) {
				return
			}
		}
	}
}

func yieldEvent(yield func(room.Event, error) bool, u Update, err error) bool {
	if err != nil {
		yield(room.Event{}, err)
		return false
	}
	return yield(*u.Event, nil)
}

func (w *watchable) Ending() (phase room.Phase, reason string, over bool) {
	v := w.view()
	return v.Phase, v.Ending.Reason, isOver(v.Phase)
}

// isOver reports whether a room with that phase has ended.
func isOver(p room.Phase) bool {
	return p == room.PhaseCompleted || p == room.PhaseStopped || p == room.PhaseError
}

// Say posts what a spectator says, who is given a seat first.
func (w *watchable) Say(ctx context.Context, g spectate.Spectator, id, text string) error {
	seat, err := w.seat(ctx, g)
	if err != nil {
		return err
	}
	_, err = w.host.Do(ctx, w.id, room.Command{ID: id, Actor: seat, Via: viaRelay, Do: room.Say{Text: text}})
	return err
}

// viaRelay is where the words of a spectator come from.
const viaRelay = "relay"

// seat finds the seat of a device's owner, or makes one.
func (w *watchable) seat(ctx context.Context, g spectate.Spectator) (id string, err error) {
	w.seating.Lock()
	defer w.seating.Unlock()
	v := w.view()
	for _, x := range v.Seats {
		if x.Kind == policy.Human && x.Device == g.Device.String() {
			return x.ID, nil
		}
	}
	id = freeSeat(v, g.Name)
	_, err = w.host.Do(ctx, w.id, room.Command{Actor: room.ActorHost, Via: viaRelay, Do: room.Join{
		Participant: room.Participant{ID: id, Kind: policy.Human, Owner: g.Name, Device: g.Device.String()},
	}})
	return id, err
}

// maxSeatName is the length of an id in room.yaml, less a number.
const maxSeatName = 28

// freeSeat makes an id from a name. No seat of the room has it as its id or
// name.
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
