package invariant_test

import (
	"math"
	"strings"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
)

func long(n int) string { return strings.Repeat("x", n) }

// open changes the description of a room.
func open(m *mutant, change func(*room.Spec)) {
	edit(m, event[room.Opened](m, 0), func(b *room.Opened) { change(&b.Spec) })
}

// limitFaults are about limits and the policy.
var limitFaults = []fault{
	{"L1", settling, func(m *mutant) { open(m, func(s *room.Spec) { s.Limits.MaxTurns = 3 }) }},
	{"L2", talk, func(m *mutant) { open(m, func(s *room.Spec) { s.Limits.MaxDuration = 20 * time.Second }) }},
	{"L3", settling, func(m *mutant) { open(m, func(s *room.Spec) { s.Limits.MaxFailures = 1 }) }},
	{"L4", talk, func(m *mutant) { edit(m, event(m, 0, grantOf("r")), func(b *room.TurnGranted) { b.Tokens = 10_000 }) }},
	{"L4", talk, func(m *mutant) {
		m.fault(event[room.BidPosted](m, 0), func(s *room.State) { s.Tally.Cost = 10_001 })
	}},
	{"L5", talk, func(m *mutant) {
		edit(m, event[room.Joined](m, 2), func(b *room.Joined) { b.Participant.Cooldown = 2 })
	}},
	{"L6", settling, func(m *mutant) { m.drop(event[room.Completed](m, 0)) }},
	{"L7", talk, func(m *mutant) { m.history[event[room.LimitsChanged](m, 0)].event.Actor = "a" }},
	{"L7", talk, func(m *mutant) { m.fault(event(m, 0, inTurn(1)), func(s *room.State) { s.Limits.MaxTurns++ }) }},
	{"L8", mailing, func(m *mutant) {
		edit(m, event(m, 2, inTurn(0)), func(b *room.MessagePosted) { b.HeldUntil = 0 })
	}},
	{"L9", talk, func(m *mutant) {
		m.history[m.find(finished, 0)].log = func(log []room.Event) []room.Event { return log[:len(log)-1] }
	}},
	{"L10", talk, func(m *mutant) { m.fault(event(m, 0, inTurn(1)), func(s *room.State) { s.Tally.Tokens = 0 }) }},
	{"L10", talk, func(m *mutant) { m.fault(event(m, 0, inTurn(3)), func(s *room.State) { s.Tally.Tokens -= 20 }) }},
	{"L10", talk, func(m *mutant) { m.fault(event[room.TurnFailed](m, 0), func(s *room.State) { s.Tally.Tokens -= 10 }) }},
	{"L11", talk, func(m *mutant) { m.fault(event[room.Paused](m, 0), func(s *room.State) { s.Tally.Tokens-- }) }},
	{"L11", talk, func(m *mutant) { m.fault(event(m, 0, inTurn(0)), func(s *room.State) { s.Tally.Cost = -1 }) }},
	{"L12", talk, func(m *mutant) {
		edit(m, event[room.Joined](m, 0), func(b *room.Joined) { b.Participant.MaxTokens = 5 })
	}},
	{"L12", talk, func(m *mutant) {
		edit(m, event[room.Joined](m, 1), func(b *room.Joined) { b.Participant.Budget.Room.Turns = 1 })
	}},
	{"L12", talk, func(m *mutant) {
		m.insert(event[room.BidPosted](m, 0), room.ActorRoom, room.BudgetChanged{Participant: "a", BudgetMark: room.BudgetMark{Window: budget.Hour, Level: budget.Used}})
	}},
	{"L13", talk, func(m *mutant) { edit(m, event[room.RoundDeclined](m, 0), func(b *room.RoundDeclined) { b.Retry = 0 }) }},
	{"L14", talk, func(m *mutant) { m.fault(event[room.TurnFailed](m, 0), func(s *room.State) { s.Tally.Failures = 0 }) }},
	{"L14", settling, func(m *mutant) {
		m.fault(event[room.RoundDeclined](m, 0), func(s *room.State) { s.Tally.Failures = 2 })
	}},

	{"P1", talk, func(m *mutant) { m.drop(event[room.SeatReady](m, 0)) }},
	{"P1", talk, func(m *mutant) {
		edit(m, event(m, 0, grantOf("c")), func(b *room.TurnGranted) { b.Participant = "ghost" })
	}},
	{"P1", talk, func(m *mutant) {
		edit(m, event(m, 0, grantOf("c")), func(b *room.TurnGranted) { b.Participant = "me" })
	}},
	{"P1", talk, func(m *mutant) { edit(m, event(m, 3, grantOf("a")), func(b *room.TurnGranted) { b.Participant = "z" }) }},
	{"P1", talk, func(m *mutant) {
		edit(m, event[room.PresenceChanged](m, 0), func(b *room.PresenceChanged) { b.Presence = room.Away })
		edit(m, event(m, 0, grantOf("c")), func(b *room.TurnGranted) { b.Participant = "z" })
	}},
	{"P2", talk, func(m *mutant) {
		i := m.findGrant()
		do := m.history[i].cmd.Do.(room.Decided)
		do.Decision = policy.Speak("p", "other")
		m.history[i].cmd.Do = do
	}},
	{"P2", talk, func(m *mutant) {
		i := m.findGrant()
		do := m.history[i].cmd.Do.(room.Decided)
		do.Decision = policy.Decline("not now")
		m.history[i].cmd.Do = do
	}},
	{"P3", talk, func(m *mutant) {
		edit(m, event[room.RoundDeclined](m, 0), func(b *room.RoundDeclined) { b.Record.Seed = "0" })
	}},
	{"P4", talk, func(m *mutant) {
		edit(m, event[room.RoundDeclined](m, 1), func(b *room.RoundDeclined) { b.Record.Through-- })
	}},
	{"P4", talk, func(m *mutant) { m.insert(event[room.BidPosted](m, 0), "me", room.ReplyLate{}) }},
	{"P5", talk, func(m *mutant) { edit(m, event(m, 0, grantOf("a")), func(b *room.TurnGranted) { b.Record = nil }) }},
	{"P6", talk, func(m *mutant) {
		edit(m, event[room.RoundDeclined](m, 0), func(b *room.RoundDeclined) { b.Record.Code = "run.trap" })
	}},
	{"P6", talk, func(m *mutant) {
		edit(m, event[room.Paused](m, 0), func(b *room.Paused) { b.Cause = room.CausePolicy })
	}},
	{"P7", talk, func(m *mutant) { m.drop(event[room.RoundDeclined](m, 0)) }},
	{"P8", talk, func(m *mutant) { m.drop(event[room.PolicyChanged](m, 0)) }},
	{"P9", talk, func(m *mutant) {
		edit(m, event[room.RoundDeclined](m, 0), func(b *room.RoundDeclined) { b.Reason = long(2001) })
	}},
	{"P9", talk, func(m *mutant) { edit(m, event[room.TurnFailed](m, 0), func(b *room.TurnFailed) { b.Error = "\xff" }) }},
	{"P10", talk, func(m *mutant) { m.again(event[room.BidPosted](m, 0)) }},
	{"P10", talk, func(m *mutant) { edit(m, event[room.BidPosted](m, 0), func(b *room.BidPosted) { b.Decision = 7 }) }},
	{"P11", talk, func(m *mutant) {
		edit(m, event[room.BidPosted](m, 0), func(b *room.BidPosted) { b.Bid.Score = math.NaN() })
	}},
	{"P11", talk, func(m *mutant) {
		edit(m, event(m, 0, grantOf("a")), func(b *room.TurnGranted) { b.Scores = []policy.Score{{Agent: "a", Score: math.Inf(1)}} })
	}},
	{"P12", talk, func(m *mutant) {
		edit(m, event(m, 0, grantOf("a")), func(b *room.TurnGranted) { b.Hints = policy.JSON(`{}`) })
	}},
}
