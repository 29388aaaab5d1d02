package moot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/hold"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/audit"
)

// ErrSilent reports an await of a seat on another device, which has not answered in
// time. The session awaits again.
var ErrSilent = hold.ErrSilent

// silentGrace is how long another device may take to answer, besides the time of an
// await.
const silentGrace = 5 * time.Second

// movePause is how long a session waits between two awaits while its room moves.
const movePause = 500 * time.Millisecond

// checkSeatInvite reports an invite for a seat that no session on another device can
// hold.
func (h *Host) checkSeatInvite(ctx context.Context, o device.InviteOptions) error {
	s, err := h.fold(ctx, o.Room)
	if err == nil {
		err = overError(s.View(room.Internal))
	}
	if err != nil {
		return err
	}
	if pid := h.Holder(o.Room); pid != 0 && pid != os.Getpid() {
		return &problem.Error{
			Code: "RELAY-ONLINE", What: fmt.Sprintf("process %d runs the room, and this device is online in process %d", pid, os.Getpid()), Where: "room " + o.Room,
			Fix: "end one of them; `moot serve` does all in one process",
		}
	}
	if x, ok := s.Seat(o.Seat); !ok || !x.Session || x.Standing == room.Removed {
		return &problem.Error{
			Code: "SEAT-KIND", What: "the room has no seat " + o.Seat + " for a running session", Where: "room " + o.Room,
			Fix: "name a participant whose endpoint is {kind: session}: `moot show " + o.Room + "` lists them",
		}
	}
	return nil
}

// mayBeHeld reports whether a session on another device may hold a seat of a room.
func (h *Host) mayBeHeld(id string) bool {
	all, err := h.wiring.peers()
	if err != nil {
		h.wiring.Log.Warn("no session on another device may hold a seat", "error", err)
	}
	return slices.ContainsFunc(all, func(p identity.Peer) bool {
		return slices.ContainsFunc(p.Seats, func(s identity.SeatRef) bool { return s.Room == id })
	})
}

// serveHolders serves the seats of this device to sessions on others, and holds seats
// on others, on a connection that is being made.
func (h *Host) serveHolders(c *device.Connection) {
	h.remote.holder = newHolder()
	c.Dispatcher.Handle(h.remote.holder)
	c.Dispatcher.Handle(newHoldServer(c, h.wiring.Log, hold.ServerConfig{
		Await: func(ctx context.Context, s session.Seat, by session.Holder, wait time.Duration, fresh bool) (session.Turn, bool, error) {
			t, ok, err := h.await(ctx, s, by, wait, fresh)
			if h.node != nil && errors.Is(err, log.ErrLocked) { // the room moves, and the next node gets the next await
				select {
				case <-time.After(movePause):
				case <-ctx.Done():
				}
				return t, false, nil
			}
			return t, ok, err
		},
		Answer: func(ctx context.Context, s session.Seat, a hold.Answer) (hold.Answered, error) {
			return h.answer(ctx, s, SeatAnswer(a))
		},
		Phase: func(ctx context.Context, id string) room.Phase {
			v, err := h.View(ctx, id, room.UserVisible)
			if err != nil {
				return room.PhaseError
			}
			return v.Phase
		},
		Undelivered: h.seats.Undelivered, Leave: h.seats.Leave,
		Audit: func(o hold.AuditEntry) error {
			return h.audit.Append(audit.Event{Time: o.Time, Profile: o.Seat, Device: o.Device.String(), Requester: c.NameOf(o.Device), Room: o.Room, Status: o.Status, Reason: o.Reason})
		},
	}))
}

// elsewhere returns the peer whose room has a seat that this device may hold, nil for a
// seat of this device. A room of this device wins over one of the same id.
func (h *Host) elsewhere(ctx context.Context, s session.Seat) (*identity.Peer, error) {
	if _, ok := h.rooms.Running(s.Room); ok {
		return nil, nil
	}
	all, err := h.wiring.peers()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(p identity.Peer) bool {
		return slices.Contains(p.Holds, identity.SeatRef{Room: s.Room, Seat: s.Name})
	})
	if i < 0 {
		return nil, nil
	}
	if at, err := h.log.Tail(ctx, s.Room); err == nil && at.Seq > 0 {
		return nil, nil
	}
	return &all[i], nil
}

