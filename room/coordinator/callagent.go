package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// CallAgents makes calls for a seat and waits for their results as long as the arguments
// say. The caller has authenticated the seat. It returns how each call stands then. If
// ctx ends, a result that comes later is posted as a message.
func (r *Room) CallAgents(ctx context.Context, seat string, list []calls.Args) ([]calls.Answer, error) {
	events, err := r.Do(ctx, room.Command{Actor: seat, Do: room.CallAgents{Calls: list, Absent: r.cfg.Headless || r.cfg.Unattended}})
	if err != nil {
		return nil, err
	}
	ids, err := r.permitted(ctx, events)
	if err != nil {
		return nil, err
	}
	return r.awaitCalls(ctx, seat, ids)
}

// permitted returns the calls that the events have started, if need be after a person
// has allowed them.
func (r *Room) permitted(ctx context.Context, events []room.Event) (ids []string, err error) {
	asked := ""
	for _, e := range events {
		switch b := e.Body.(type) {
		case room.CallStarted:
			ids = append(ids, b.ID)
		case room.PermissionAsked:
			asked = b.ID
		}
	}
	if asked == "" {
		return ids, nil
	}
	why := "the request has ended"
	err = r.until(ctx, func(s *room.State) bool {
		if s.RequestOpen(asked) {
			return false
		}
		for _, c := range s.Calls {
			if c.Permit == asked {
				ids = append(ids, c.ID)
			}
		}
		for _, a := range s.Answers {
			if a.Of == asked {
				why = a.What
				if a.By != room.ActorRoom {
					why += " by " + a.By
				}
			}
		}
		return true
	})
	if ctx.Err() != nil { // the agent waits no longer
		r.passGate()
		r.note(room.Command{Actor: r.turnOf(asked), Do: room.Withdrawn{ID: asked}})
	}
	if err == nil && len(ids) == 0 {
		err = &problem.Error{Code: "ROOM-CALL-DENIED", What: "the calls were not allowed: " + why, Fix: "go on without them"}
	}
	return ids, err
}

// turnOf returns the participant that has the turn in which a permission waits.
func (r *Room) turnOf(asked string) (id string) {
	r.read(func(s *room.State) {
		if s.Turn != nil && s.RequestOpen(asked) {
			id = s.Turn.Participant
		}
	})
	return id
}

// AwaitCall waits at most for wait until a call of a seat has a result, and says how it
// stands then. The clock of the seat's turn stands meanwhile.
func (r *Room) AwaitCall(ctx context.Context, seat, call string, wait time.Duration) (calls.Answer, error) {
	c, ok := r.callOf(seat, call)
	if !ok {
		return calls.Answer{}, unknownCall(call)
	}
	if c.State.Open() && wait > 0 {
		if _, err := r.Do(ctx, room.Command{Actor: seat, Do: room.AwaitCall{Call: call, Wait: wait}}); err != nil {
			return calls.Answer{}, err
		}
	}
	all, err := r.awaitCalls(ctx, seat, []string{call})
	if err != nil {
		return calls.Answer{}, err
	}
	return all[0], nil
}

// awaitCalls waits until each of the calls has ended, or its caller waits for it no more.
func (r *Room) awaitCalls(ctx context.Context, seat string, ids []string) ([]calls.Answer, error) {
	var answers []calls.Answer
	err := r.until(ctx, func(s *room.State) bool {
		answers = answers[:0]
		for _, id := range ids {
			for _, c := range s.Calls {
				if c.ID != id {
					continue
				}
				if c.State.Open() && c.WaitUntil > 0 {
					return false
				}
				answers = append(answers, calls.AnswerOf(c))
			}
		}
		return true
	})
	if err == nil && len(answers) < len(ids) {
		err = errors.New("the room has forgotten a call")
	}
	if err != nil {
		for _, id := range ids {
			r.note(room.Command{Actor: seat, Do: room.AwaitCall{Call: id, Lost: true}})
		}
		return nil, err
	}
	return answers, nil
}

// note gives a command to the loop for a caller that has gone. A room that ends takes
// none: it may be waiting for the caller.
func (r *Room) note(c room.Command) {
	out := make(chan answer, 1)
	r.queued.Add(1)
	defer r.queued.Add(-1)
	select {
	case r.people <- request{cmd: c, out: out}:
	case <-r.quit:
		return
	}
	select {
	case <-out:
	case <-r.quit:
	}
}

// ReplyCall gives the caller's answer to the question of the agent that it called.
func (r *Room) ReplyCall(ctx context.Context, seat, call, text string) error {
	c, ok := r.callOf(seat, call)
	if !ok {
		return unknownCall(call)
	}
	if h := r.nest.running(); h != nil && c.State.Open() {
		if sub, ok := h.Running(c.Room); ok {
			_, err := sub.Do(ctx, room.Command{Actor: seat, Do: room.ReplyTo{Text: text}})
			return err
		}
	}
	return &problem.Error{Code: "ROOM-CALL-ASKED", What: "the agent of call " + call + " waits for no answer", Fix: "get_call says how the call stands"}
}

// CancelCall ends a call of a seat, and all below it. actor is the seat or a person with
// control.
func (r *Room) CancelCall(ctx context.Context, actor, call, reason string) error {
	_, err := r.Do(ctx, room.Command{Actor: actor, Do: room.CancelCall{Call: call, Reason: reason}})
	return err
}

// Calls returns the open calls and the newest ended ones, oldest first.
func (r *Room) Calls() (all []room.Call) {
	r.read(func(s *room.State) { all = s.CallsAt(room.Internal) })
	return all
}

// callOf returns a call of a seat.
func (r *Room) callOf(seat, id string) (room.Call, bool) {
	for _, c := range r.Calls() {
		if c.ID == id && (c.Caller == seat) {
			return c, true
		}
	}
	return room.Call{}, false
}

func unknownCall(id string) error {
	return &problem.Error{Code: "ROOM-CALL-UNKNOWN", What: fmt.Sprintf("no call %.40q of yours", id), Fix: "pass the call_id that call_agent gave you"}
}

// holdForCalls stops the clock of the agent that has the turn while it waits for a call.
func (r *Room) holdForCalls() {
	if r.state.Turn == nil {
		return
	}
	if d, ok := r.endpoints[r.state.Turn.Participant]; ok {
		d.floor.holdForCalls(r.state.Turn.Calling > 0)
	}
}

// call makes the calls that an agent asks for in its protocol.
func (f *floor) call(ctx context.Context, body []byte) (endpoint.Answer, error) {
	list, err := calls.Parse(body, "type", "call_id")
	if err != nil {
		return refuse(&problem.Error{Code: "ROOM-CALL-ARGS", What: err.Error()}), nil
	}
	answers, err := f.room.CallAgents(ctx, f.participant, list)
	switch {
	case errors.Is(err, ErrClosed) || ctx.Err() != nil:
		return endpoint.Answer{}, err
	case err != nil:
		return refuse(err), nil
	}
	return endpoint.Answer{Allowed: true, Body: calls.Encode(answers)}, nil
}

// refuse is the answer to a call, message or other wish of an agent that the room refuses.
func refuse(err error) endpoint.Answer {
	reason := err.Error()
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Fix != "" {
		reason += "; " + p.Fix
	}
	return endpoint.Answer{Reason: reason}
}
