package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A hosted room is a room in a process: a sequential copy of coordinator.Room.
type hosted struct {
	s     *simulation
	proc  *process
	facts *facts
	id    string
	state room.State
	texts []text

	boot   []room.Act // before the room runs: open and claim
	people []request
	work   []request
	due    bool   // time has come for a Tick
	batch  *batch // that is not durable yet; the loop waits for it
	gate   gate
	pauses int  // pauses and stops that people have pressed and that are not handled
	ended  bool // its Run has returned

	base    time.Duration // of the room's clock
	since   time.Duration // when it was started
	running bool
	alarm   int // number of the newest alarm; older ones are void

	claimed  bool       // its claim is durable
	restored bool       // its state began with a snapshot
	parent   *hosted    // of a child room
	follower *following // the effect of its call
}

// A request is a command in the queue of a room.
type request struct {
	cmd    room.Command
	key    string // of the effect that it ends
	held   bool   // it holds the gate closed
	order  *order // of a client; nil for others
	answer func(events []room.Event, err error)
}

// errEnded tells a caller that the room does not run any more.
var errEnded = errors.New("room is not running")

// runnable reports whether the loop has something to do.
func (h *hosted) runnable() bool {
	return !h.ended && h.batch == nil && (len(h.boot)+len(h.people)+len(h.work) > 0 || h.due)
}

// clock returns the running time of the room.
func (h *hosted) clock() time.Duration {
	if !h.running {
		return h.base
	}
	return h.base + h.s.now - h.since
}

// runClock starts or stops the clock.
func (h *hosted) runClock(on bool) {
	if on != h.running {
		h.base, h.since, h.running = h.clock(), h.s.now, on
	}
}

func (h *hosted) timeNow() room.Now {
	now := room.Now{Wall: h.s.wall(), Clock: h.clock()}
	if h.s.cfg.flaws.wallClock {
		now.Clock += h.s.skew
	}
	return now
}

// handleNext handles one request: those of people come before results of effects, and a
// Tick comes last.
func (h *hosted) handleNext() {
	var r request
	switch {
	case len(h.boot) > 0:
		r.cmd = room.Command{ID: "c_" + h.s.src.id(), Actor: room.ActorHost, Do: h.boot[0]}
		h.boot = h.boot[1:]
	case len(h.people) > 0:
		r, h.people = h.people[0], h.people[1:]
	case len(h.work) > 0:
		r, h.work = h.work[0], h.work[1:]
	default:
		h.due = false
		r.cmd = room.Command{Actor: room.ActorRoom, Do: room.Tick{}}
	}
	h.handle(r)
}

// handle decides a command and begins to append its events.
func (h *hosted) handle(r request) {
	if r.key != "" {
		h.gate.end(r.key)
	}
	cmd := h.prepare(r.cmd)
	r.cmd = cmd
	now := h.timeNow()
	h.s.result.Commands++
	events, err := h.state.Decide(cmd, now)
	h.facts.decided(h.s, h, cmd, events, err)
	if mutate := h.s.cfg.flaws.mutate; mutate != nil && len(events) > 0 {
		events = mutate(cmd, events)
	}
	h.s.trace(h.id, fmt.Sprintf("%T by %s: %s %v", cmd.Do, cmd.Actor, types(events), short(err)))
	h.s.at(moment{kind: onDecided, room: h, cmd: cmd, events: events, err: err})
	if over, ok := h.reserve(events); !ok {
		answer := r.answer
		r.answer = func([]room.Event, error) {
			if answer != nil {
				answer(nil, room.ErrStale)
			}
		}
		if h.note(over, r) {
			return
		}
		events, err = nil, room.ErrStale
	}
	b := &batch{room: h, id: h.id, req: r, after: h.state.Seq, parts: []part{{cmd, events}}, events: events, since: h.s.now}
	if err == nil && len(events) > 0 {
		h.decideAhead(b)
	}
	h.facts.model.decided(h.s, h, b, err)
	if err != nil || len(events) == 0 {
		h.finish(r, nil, err)
		return
	}
	h.append(b)
}

// append writes a batch. The room handles nothing until it is durable.
func (h *hosted) append(b *batch) {
	for _, e := range b.events {
		raw, err := room.MarshalEvent(e)
		if err != nil {
			h.s.violate("V5", h.id, "an event cannot be stored: "+err.Error())
			return
		}
		b.raws = append(b.raws, raw)
	}
	h.batch = b
	h.settle(b.events)
	h.tryAppend(b)
}

func (h *hosted) tryAppend(b *batch) {
	switch err := h.s.write(b); {
	case err == errUnknown:
		h.s.after(h.s.elapsed(), func() {
			if !h.ended && h.batch == b {
				h.tryAppend(b)
			}
		})
	case err != nil:
		h.s.after(0, func() { h.fail(b, err) })
	}
}

// fail ends the room in this process: its log takes nothing any more.
func (h *hosted) fail(b *batch, err error) {
	if h.ended {
		return
	}
	h.s.trace(h.id, "append failed: ", err)
	h.s.at(moment{kind: onFailed, room: h, batch: b, err: err})
	h.facts.check.Failed()
	h.facts.lost = true
	if b.req.answer != nil {
		b.req.answer(nil, err)
	}
	if err == errFailed {
		h.s.stopProcess()
		return
	}
	h.endRun()
	if h.parent != nil {
		h.childEnded()
		return
	}
	s, f := h.s, h.facts
	s.after(s.src.between(time.Second, time.Minute), func() {
		if s.proc == h.proc && s.room(f.spec.Room) == nil {
			s.open(f)
		}
	})
}

