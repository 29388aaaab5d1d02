package invariant_test

import (
	"github.com/folkmoot/moot/room"
)

// grantOf returns whether a turn is that of a participant.
func grantOf(id string) func(room.TurnGranted) bool {
	return func(b room.TurnGranted) bool { return b.Participant == id }
}

// inTurn returns whether a message ends that turn.
func inTurn(n int) func(room.MessagePosted) bool {
	return func(b room.MessagePosted) bool { return b.Turn == n }
}

// turnFaults are about turns, phases, drafts, requests and answers.
var turnFaults = []fault{
	{"S1", talk, func(m *mutant) { m.drop(event(m, 0, inTurn(1))) }},
	{"S2", talk, func(m *mutant) { m.history[m.find(sent, 1)].request = "q001" }},
	{"S2", talk, func(m *mutant) { m.history[m.find(sent, 1)].who = "a" }},
	{"S3", talk, func(m *mutant) { m.again(event[room.Resumed](m, 0)) }},
	{"S3", talk, func(m *mutant) { m.insert(event[room.Stopped](m, 0), room.ActorRoom, room.RoundDeclined{Reason: "x"}) }},
	{"S3", settling, func(m *mutant) {
		m.fault(event[room.Completed](m, 0), func(s *room.State) { s.Phase = room.PhaseLive })
	}},
	{"S4", talk, func(m *mutant) { m.drop(event[room.Resumed](m, 0)) }},
	{"S4", talk, func(m *mutant) { m.drop(event[room.Resumed](m, 1)) }},
	{"S5", talk, func(m *mutant) { m.drop(event[room.TurnInterrupted](m, 0)) }},
	{"S5", talk, func(m *mutant) { m.drop(event[room.TurnInterrupted](m, 1)) }},
	{"S6", talk, func(m *mutant) { m.drop(event[room.TurnApproved](m, 0)) }},
	{"S6", talk, func(m *mutant) { m.drop(event[room.TurnDrafted](m, 0)) }},
	{"S7", talk, func(m *mutant) {
		edit(m, event(m, 0, inTurn(3)), func(b *room.MessagePosted) { b.Message.Confidence = nil })
	}},
	{"S7", talk, func(m *mutant) {
		edit(m, event(m, 0, inTurn(3)), func(b *room.MessagePosted) { b.Message.Text = "the SECRET" })
	}},
	{"S7", talk, func(m *mutant) {
		edit(m, event[room.Joined](m, 2), func(b *room.Joined) { b.Participant.Review.LongerThan = 2 })
	}},
	{"S8", talk, func(m *mutant) { m.history[event[room.Resumed](m, 0)].event.Command = "c1" }},
	{"S8", talk, func(m *mutant) { m.history[m.find(decided, 4)].cmd.ID = "c1" }},
	{"S9", talk, func(m *mutant) { edit(m, event(m, 2, inTurn(0)), func(b *room.MessagePosted) { b.Message.By = "eve" }) }},
	{"S9", talk, func(m *mutant) {
		m.insert(event(m, 2, inTurn(0)), "c", room.MessagePosted{Turn: 4, Message: room.Message{From: "c", Source: "agent", Text: "x"}})
	}},
	{"S9", talk, func(m *mutant) {
		m.insert(event[room.SeatTaken](m, 0), room.ActorHost, room.SeatTaken{Participant: "c", By: "eve"})
	}},
	{"S9", talk, func(m *mutant) {
		m.insert(event(m, 0, grantOf("a")), "me", room.SeatTaken{Participant: "a", By: "me"})
	}},
	{"S10", talk, func(m *mutant) { m.drop(event[room.Paused](m, 1)) }},
	{"S11", talk, func(m *mutant) { edit(m, event(m, 0, inTurn(1)), func(b *room.MessagePosted) { b.Message.From = "p" }) }},
	{"S12", talk, func(m *mutant) {
		edit(m, event[room.TurnRejected](m, 0), func(b *room.TurnRejected) { b.Draft = "other" })
	}},
	{"S12", talk, func(m *mutant) {
		m.insert(event(m, 0, grantOf("a")), "me", room.TurnEdited{Turn: 1, Text: "x"})
	}},
	{"S12", talk, func(m *mutant) { m.again(event[room.TurnDrafted](m, 0)) }},
	{"S13", talk, func(m *mutant) {
		edit(m, event[room.TurnEdited](m, 0), func(b *room.TurnEdited) { b.Text = "Elm trees" })
	}},
	{"S13", talk, func(m *mutant) { edit(m, event[room.TurnDrafted](m, 1), func(b *room.TurnDrafted) { b.Draft = "0" }) }},
	{"S14", talk, func(m *mutant) {
		edit(m, event[room.Joined](m, 1), func(b *room.Joined) { b.Participant.Mode = room.FullAuto })
		m.drop(event[room.TurnApproved](m, 0))
	}},
	{"S15", talk, func(m *mutant) {
		edit(m, event(m, 0, inTurn(2)), func(b *room.MessagePosted) { b.Message.Text = "Elm" })
	}},
	{"S16", talk, func(m *mutant) {
		m.fault(event[room.Stopped](m, 0), func(s *room.State) { s.Seats[4].SetMode = room.Manual })
	}},

	{"R1", talk, func(m *mutant) { m.again(event[room.TurnPassed](m, 0)) }},
	{"R1", talk, func(m *mutant) { edit(m, event(m, 0, inTurn(3)), func(b *room.MessagePosted) { b.Turn = 1 }) }},
	{"R2", talk, func(m *mutant) { edit(m, event[room.TurnFailed](m, 0), func(b *room.TurnFailed) { b.Turn = 99 }) }},
	{"R3", talk, func(m *mutant) {
		i := event(m, 0, grantOf("a"))
		m.history[i+m.next(i, settled)].clock += 62e9
	}},
	{"R3", talk, func(m *mutant) { m.drop(event[room.TurnPassed](m, 0)) }},
	{"R4", talk, func(m *mutant) { edit(m, event(m, 0, grantOf("a")), func(b *room.TurnGranted) { b.Timeout = 61e9 }) }},
	{"R4", talk, func(m *mutant) { edit(m, event(m, 0, grantOf("p")), func(b *room.TurnGranted) { b.Timeout = 60e9 }) }},
	{"R4", talk, func(m *mutant) { edit(m, event(m, 0, grantOf("r")), func(b *room.TurnGranted) { b.Timeout = 60e9 }) }},
	{"R5", talk, func(m *mutant) { edit(m, event(m, 1, grantOf("a")), func(b *room.TurnGranted) { b.Request = "q001" }) }},
	{"R5", talk, func(m *mutant) { m.twice(m.find(sent, 0)) }},
	{"R5", talk, func(m *mutant) { m.twice(m.find(sent, 8)) }},
	{"R6", talk, func(m *mutant) { m.again(event[room.Violation](m, 0)); m.again(event[room.Violation](m, 0)) }},
	{"R6", talk, func(m *mutant) {
		m.insert(event[room.SeatChanged](m, 0), "z", room.Violation{Participant: "z", Count: 1})
	}},
	{"R7", talk, func(m *mutant) { edit(m, event(m, 1, grantOf("a")), func(b *room.TurnGranted) { b.Turn = 8 }) }},
	{"R8", talk, func(m *mutant) { m.fault(event[room.ReplyLate](m, 0), func(s *room.State) { s.Tally.Tokens++ }) }},
	{"R8", talk, func(m *mutant) { m.fault(event[room.Violation](m, 0), func(s *room.State) { s.Turn = nil }) }},
	{"R9", talk, func(m *mutant) {
		edit(m, event(m, 0, inTurn(1)), func(b *room.MessagePosted) { b.Message.Text = long(101) })
	}},
	{"R9", talk, func(m *mutant) {
		edit(m, event[room.TurnDrafted](m, 0), func(b *room.TurnDrafted) { b.Message.Text = long(101) })
	}},
}
