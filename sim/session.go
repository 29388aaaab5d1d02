package sim

import (
	"time"

	"github.com/folkmoot/moot/room"
)

// lease is how long the host waits for the next await of a session.
const lease = 60 * time.Second

// A session is a running agent session that has a seat. It awaits its turns, answers with
// the id and the epoch of the request, and repeats an answer of which it heard nothing.
type session struct {
	proc    *process // that knows its lease; nil without one
	lease   int      // number of its newest lease; the ends of older ones are void
	offered *room.Speak
	epoch   uint64
	effect  *effect
	answer  *room.Answered // that it has given and not seen accepted
	post    *room.Say      // likewise
}

// sessionActs lets the session of a seat act.
func (a *agent) sessionActs(h *hosted) {
	s := h.s
	switch x := &a.session; s.src.below(8) {
	case 0, 1, 2:
		a.await(h)
	case 3:
		a.present(h, room.Idle)
	case 4:
		if s.fault(Agents, 50) { // it ends, or its host does
			x.lease++
			a.present(h, room.Away)
		}
	case 5:
		if x.answer != nil { // it has heard nothing of its answer
			s.at(moment{kind: onAnswerAgain, room: h})
			a.give(h, *x.answer)
		} else if s.fault(Hostile, 30) {
			a.give(h, room.Answered{Participant: a.seat.ID, Request: "req_" + s.src.id(), Epoch: h.state.Epoch, Reply: a.say(s)})
		}
	case 6:
		if x.post == nil {
			x.post = &room.Say{Text: s.words(), MessageID: s.messageID()}
		} else {
			s.at(moment{kind: onPostAgain, room: h})
		}
		a.tell(h, *x.post, func(err error) {
			if !s.fault(Retry, 30) {
				x.post = nil
				return
			}
			s.after(s.src.between(time.Second, 10*time.Second), func() {
				if again := s.room(h.id); again != nil && x.post != nil {
					a.tell(again, *x.post, func(error) { x.post = nil })
				}
			})
		})
	case 7:
		a.callAgents(h)
	}
}

// await waits for a turn, and renews the lease.
func (a *agent) await(h *hosted) {
	a.present(h, room.Live)
	x := &a.session
	if x.lease++; x.proc != h.proc { // the process before knew another one
		x.proc, x.offered, x.effect = h.proc, nil, nil
	}
	number := x.lease
	h.s.after(lease, func() {
		if x.lease == number && !h.ended {
			h.s.at(moment{kind: onLeaseEnds, room: h, agent: a})
			a.present(h, room.Away)
		}
	})
	if x.offered != nil && !x.effect.cancelled {
		a.take(h)
	}
}

// present says that the presence of the session is another.
func (a *agent) present(h *hosted, p room.Presence) {
	do := room.Present{Participant: a.seat.ID, Presence: p}
	if a.far != "" && p != room.Away {
		do.Device, do.Owner = a.far, "olga"
	}
	h.enqueue(request{cmd: room.Command{Actor: room.ActorHost, Do: do}})
}

// offer keeps the prompt of a turn for the session that has the seat.
func (h *hosted) offer(e room.Speak, running *effect, a *agent) {
	x := &a.session
	x.proc, x.offered, x.effect, x.epoch = h.proc, &e, running, h.state.Turn.Epoch
	if seat, _ := h.state.Seat(e.Participant); seat.Presence == room.Live {
		h.s.after(h.s.elapsed(), func() { a.take(h) })
	}
}

// take gives the prompt to the session, which works on it and answers.
func (a *agent) take(h *hosted) {
	x, s := &a.session, h.s
	if x.offered == nil || h.ended || x.effect.cancelled {
		return
	}
	e, epoch := *x.offered, x.epoch
	x.offered = nil
	if a.request == e.Request {
		return // it has had the request from the process before
	}
	s.report(h.id, h.facts.check.Executed(e.Request))
	a.last, a.request = a.request, e.Request
	if s.fault(Agents, 10) {
		return // it forgets its turn
	}
	do := room.Answered{Participant: a.seat.ID, Request: e.Request, Epoch: epoch, Reply: a.say(s)}
	if s.fault(Hostile, 5) {
		do.Epoch--
	}
	s.after(s.src.between(time.Second, 70*time.Second), func() {
		x.answer = &do
		if room := s.room(h.id); room != nil {
			a.give(room, do)
		}
	})
}

// give gives the answer of the session to a request.
func (a *agent) give(h *hosted, do room.Answered) {
	x, s := &a.session, h.s
	a.tell(h, do, func(err error) {
		if s.fault(Retry, 30) { // it does not hear of it
			s.after(s.src.between(time.Second, 10*time.Second), func() {
				if again := s.room(h.id); again != nil && x.answer != nil {
					a.give(again, *x.answer)
				}
			})
			return
		}
		if x.answer != nil && x.answer.Request == do.Request {
			x.answer = nil
		}
	})
}

// tell gives a command of the session to the room.
func (a *agent) tell(h *hosted, do room.Act, answer func(error)) {
	h.s.at(moment{kind: onSessionActs, room: h, agent: a, cmd: room.Command{Do: do}})
	h.people = append(h.people, request{cmd: room.Command{ID: "c_" + h.s.src.id(), Actor: a.seat.ID, Do: do}, answer: func(events []room.Event, err error) {
		if err != errEnded && err != errFailed && err != errFull {
			if n := len(events); n > 0 {
				h.facts.acknowledged(h.s, events[n-1].Seq)
			}
			answer(err)
		}
	}})
}
