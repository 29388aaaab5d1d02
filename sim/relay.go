package sim

import (
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// A device is the device of another owner, on which an agent runs. It keeps its answers
// by the ids of the requests, and answers a request that is repeated from them.
type device struct {
	epoch    uint64 // newest of the room; a lower one is refused
	answers  map[string]endpoint.Reply
	working  map[string]bool
	restarts int
}

// resendAfter is when the host repeats a request without an answer.
const resendAfter = 20 * time.Second

// overRelay sends a prompt to the device of the agent, and repeats it until the turn ends.
func (h *hosted) overRelay(e room.Speak, running *effect, a *agent) {
	began, epoch := h.s.now, h.state.Epoch
	var send func()
	send = func() {
		if running.cancelled || running.done || h.ended {
			return
		}
		h.s.deliver(func() { a.receiveFar(h, e, running, epoch, began) })
		h.s.after(resendAfter, send)
	}
	send()
}

// deliver carries a frame over the relay, which may lose, repeat, delay and reorder it.
func (s *simulation) deliver(frame func()) {
	if s.fault(Relay, 8) {
		s.at(moment{kind: onFrameLost})
		return
	}
	delay := s.elapsed()
	if s.fault(Relay, 10) { // reconnected, so that later frames overtake it
		delay = s.src.between(time.Second, 30*time.Second)
	}
	s.after(delay, frame)
	if s.fault(Relay, 8) {
		s.at(moment{kind: onFrameTwice})
		s.after(delay+s.elapsed(), frame)
	}
}

// receiveFar takes a request on the device of the agent.
func (a *agent) receiveFar(h *hosted, e room.Speak, running *effect, epoch uint64, began time.Duration) {
	s, d := h.s, &a.device
	answer := func(r endpoint.Reply) {
		s.deliver(func() { a.arrive(h, e, running, r, s.now-began) })
	}
	r, answered := d.answers[e.Request]
	switch {
	case epoch < d.epoch:
		s.at(moment{kind: onOldEpoch, room: h})
		return
	case answered && !s.cfg.flaws.noRecord:
		s.at(moment{kind: onFromRecord, room: h, agent: a, epoch: epoch > d.epoch})
		d.epoch = epoch
		answer(r)
		return
	case d.working[e.Request] && !answered:
		d.epoch = epoch
		return
	}
	d.epoch = epoch
	if d.answers == nil {
		d.answers, d.working = map[string]endpoint.Reply{}, map[string]bool{}
	}
	d.working[e.Request] = true
	s.report(h.id, h.facts.check.Executed(e.Request))
	if s.fault(Agents, 10) { // the device restarts, and answers nothing that it worked on
		s.after(time.Second, func() {
			d.restarts++
			d.answers[e.Request] = endpoint.Reply{Outcome: endpoint.Refused, Reason: "interrupted"}
			s.at(moment{kind: onDeviceRestarts, room: h})
		})
		return
	}
	s.after(s.src.between(time.Second, 40*time.Second), func() {
		if _, ok := d.answers[e.Request]; !ok {
			d.answers[e.Request] = a.say(s)
			answer(d.answers[e.Request])
		}
	})
}

// arrive takes the answer of a device, which may come more than once.
func (a *agent) arrive(h *hosted, e room.Speak, running *effect, r endpoint.Reply, latency time.Duration) {
	if running.done {
		return // the dispatcher knows the request and its answer
	}
	h.reply(e, running, r, latency)
}
