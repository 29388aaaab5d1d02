package invariant_test

import (
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// callFaults are about permissions and calls.
var callFaults = []fault{
	{"X1", talk, func(m *mutant) {
		i := event[room.PermissionAnswered](m, 0)
		edit(m, i, func(b *room.PermissionAnswered) { b.By = "p" })
		m.history[i].event.Actor = "p"
	}},
	{"X1", talk, func(m *mutant) {
		edit(m, event[room.PermissionAnswered](m, 0), func(b *room.PermissionAnswered) { b.Allowed, b.Always = false, true })
	}},
	{"X2", talk, func(m *mutant) { m.history[event[room.Paused](m, 0)].event.Actor = "a" }},
	{"X2", talk, func(m *mutant) { m.history[event[room.TurnApproved](m, 0)].event.Actor = "b" }},
	{"X2", talk, func(m *mutant) { m.history[event[room.SeatChanged](m, 0)].event.Actor = "r" }},
	{"X2", talk, func(m *mutant) { m.history[event[room.Redacted](m, 0)].event.Actor = "c" }},
	{"X2", talk, func(m *mutant) {
		edit(m, event[room.Joined](m, 6), func(b *room.Joined) { b.Participant.Device = "elsewhere" })
	}},
	{"X3", calling, func(m *mutant) { call(m, 0, func(c *calls.Call) { c.Rights = []string{"read", "edit"} }) }},
	{"X3", calling, func(m *mutant) { call(m, 0, func(c *calls.Call) { c.Rights = []string{"execute"} }) }},
	{"X4", calling, func(m *mutant) { call(m, 0, func(c *calls.Call) { c.Reserved.Tokens = 100_000 }) }},
	{"X4", calling, func(m *mutant) { call(m, 0, func(c *calls.Call) { c.Timeout = 2 * time.Hour }) }},
	{"X4", calling, func(m *mutant) { open(m, func(s *room.Spec) { s.Limits.MaxCalls = 1 }) }},
	{"X5", calling, func(m *mutant) { open(m, func(s *room.Spec) { s.Call = &room.CallOf{} }) }},
	{"X6", calling, func(m *mutant) { call(m, 0, func(c *calls.Call) { c.Agent = "lead" }) }},
	{"X6", calling, func(m *mutant) { call(m, 0, func(c *calls.Call) { c.Chain[0].Agent = "other" }) }},
	{"X6", calling, func(m *mutant) { call(m, 0, func(c *calls.Call) { c.Depth = 2 }) }},
	{"X7", calling, func(m *mutant) { call(m, 2, func(c *calls.Call) { c.Permit = "" }) }},
	{"X7", calling, func(m *mutant) {
		edit(m, event[room.PermissionAnswered](m, 0), func(b *room.PermissionAnswered) { b.Allowed = false })
	}},
	{"X7", calling, func(m *mutant) {
		edit(m, event[room.Joined](m, 0), func(b *room.Joined) { b.Participant.Calls = room.CallsDeny })
	}},
	{"X8", calling, func(m *mutant) { m.again(event[room.CallEnded](m, 0)) }},
	{"X8", calling, func(m *mutant) { m.again(event[room.CallStarted](m, 0)) }},
	{"X8", calling, func(m *mutant) {
		edit(m, event[room.CallEnded](m, 0), func(b *room.CallEnded) { b.State = calls.Working })
	}},
	{"X9", calling, func(m *mutant) { m.drop(event[room.CallChanged](m, 1)) }},
	{"X10", talk, func(m *mutant) {
		m.fault(event(m, 0, inTurn(1)), func(s *room.State) { s.Seats[1].Standing = room.Suspended })
	}},
	{"X10", talk, func(m *mutant) {
		m.fault(event(m, 0, inTurn(1)), func(s *room.State) { s.Seats[1].SetMode = room.FullAuto })
	}},
	{"X10", talk, func(m *mutant) { m.fault(event(m, 0, inTurn(1)), func(s *room.State) { s.Seats[1].TakenBy = "a" }) }},
	{"X10", talk, func(m *mutant) { m.fault(event(m, 0, inTurn(1)), func(s *room.State) { s.Policy.Ref.Name = "mine" }) }},
	{"X11", talk, func(m *mutant) {
		edit(m, event[room.PermissionAsked](m, 0), func(b *room.PermissionAsked) { b.Participant = "a" })
	}},
	{"X11", talk, func(m *mutant) { m.again(event[room.PermissionAsked](m, 0)) }},
	{"X12", talk, func(m *mutant) { m.again(event[room.PermissionAnswered](m, 0)) }},
	{"X12", talk, func(m *mutant) { m.drop(event[room.PermissionAsked](m, 0)) }},
	{"X13", talk, func(m *mutant) { m.drop(event[room.PermissionAnswered](m, 0)) }},
	{"X14", calling, func(m *mutant) {
		m.fault(event[room.CallEnded](m, 0), func(s *room.State) { s.Calls[0].State = calls.Working })
	}},
	{"X15", talk, func(m *mutant) { m.history[event[room.ModeChanged](m, 0)].event.Actor = "a" }},
}

// call changes the n-th call.
func call(m *mutant, n int, change func(*calls.Call)) {
	edit(m, event[room.CallStarted](m, n), func(b *room.CallStarted) { change(&b.Call) })
}
