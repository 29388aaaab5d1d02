package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/log"
)

// stopWithin is how long the end of a cancelled call waits for the calls below it.
const stopWithin = 5 * time.Second

// A child is the child room of an open call, as its effect needs it.
type child struct {
	call  room.Call
	spec  room.Spec
	seats []room.Participant
	brief briefing
	tries int
}

// runCall runs the child room of a call, or ends it.
func (r *Room) runCall(ctx context.Context, e room.RunCall) (func() room.Command, *effectError) {
	spec, seats, ok := r.state.Child(e.Call)
	c := child{spec: spec, seats: seats}
	for _, open := range r.state.Calls {
		if open.ID == e.Call {
			c.call = open
		}
	}
	c.spec.Secret = random()
	c.brief = r.briefingOf(c.call, spec.Dir)
	return func() room.Command {
		do := room.CallReturned{Call: e.Call, State: calls.Failed}
		switch {
		case e.Cancel != "":
			do.State, do.Result = r.cancelCall(ctx, c, e)
		case !ok:
			do.Result.Errors = []string{"the agent cannot be called any more"}
		default:
			do.State, do.Result = r.followCall(ctx, c, e)
		}
		return room.Command{Actor: room.ActorRoom, Do: do}
	}, nil
}

// followCall opens the child room and follows it until it has ended or ctx ends. A room
// that has ended before gives its result at once. An earlier effect of the call, which a
// pause has cancelled, pauses the child room before it is resumed here.
func (r *Room) followCall(ctx context.Context, c child, e room.RunCall) (calls.State, calls.Result) {
	leave, err := r.nest.enter(ctx, c.call.Room)
	if err != nil {
		return "", calls.Result{}
	}
	defer leave()
	for {
		sub, err := r.nest.openChild(ctx, r.cfg, c)
		if err == nil {
			err = r.follow(ctx, sub, c, e)
		}
		switch {
		case ctx.Err() != nil:
			r.leaveChild(sub, c.call.ID)
			return "", calls.Result{}
		case err == nil:
			return sub.childResult(ctx)
		case !errors.Is(err, ErrClosed) || c.tries >= 3:
			return calls.Failed, calls.Result{Errors: []string{"its room failed: " + err.Error()}}
		}
		c.tries++
	}
}

