package sim

import (
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/invariant"
)

// stopWithin is how long the end of a cancelled call waits for the calls below it.
const stopWithin = 5 * time.Second

// A following is an effect of a call: it follows the child room until it has ended.
type following struct {
	of      *hosted // room of the caller
	call    room.Call
	effect  *effect
	cancel  string // why the call is ended; "" lets it go on
	told    room.CallProgressed
	tries   int
	leading bool // the child room was let run
}

// runCall runs the child room of a call, or ends it.
func (h *hosted) runCall(e room.RunCall, running *effect) {
	f := &following{of: h, effect: running, cancel: e.Cancel}
	for _, c := range h.state.Calls {
		if c.ID == e.Call {
			f.call = c
		}
	}
	f.told = room.CallProgressed{Call: f.call.ID, State: f.call.State, Asked: f.call.Asked, Text: f.call.Text}
	spec, seats, ok := h.state.Child(e.Call)
	child := h.s.room(f.call.Room)
	known := child != nil || h.s.disk.tail(f.call.Room) > 0
	switch {
	case e.Cancel != "" && !known: // it was never opened
		h.result(running, 0, room.ActorRoom, func() room.Act { return room.CallReturned{Call: e.Call, State: calls.Canceled} })
		return
	case e.Cancel == "" && !ok && !known:
		h.result(running, 0, room.ActorRoom, func() room.Act {
			return room.CallReturned{Call: e.Call, State: calls.Failed, Result: calls.Result{Errors: []string{"the agent cannot be called any more"}}}
		})
		return
	}
	if child == nil {
		child = h.openChild(f, spec, seats)
	}
	child.parent, child.follower = h, f
	running.stop = func() { f.leave(child) }
	if child.ready() {
		f.lead(child)
	}
}

// openChild opens the child room of a call, or makes it.
func (h *hosted) openChild(f *following, spec room.Spec, seats []room.Participant) *hosted {
	s := h.s
	spec.Secret = s.src.id()
	var of *facts
	for _, x := range s.facts {
		if x.spec.Room == f.call.Room {
			of = x
		}
	}
	if of == nil {
		of = &facts{style: styleTurns, check: checks{Checker: invariant.New()}}
		s.facts = append(s.facts, of)
	}
	if s.disk.tail(f.call.Room) == 0 {
		of.spec, of.seats, of.agents = spec, seats, nil
		for _, p := range seats {
			if !p.Caller {
				of.agent(p.ID)
			}
		}
	}
	child := s.open(of)
	child.gate.held = true
	if child.state.Tally.Messages == 0 && f.call.Request != nil {
		child.boot = append(child.boot, room.GiveTask{Text: f.call.Request.Task, Input: policy.JSON(f.call.Request.Input)})
	}
	return child
}

// ready reports whether the room is open and has its task.
func (h *hosted) ready() bool { return len(h.boot) == 0 && h.batch == nil && h.claimed }

// lead lets the child room work, or ends it.
func (f *following) lead(child *hosted) {
	if f.effect.cancelled || f.leading {
		return
	}
	f.leading = true
	child.gate.held = false
	s := f.of.s
	if f.cancel != "" {
		child.people = append(child.people, request{cmd: room.Command{ID: "c_" + s.src.id(), Actor: room.ActorHost, Do: room.Stop{Reason: f.cancel}}})
		s.after(stopWithin, func() { f.end(child) })
	} else if child.state.Phase == room.PhasePaused {
		child.people = append(child.people, request{cmd: room.Command{ID: "c_" + s.src.id(), Actor: room.ActorHost, Do: room.Resume{}}})
	}
	child.reconcile()
	f.look(child)
}

// leave stops the child room with the effect. If the call goes on later, the child room is
// paused meanwhile.
func (f *following) leave(child *hosted) {
	child.gate.hold()
	if child.ended || f.of.ended {
		return
	}
	f.of.s.at(moment{kind: onChildHeld, room: child})
	open := false
	for _, c := range f.of.state.Calls {
		open = open || c.ID == f.call.ID && c.State.Open() && c.Canceling == ""
	}
	if open && f.cancel == "" && child.ready() {
		pause := room.Command{ID: "c_" + f.of.s.src.id(), Actor: room.ActorHost, Do: room.Pause{Reason: "the room of its caller is paused"}}
		child.people = append(child.people, request{cmd: pause})
	}
}

// look tells the calling room how the child room is, and its result when it has one.
func (f *following) look(child *hosted) {
	if f.effect.cancelled || f.effect.done || !f.leading {
		return
	}
	if _, _, ended := child.state.ChildResult(); ended {
		f.end(child)
		return
	}
	if f.cancel != "" {
		return
	}
	now := f.told
	now.State, now.Asked, now.Text = child.state.ChildStatus()
	if now != f.told {
		f.told = now
		f.of.enqueue(request{cmd: room.Command{Actor: room.ActorRoom, Do: now}})
	}
}

// end gives the result of the child room to the calling room.
func (f *following) end(child *hosted) {
	if f.effect.cancelled || f.effect.done {
		return
	}
	f.effect.done = true
	do := room.CallReturned{Call: f.call.ID}
	do.State, do.Result = child.childResult()
	f.of.s.at(moment{kind: onReturned, room: f.of, returned: &do})
	f.of.enqueue(request{key: f.effect.key, cmd: room.Command{Actor: room.ActorRoom, Do: do}})
	child.endRun()
}

// childResult returns the result of a child room, as far as it is known.
func (h *hosted) childResult() (calls.State, calls.Result) {
	state, result, ended := h.state.ChildResult()
	if !ended {
		t := h.state.Tally
		state, result = calls.Canceled, calls.Result{Tokens: t.Tokens + h.state.Return.Cut, Cost: t.Cost, Estimated: true, Calls: h.state.Called, Seq: h.state.Seq}
	}
	if at := h.state.Return.Seq; at > 0 {
		if text, err := h.textOf(at); err == nil {
			result.Output = text
		}
	}
	return state, result
}

// childEnded goes on after the run of a child room has failed: it is opened again.
func (h *hosted) childEnded() {
	f := h.follower
	if h.parent == nil || f == nil || f.effect.cancelled || f.effect.done || h.parent.ended {
		return
	}
	if f.tries++; f.tries > 3 {
		f.effect.done = true
		f.of.enqueue(request{key: f.effect.key, cmd: room.Command{Actor: room.ActorRoom, Do: room.CallReturned{
			Call: f.call.ID, State: calls.Failed, Result: calls.Result{Errors: []string{"its room failed"}},
		}}})
		return
	}
	spec, seats, ok := h.parent.state.Child(f.call.ID)
	if !ok && h.s.disk.tail(h.id) == 0 {
		return
	}
	f.leading = false
	child := h.parent.openChild(f, spec, seats)
	child.parent, child.follower = h.parent, f
	f.effect.stop = func() { f.leave(child) }
}