// HoldsSeatOf reports whether a room is one of another device, in which this one may
// hold a seat.
func (h *Host) HoldsSeatOf(id string) bool {
	all, err := h.wiring.peers()
	if err != nil || !slices.ContainsFunc(all, func(p identity.Peer) bool { return p.HoldsSeatOf(id) }) {
		return false
	}
	at, err := h.log.Tail(context.Background(), id)
	return err != nil || at.Seq == 0
}

// holderAt returns what holds seats of a peer, on a connection that reaches it.
func (h *Host) holderAt(ctx context.Context, p *identity.Peer) (*hold.Client, *device.Connection, error) {
	c, err := h.online(ctx, device.Options{}, func(c *device.Connection) error { return c.Reach(p.ID) })
	if err == nil {
		err = c.Await(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	h.remote.mu.Lock()
	defer h.remote.mu.Unlock()
	if h.remote.holder == nil { // the connection is not one of this device's own
		return nil, nil, errHostClosed
	}
	return h.remote.holder, c, nil
}

// awaitThere is Await for a seat on another device.
func (h *Host) awaitThere(ctx context.Context, p *identity.Peer, s session.Seat, wait time.Duration, fresh bool) (SeatTurn, bool, error) {
	wait = min(wait, session.MaxWait)
	ctx, cancel := context.WithTimeoutCause(ctx, wait+silentGrace, ErrSilent)
	defer cancel()
	client, c, err := h.holderAt(ctx, p)
	if err != nil {
		return SeatTurn{}, false, orCause(ctx, err)
	}
	for until := time.Now().Add(wait); ; fresh = false {
		t, err := client.Await(ctx, *p, s, max(0, time.Until(until)), fresh)
		switch {
		case err != nil:
			return SeatTurn{}, false, err
		case t.Over != "":
			return SeatTurn{}, false, overError(room.View{Room: s.Room, Phase: t.Over})
		case t.Text != "":
			c.Linger()
			return t.Turn, true, nil
		case time.Until(until) <= 0:
			return SeatTurn{}, false, nil
		}
	}
}

// orCause returns why ctx has ended in place of an error that only says that it has.
func orCause(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// answerThere is Answer for a seat on another device.
func (h *Host) answerThere(ctx context.Context, p *identity.Peer, s session.Seat, a SeatAnswer) (SeatAnswered, error) {
	client, _, err := h.holderAt(ctx, p)
	if err != nil {
		return SeatAnswered{}, err
	}
	if a.Outcome == Said && endpoint.IsPass(a.Text) {
		a.Outcome, a.Text = endpoint.Passed, ""
	}
	done, err := client.Answer(ctx, p.ID, s, hold.Answer(a))
	entry := audit.Event{Time: time.Now(), Profile: s.Name, Device: p.ID.String(), Requester: p.Name, Room: s.Room, Turn: done.Turn, Status: done.Outcome}
	if err != nil {
		entry.Status, entry.Reason = "failed", codeOf(err)
	}
	if logged := h.audit.Append(entry); logged != nil {
		h.wiring.Log.Error("an answer is not in the host log", "error", logged)
	}
	if errors.Is(err, ErrSilent) {
		return done, &problem.Error{
			Code: "RELAY-UNREACHABLE", What: "the device that runs the room has not answered, so it may have the answer or not", Where: "seat " + s.Name,
			Fix: "repeat the command: a request is answered once", Err: err, Kind: endpoint.ErrUnreachable,
		}
	}
	return done, err
}

// answeredOf returns what events record of an answer.
func answeredOf(events []Event) (a SeatAnswered) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case room.MessagePosted:
			a = SeatAnswered{Outcome: wire.OutcomePosted, Turn: b.Turn, Seq: e.Seq}
		case room.TurnDrafted:
			a = SeatAnswered{Outcome: wire.OutcomeDrafted, Turn: b.Turn, Seq: e.Seq}
		case room.TurnPassed:
			a = SeatAnswered{Outcome: wire.OutcomePassed, Turn: b.Turn, Seq: e.Seq}
		}
	}
	return a
}