// follow lets the child room work, waits for its end and reports how it stands meanwhile.
func (r *Room) follow(ctx context.Context, sub *Room, c child, e room.RunCall) error {
	if !r.gate.lead(ctx, e.Key(), &sub.gate) {
		return ctx.Err()
	}
	if err := sub.goOn(ctx); err != nil {
		return err
	}
	told := room.CallProgressed{Call: c.call.ID, State: c.call.State, Asked: c.call.Asked, Text: c.call.Text}
	for {
		now, ended := told, false
		err := sub.until(ctx, func(s *room.State) bool {
			now.State, now.Asked, now.Text = s.ChildStatus()
			_, _, ended = s.ChildResult()
			return ended || now != told
		})
		if err != nil || ended {
			return err
		}
		told = now
		select {
		case r.work <- request{cmd: room.Command{Actor: room.ActorRoom, Do: now}}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// goOn lets a child room whose gate was released start its effects. One that is paused,
// with its caller's room or with the host, is resumed.
func (r *Room) goOn(ctx context.Context) error {
	if r.phase() == room.PhasePaused {
		if _, err := r.Do(ctx, room.Command{Actor: room.ActorHost, Do: room.Resume{}}); err != nil && r.phase() == room.PhasePaused {
			return err // else a person has resumed it meanwhile
		}
		return ctx.Err()
	}
	select {
	case r.work <- request{cmd: room.Command{Actor: room.ActorRoom, Do: room.Tick{}}}:
	case <-r.quit: // it may have ended, which until tells
	case <-ctx.Done():
	}
	return ctx.Err()
}

// leaveChild pauses the child room of a call that goes on later: its caller's room is
// paused. Its gate is closed already, and the pause opens it. When the process ends, the
// child room ends with it.
func (r *Room) leaveChild(sub *Room, call string) {
	if sub == nil || r.ending() || !r.callOpen(call) {
		return
	}
	pause := room.Pause{Reason: "the room of its caller is paused"}
	_, _ = sub.Do(context.Background(), room.Command{Actor: room.ActorHost, Do: pause}) // a room that has ended needs none
	sub.gate.release()
}

// ending reports whether Run is about to end.
func (r *Room) ending() bool {
	select {
	case <-r.stopping:
		return true
	default:
		return false
	}
}

// callOpen reports whether a call is open and not cancelled.
func (r *Room) callOpen(id string) (open bool) {
	r.read(func(s *room.State) {
		for _, c := range s.Calls {
			open = open || c.ID == id && c.State.Open() && c.Canceling == ""
		}
	})
	return open
}

// cancelCall ends the child room of a call and returns what it has used. A child room
// that was never opened has used nothing.
func (r *Room) cancelCall(ctx context.Context, c child, e room.RunCall) (calls.State, calls.Result) {
	leave, err := r.nest.enter(ctx, c.call.Room)
	if err != nil {
		return calls.Canceled, calls.Result{}
	}
	defer leave()
	if exists, err := hasRoom(ctx, r.cfg.Log, c.call.Room); err == nil && !exists {
		return calls.Canceled, calls.Result{}
	}
	sub, err := r.nest.openChild(ctx, r.cfg, c)
	if err != nil {
		return calls.Canceled, calls.Result{Errors: []string{err.Error()}}
	}
	_, err = sub.Do(ctx, room.Command{Actor: room.ActorHost, Do: room.Stop{Reason: e.Cancel}})
	if r.gate.lead(ctx, e.Key(), &sub.gate) { // the calls below it are ended by effects
		_ = sub.goOn(ctx) // a room that has ended needs none
	}
	if err != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, room.ErrOver) {
		return calls.Canceled, calls.Result{Errors: []string{err.Error()}}
	}
	within, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	_ = sub.until(within, func(s *room.State) bool { _, _, ended := s.ChildResult(); return ended }) // what it has used is known all the same
	return sub.childResult(ctx)
}

// childResult returns the result of a child room, as far as it is known.
func (r *Room) childResult(ctx context.Context) (state calls.State, result calls.Result) {
	var at int64
	r.read(func(s *room.State) {
		var ended bool
		if state, result, ended = s.ChildResult(); !ended {
			state, result = calls.Canceled, calls.Result{Tokens: s.Tally.Tokens + s.Return.Cut, Cost: s.Tally.Cost, Estimated: true, Calls: s.Called, Seq: s.Seq}
		}
		at = s.Return.Seq
	})
	if at > 0 {
		entries, err := r.cfg.Log.Read(ctx, r.id, log.At(at-1), 1)
		if err != nil || len(entries) != 1 {
			return calls.Failed, calls.Result{Tokens: result.Tokens, Cost: result.Cost, Errors: []string{"its answer cannot be read"}}
		}
		if b, ok := entries[0].Event.Body.(room.MessagePosted); ok {
			result.Output = b.Message.Text
		}
	}
	return state, result
}

func (r *Room) phase() (p room.Phase) {
	r.read(func(s *room.State) { p = s.Phase })
	return p
}

// until waits until the state of the room satisfies ok, which must not keep it. It
// returns ErrClosed if Run ends before.
func (r *Room) until(ctx context.Context, ok func(*room.State) bool) error {
	w := r.hub.add()
	defer r.hub.remove(w)
	for {
		_, ended := r.hub.status()
		done := false
		r.read(func(s *room.State) { done = ok(s) })
		switch {
		case done:
			return nil
		case ended:
			return ErrClosed
		}
		select {
		case <-w.wake:
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hasRoom reports whether the log has a room.
func hasRoom(ctx context.Context, l Log, id string) (bool, error) {
	entries, err := l.Read(ctx, id, log.Pos{}, 1)
	if errors.Is(err, log.ErrNotFound) {
		return false, nil
	}
	return len(entries) > 0, err
}
