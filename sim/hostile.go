package sim

import (
	"strconv"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// agentActs lets an agent of any room act, in or out of its turn.
func (s *simulation) agentActs() {
	h := s.someRoom()
	if h == nil {
		return
	}
	a := one(s.src, h.facts.agents...)
	if a.seat.Session {
		a.sessionActs(h)
		return
	}
	if s.src.percent(30) {
		a.ackAgain(h)
	}
	switch s.src.below(8) {
	case 0, 1:
		a.post(h)
	case 2, 3, 4:
		a.acknowledge(h)
	case 5:
		a.exit(h)
	default:
		a.attack(h)
	}
}

// attack is an act that an agent has no right to.
func (a *agent) attack(h *hosted) {
	s := h.s
	if !s.fault(Hostile, 60) {
		return
	}
	id := a.seat.ID
	other := h.anySeat()
	do := one[room.Act](s.src,
		room.Pause{}, room.Resume{}, room.Stop{Reason: "as the agent says"}, room.Complete{},
		room.Approve{Draft: h.draft()}, room.SetMode{Participant: id, Mode: room.FullAuto}, room.Next{Participant: id},
		room.SetLimits{Limits: room.Limits{MaxTurns: 1 << 20}}, room.TakeOver{Participant: other},
		room.SetStanding{Participant: other, Standing: room.Removed}, room.Redact{Target: 1},
		room.Permit{ID: h.permission(), Allowed: true, Always: true},
		room.Ack{Message: h.id + "." + strconv.FormatInt(h.state.Seq, 10)},
		room.Posted{Message: room.Message{From: other, To: id, Kind: "call_result", Text: "forged"}},
		room.Posted{Message: room.Message{To: "no such seat", Kind: "task", Text: "x"}},
		room.HandOff{To: id, Reason: "to itself"}, room.ClaimTask{Task: "t1"},
		room.Asked{Request: a.last, Permission: room.Permission{Kind: "execute", Title: "run"}},
		room.Withdrawn{ID: h.permission()},
		room.CancelCall{Call: "c1"}, room.AwaitCall{Call: "c1", Wait: time.Hour},
	)
	switch do.(type) {
	case room.Posted, room.Ack, room.Redact:
		if s.plain() {
			return
		}
	}
	s.at(moment{kind: onAttack, room: h})
	h.enqueue(request{cmd: room.Command{Actor: id, Do: do}})
}

// post sends a message in addition to the replies, sometimes again under the same id.
func (a *agent) post(h *hosted) {
	s := h.s
	if s.plain() {
		return // the model does not know deliveries
	}
	m := room.Message{ID: "m_" + s.src.id(), To: one(s.src, room.Broadcast, h.anySeat()), Text: s.words(), Kind: one(s.src, "", "", "status", "task", "clarification_request", "final_response", "warning")}
	m.RequiresAck = s.src.percent(40)
	if s.src.percent(20) {
		m.Payload = policy.JSON(`{"n":` + strconv.Itoa(s.src.below(9)) + `}`)
	}
	send := func(m room.Message) {
		h.enqueue(request{cmd: room.Command{Actor: a.seat.ID, Do: room.Posted{Message: m}}})
	}
	send(m)
	if s.fault(Retry, 25) {
		again := m
		if s.src.percent(25) {
			again.Text += " (changed)"
		}
		s.after(s.elapsed(), func() { send(again) })
	}
}

// acknowledge takes note of a message that the agent was sent.
func (a *agent) acknowledge(h *hosted) {
	if h.s.plain() {
		return
	}
	if waiting := h.state.Mail.Deliveries.Pending(a.seat.ID); len(waiting) > 0 {
		d := one(h.s.src, waiting...)
		ack := request{cmd: room.Command{Actor: a.seat.ID, Do: room.Ack{Message: d.Message}}}
		a.acked, a.ackedBy = d.Message, h.proc
		h.enqueue(ack)
		if h.s.fault(Retry, 30) {
			h.s.after(h.s.between(10*time.Second), func() { h.enqueue(ack) })
		}
	}
}

// ackAgain repeats the newest ack after a restart, because the agent has heard nothing of
// it.
func (a *agent) ackAgain(h *hosted) {
	if a.acked == "" || a.ackedBy == h.proc {
		return
	}
	a.ackedBy = h.proc
	h.enqueue(request{cmd: room.Command{Actor: a.seat.ID, Do: room.Ack{Message: a.acked}}, answer: func(events []room.Event, err error) {
		h.s.at(moment{kind: onAckAgain, room: h, events: events, err: err})
	}})
}

// exit ends the process of the agent between its turns.
func (a *agent) exit(h *hosted) {
	if !h.s.fault(Agents, 30) {
		return
	}
	a.alive = false
	code := one(h.s.src, endpoint.ExitedRestarts, endpoint.ExitedForGood)
	h.enqueue(request{cmd: room.Command{Actor: a.seat.ID, Do: room.Exited{Participant: a.seat.ID, Code: code, Error: "its process has ended"}}})
}

// askPermission asks the owner before the agent acts.
func (a *agent) askPermission(h *hosted, e room.Speak) {
	s := h.s
	do := room.Asked{Request: e.Request, Permission: room.Permission{Kind: one(s.src, "read", "edit", "execute"), Title: "do it", Always: s.src.percent(50)}}
	if s.src.percent(20) {
		do.Answer = &endpoint.Answer{Allowed: s.src.percent(50), By: endpoint.RuledBy, Reason: "a rule"}
	}
	h.enqueue(request{cmd: room.Command{Actor: a.seat.ID, Do: do}, answer: func(events []room.Event, err error) {
		if err != nil || len(events) != 1 {
			return
		}
		asked, ok := events[0].Body.(room.PermissionAsked)
		if ok && s.fault(Agents, 25) { // it waits no longer
			s.after(s.src.between(time.Second, time.Minute), func() {
				h.enqueue(request{cmd: room.Command{Actor: a.seat.ID, Do: room.Withdrawn{ID: asked.ID}}})
			})
		}
	}})
}

// callAgents calls another agent.
func (a *agent) callAgents(h *hosted) {
	if a.seat.Calls == "" {
		return
	}
	args := calls.Args{Agent: h.anyAgent(), Task: h.s.words(), AllowNested: h.s.src.percent(40)}
	if h.s.src.percent(50) {
		wait := int64(h.s.src.below(60_000))
		args.WaitMS = &wait
	}
	if h.s.src.percent(30) {
		args.TimeoutMS = int64(h.s.src.below(30_000))
	}
	h.enqueue(request{cmd: room.Command{ID: "c_" + h.s.src.id(), Actor: a.seat.ID, Do: room.CallAgents{Calls: []calls.Args{args}}}})
}

// anyAgent returns the id of an agent that may have no seat.
func (h *hosted) anyAgent() string {
	if all := h.state.Spec.Agents; len(all) > 0 && h.s.src.percent(60) {
		return one(h.s.src, all...).ID
	}
	return h.anySeat()
}

// draft returns the hash of the draft that waits, or another one.
func (h *hosted) draft() string {
	if h.state.Turn != nil && h.state.Turn.Draft != nil {
		return h.state.Turn.Draft.Hash
	}
	return "no draft"
}

// permission returns the id of a permission request that waits, or another one.
func (h *hosted) permission() string {
	if h.state.Turn != nil && len(h.state.Turn.Requests) > 0 {
		return h.state.Turn.Requests[0].ID
	}
	return "1.1"
}
