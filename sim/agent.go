package sim

import (
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// An agent answers the prompts of a seat.
type agent struct {
	seat    room.Participant
	alive   bool
	last    string // request before the newest one
	request string // newest request
	said    int
	session session  // of the seat of a running session
	acked   string   // message of its newest ack
	ackedBy *process // that got it
	far     string   // device of the session; "" is that of the host
	device  device   // of an agent on another device
}

// agent returns the agent of a seat.
func (f *facts) agent(id string) *agent {
	for _, a := range f.agents {
		if a.seat.ID == id {
			return a
		}
	}
	for _, p := range f.seats {
		if p.ID == id {
			a := &agent{seat: p, alive: true}
			f.agents = append(f.agents, a)
			return a
		}
	}
	return &agent{}
}

// receive starts the work on a prompt.
func (a *agent) receive(h *hosted, e room.Speak, running *effect) {
	if h.ended || running.cancelled {
		return
	}
	h.s.at(moment{kind: onReceived, room: h, agent: a, speak: &e})
	h.s.report(h.id, h.facts.check.Executed(e.Request))
	a.last, a.request = a.request, e.Request
	a.behave(h, e, running)
}

// behave answers a prompt, or breaks the protocol.
func (a *agent) behave(h *hosted, e room.Speak, running *effect) {
	s := h.s
	latency := s.src.between(100*time.Millisecond, 20*time.Second)
	answer := func(d time.Duration, r endpoint.Reply) {
		s.after(d, func() { h.reply(e, running, r, d) })
	}
	if !s.fault(Agents, 35) {
		a.honest(h, e, answer, latency)
		return
	}
	kind := s.src.below(12)
	if s.plain() && kind > 7 { // the model does not know them
		kind = 0
	}
	switch kind {
	case 0: // silent
	case 1: // it ends
		a.alive = false
		s.after(latency, func() {
			h.failTurn(e, running, one(s.src, room.FailExited, room.FailInterrupted), room.Usage{}, latency)
		})
	case 2: // twice
		answer(latency, a.say(s))
		s.after(latency+s.elapsed(), func() {
			if s.src.percent(50) || s.plain() {
				h.reply(e, running, a.say(s), latency)
			} else {
				h.violated(e.Participant, "duplicate")
			}
		})
	case 3: // late
		answer(e.Timeout+s.src.between(0, 30*time.Second), a.say(s))
	case 4: // the answer to the request before
		old := e
		old.Request, old.Turn = a.last, e.Turn-1
		s.after(latency/2, func() { h.reply(old, &effect{cancelled: true}, a.say(s), latency) })
		answer(latency, a.say(s))
	case 5: // under a forged id
		forged := e
		forged.Request = "req_" + s.src.id()
		s.after(latency/2, func() { h.forge(forged, a.say(s)) })
		answer(latency, a.say(s))
	case 6: // an error
		s.after(latency, func() {
			h.failTurn(e, running, one(s.src, room.FailAgent, room.FailProtocol, room.FailFailed, room.FailDenied), a.usage(s), latency)
		})
	case 7: // too long
		r := a.say(s)
		r.Text = strings.Repeat("x", 100+h.state.Limits.MaxOutput*s.src.below(6))
		answer(latency, r)
	case 8: // impossible figures
		r := a.say(s)
		r.Usage = one(s.src,
			room.Usage{Known: true, Input: -5, Output: 10},
			room.Usage{Known: true, Input: 1 << 62, Output: 1 << 62},
			room.Usage{Known: true, Input: 10, CachedInput: 20},
			room.Usage{CostKnown: true, Cost: -1})
		answer(latency, r)
	case 9: // no valid text
		r := a.say(s)
		r.Text = one(s.src, "\xff\xfe\x00", "   ", "a\x00b", strings.Repeat("\xc3", 50))
		answer(latency, r)
	case 10:
		s.after(latency/2, func() { h.violated(e.Participant, "frame") })
		answer(latency, a.say(s))
	case 11: // it has lost its memory
		s.after(latency/2, func() {
			h.enqueue(request{cmd: room.Command{Actor: e.Participant, Do: room.Forgot{Participant: e.Participant}}})
		})
		answer(latency, a.say(s))
	}
}

// honest answers a prompt, sometimes after a question to a person or a hand-off.
func (a *agent) honest(h *hosted, e room.Speak, answer func(time.Duration, endpoint.Reply), latency time.Duration) {
	s := h.s
	r := a.say(s)
	if h.state.Spec.Call != nil && s.src.percent(50) {
		s.after(latency/3, func() { a.callAgents(h) })
	}
	switch s.src.below(10) {
	case 0:
		r = endpoint.Reply{Outcome: endpoint.Passed, Reason: "nothing to add"}
	case 1:
		s.after(latency/3, func() { a.askPermission(h, e) })
		latency += time.Duration(s.src.below(2)) * 80 * time.Second // it may wait for the answer
	case 2:
		r.Handoff = &endpoint.Handoff{To: h.anySeat(), Reason: "it knows more"}
	case 3:
		s.after(latency/3, func() { a.post(h) })
	case 4:
		s.after(latency/3, func() { a.callAgents(h) })
	case 5:
		s.after(latency/3, func() { a.acknowledge(h) })
	}
	answer(latency, r)
}

// say returns an answer.
func (a *agent) say(s *simulation) endpoint.Reply {
	a.said++
	r := endpoint.Reply{Outcome: endpoint.Said, Text: s.words() + " " + strconv.Itoa(a.said), Usage: a.usage(s)}
	if s.fault(Hostile, 4) {
		r.Text = "the same again" // a loop guard counts it
	}
	if s.src.percent(60) {
		c := float64(s.src.below(101)) / 100
		r.Confidence = &c
	}
	return r
}

func (a *agent) usage(s *simulation) room.Usage {
	if s.src.percent(30) {
		return room.Usage{}
	}
	return room.Usage{Known: true, Input: int64(s.src.below(400)), Output: int64(s.src.below(200))}
}

// words returns a text.
func (s *simulation) words() string {
	return one(s.src, "yes", "no", "ann, is it ready?", "bob and cid should check it", "a longer text that tells how the work goes on and who does it",
		"@me what do you think?", "done; tests pass", "the build is red") + one(s.src, "", ".", " I think")
}

// anySeat returns the id of a seat.
func (h *hosted) anySeat() string {
	return one(h.s.src, h.state.Seats...).ID
}

// violated reports that an endpoint broke its protocol.
func (h *hosted) violated(id, code string) {
	h.enqueue(request{cmd: room.Command{Actor: id, Do: room.Violated{Participant: id, Code: code}}})
}

// forge delivers an answer to a request that the room never made.
func (h *hosted) forge(e room.Speak, r endpoint.Reply) {
	h.s.at(moment{kind: onForged, room: h})
	h.enqueue(request{cmd: room.Command{Actor: e.Participant, Do: room.Replied{Turn: e.Turn, Participant: e.Participant, Request: e.Request, Reply: r}}})
}