// stopProcess ends the process in an orderly way because its log has failed.
func (s *simulation) stopProcess() {
	if s.proc == nil {
		return
	}
	s.trace("stop", s.proc.owner)
	for _, h := range s.proc.rooms {
		h.facts.left(h)
	}
	s.endProcess(false)
}

// endRun ends the run of the room: effects are cancelled, callers are told, and the child
// rooms of its calls end.
func (h *hosted) endRun() {
	h.ended, h.batch = true, nil
	h.facts.lost = true // a batch on its way is written, or not, without this room
	h.gate.close()
	h.facts.left(h)
	for _, x := range slices.Clone(h.proc.rooms) {
		if x.parent == h && !x.ended {
			x.endRun()
		}
	}
	h.proc.rooms = slices.DeleteFunc(slices.Clone(h.proc.rooms), func(x *hosted) bool { return x == h })
	for _, r := range append(h.people, h.work...) {
		if r.answer != nil {
			r.answer(nil, errEnded)
		}
	}
	for _, r := range h.s.readers {
		if r.of == h.facts {
			r.connected = false
		}
	}
}

// stored goes on with a command whose events are durable.
func (h *hosted) stored(b *batch) {
	if h.ended {
		return
	}
	h.batch = nil
	if o := b.req.order; o != nil {
		if o.stored++; o.stored > 1 {
			h.s.violate("S8", h.id, fmt.Sprintf("the command %T of %s was repeated, and has events again", o.cmd.Do, o.cmd.Actor))
		}
	}
	h.s.result.Events += len(b.events)
	for i, p := range b.parts {
		if i > 0 { // decided on a copy of this state
			h.facts.decided(h.s, h, p.cmd, p.events, nil)
		}
		for _, e := range p.events {
			h.apply(e, b)
		}
		if d, ok := p.cmd.Do.(room.Decided); ok && h.state.Policy.Lost {
			h.state.SetPolicyState(d.Record.StateJSON)
		}
	}
	h.facts.model.stored(h.s, h, nil)
	if has[room.Redacted](b.events) {
		h.s.at(moment{kind: onRedacted, room: h})
		if h.s.fault(Crash, 15) {
			h.s.at(moment{kind: onRedactionCut, room: h})
			h.s.crash(true)
			return
		}
		h.redact()
	}
	h.claimed = h.claimed || has[room.Claimed](b.events)
	h.runClock(h.state.Phase == room.PhaseLive)
	h.maybeSnapshot()
	h.finish(b.req, b.parts[0].events, nil)
}

// apply folds an event into the state.
func (h *hosted) apply(e room.Event, b *batch) {
	if _, ok := e.Body.(room.TurnGranted); ok {
		h.s.result.Turns++
	}
	h.s.at(moment{kind: onApply, room: h, event: e, batch: b})
	h.state.Apply(e)
	h.noteText(e)
	h.facts.appliedEvent(h.s, h, e)
	h.s.at(moment{kind: onEvent, room: h, event: e, batch: b})
}

// finish answers the caller and starts what is missing.
func (h *hosted) finish(r request, events []room.Event, err error) {
	if r.held {
		h.gate.open()
	}
	if r.order != nil && r.order.pauses {
		h.pauses--
	}
	if r.answer != nil {
		r.answer(events, err)
	}
	if h.measured() {
		return
	}
	h.reconcile()
	if f := h.follower; f != nil && h.ready() {
		f.lead(h)
		f.look(h)
	}
}

// prepare adds the grant of the participant that is about to get the floor.
func (h *hosted) prepare(cmd room.Command) room.Command {
	switch do := cmd.Do.(type) {
	case room.Decided:
		if do.Decision.Action == policy.ActionSpeak {
			d, _ := h.state.Explore(do.Decision, &do.Record)
			do.Grant = h.grant(d.Agent)
		}
		cmd.Do = do
	case room.Next:
		do.Grant = h.grant(do.Participant)
		cmd.Do = do
	case room.Redact:
		do.Drafts = h.eventsWith(do.Target)
		cmd.Do = do
	case room.Serve:
		do.Grant = h.grant(h.state.Spec.Call.Agent)
		cmd.Do = do
	}
	return cmd
}

// grant returns what turn.granted records of a prompt.
func (h *hosted) grant(id string) room.Grant {
	if _, ok := h.state.Seat(id); !ok {
		return room.Grant{}
	}
	g := room.Grant{Request: "req_" + h.s.src.id(), Window: h.state.WindowFor(id)}
	digest, size := h.prompt(id, g.Window, g.Request)
	g.Prompt, g.Tokens = digest, int64(size+3)/4+20
	return g
}

// enqueue adds a result of work to the queue.
func (h *hosted) enqueue(r request) {
	if !h.ended {
		h.work = append(h.work, r)
	}
}

// types lists the types of events for the trace.
func types(events []room.Event) (list []string) {
	for _, e := range events {
		list = append(list, e.Body.Type())
	}
	return list
}

func short(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
