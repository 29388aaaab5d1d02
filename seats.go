package moot

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/hold"
	"github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// A SeatTurn is the turn of a session: what it is asked and until when it answers.
type SeatTurn = session.Turn

// A SeatAnswer is the answer of a session to the request of a turn. Without a request
// it answers the newest one that an await of the seat was given.
type SeatAnswer struct {
	Request string
	Epoch   uint64 // 0 is that of the request, if the seat was given it here
	Reply
}

// A SeatAnswered says how a room has recorded the answer of a session.
type SeatAnswered = hold.Answered

// Await waits, at most for wait, until it is the turn of the session that has a seat
// of a room, and renews the lease of the seat; see package session. The room may be one
// of another device, which has invited this one to the seat. It returns false
// if it is not the seat's turn yet: the session awaits again. fresh says that the
// session remembers nothing of the room, so that its next prompt has all of it. The
// caller has authenticated the session. The error wraps [room.ErrOver] when the room
// has ended, and [ErrSilent] when the device of the room does not answer.
func (h *Host) Await(ctx context.Context, id, seat string, wait time.Duration, fresh bool) (SeatTurn, bool, error) {
	s := session.Seat{Room: id, Name: seat}
	if p, err := h.elsewhere(ctx, s); err != nil {
		return SeatTurn{}, false, err
	} else if p != nil {
		return h.awaitThere(ctx, p, s, wait, fresh)
	}
	return h.await(ctx, s, session.Holder{}, wait, fresh)
}

// await is Await for a seat of this device, and a session on any.
func (h *Host) await(ctx context.Context, s session.Seat, by session.Holder, wait time.Duration, fresh bool) (SeatTurn, bool, error) {
	r, err := h.awaited(ctx, s.Room)
	if err != nil {
		return SeatTurn{}, false, err
	}
	if fresh {
		if _, err := r.Do(ctx, Command{Actor: s.Name, Do: room.Forgot{Participant: s.Name}}); err != nil {
			return SeatTurn{}, false, err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { cancel(h.untilEnd(ctx, r)) })
	turn, ok, err := h.seats.Await(ctx, s, by, wait)
	cancel(nil)
	watch.Wait()
	ended := context.Cause(ctx)
	switch {
	case errors.Is(err, session.ErrTakenOver):
		return turn, false, &problem.Error{Code: "SEAT-AWAIT", What: "another await has taken the seat over", Where: "seat " + s.Name, Fix: "let one session await the turns of a seat", Err: err}
	case errors.Is(ended, room.ErrOver):
		return turn, false, ended
	case errors.Is(err, coordinator.ErrClosed), errors.Is(err, context.Canceled) && errors.Is(ended, errUnloaded):
		return turn, false, nil // the next await loads the room again
	}
	return turn, ok, err
}

// errUnloaded is why an await ends whose room ends in this process only.
var errUnloaded = errors.New("moot: room is not loaded any more")

// awaited returns the room, which it loads if the room has not ended.
func (h *Host) awaited(ctx context.Context, id string) (*Room, error) {
	if r, ok := h.rooms.Running(id); ok {
		return r, overError(r.View())
	}
	s, err := h.fold(ctx, id)
	if err == nil {
		err = overError(s.View(room.Internal))
	}
	if err == nil {
		err = h.checkTrusted(ctx, s, Options{})
	}
	if err != nil {
		return nil, err
	}
	return h.rooms.Get(ctx, id)
}

// overError says that a room gives no turns any more, or is nil.
func overError(v room.View) error {
	switch v.Phase {
	case room.PhaseLive, room.PhasePaused:
		return nil
	}
	return &problem.Error{Code: "ROOM-OVER", What: "the room is " + string(v.Phase) + ": " + v.Ending.Reason, Where: "room " + v.Room, Fix: "await no further turn; the room is over", Kind: room.ErrOver}
}

// untilEnd waits until the room gives no turns any more, or ctx ends, and says why.
func (h *Host) untilEnd(ctx context.Context, r *Room) error {
	for _, err := range r.Watch(ctx, r.View().Seq, room.Internal) {
		if err := cmp.Or(err, overError(r.View())); err != nil {
			return err
		}
	}
	return cmp.Or(overError(r.View()), errUnloaded)
}

// Answer gives the answer of a session to the room, and returns once it is stored. A
// request is answered once. A text that is only the word PASS passes.
func (h *Host) Answer(ctx context.Context, id, seat string, a SeatAnswer) (SeatAnswered, error) {
	s := session.Seat{Room: id, Name: seat}
	if p, err := h.elsewhere(ctx, s); err != nil {
		return SeatAnswered{}, err
	} else if p != nil {
		return h.answerThere(ctx, p, s, a)
	}
	return h.answer(ctx, s, a)
}

// answer is Answer for a seat of this device, and a session on any.
func (h *Host) answer(ctx context.Context, s session.Seat, a SeatAnswer) (SeatAnswered, error) {
	if r, ok := h.seats.Given(s); ok && (a.Request == "" || a.Request == r.ID) {
		a.Request, a.Epoch = r.ID, cmp.Or(a.Epoch, r.Epoch)
	}
	if a.Outcome == Said && endpoint.IsPass(a.Text) {
		a.Outcome, a.Text = endpoint.Passed, ""
	}
	c := Command{Actor: s.Name, Do: room.Answered{Participant: s.Name, Request: a.Request, Epoch: a.Epoch, Reply: a.Reply}}
	if _, ok := h.rooms.Running(s.Room); ok || h.node != nil { // a turn goes on that another node has handed over
		events, err := h.rooms.Do(ctx, s.Room, c)
		if err == nil {
			h.seats.Answered(s, a.Request)
		}
		return answeredOf(events), err
	}
	state, err := h.fold(ctx, s.Room)
	if err != nil {
		return SeatAnswered{}, err
	}
	state.Turn = nil // the next host of the room interrupts it
	_, err = state.Decide(c, room.Now{})
	return SeatAnswered{}, err
}

// HandOff records that the agent of a seat, whose turn is open, names who should go on.
// It returns why the room refuses it, or "". The caller has authenticated the agent. A
// session whose room is on another device cannot hand off.
func (h *Host) HandOff(ctx context.Context, id, seat, to, reason string) (refused string, err error) {
	p, err := h.elsewhere(ctx, session.Seat{Room: id, Name: seat})
	if err != nil {
		return "", err
	}
	if _, ok := h.rooms.Running(id); p != nil || !ok {
		what := "no turn of " + seat + " is open: the room does not run"
		if p != nil {
			what = "the room of " + seat + " is on another device, which takes no hand-offs from here"
		}
		return "", &problem.Error{Code: "SEAT-REQUEST", What: what, Fix: "name the participant in the answer"}
	}
	events, err := h.rooms.Do(ctx, id, Command{Actor: seat, Do: room.HandOff{To: to, Reason: reason}})
	return room.HandOffRefused(events), err
}

// present tells a room that the presence of a seat has changed. A room that is not
// loaded knows: all its sessions are away.
func (h *Host) present(ctx context.Context, s session.Seat, by session.Holder, p room.Presence) error {
	r, ok := h.rooms.Running(s.Room)
	if !ok {
		if p == room.Away || p == room.Idle && h.node != nil { // another node may run it
			return nil
		}
		var err error
		if r, err = h.rooms.Get(ctx, s.Room); err != nil {
			return err
		}
	}
	_, err := r.Do(ctx, Command{Actor: s.Name, Do: room.Present{Participant: s.Name, Presence: p, Device: by.Device, Owner: by.Owner}})
	return err
}
