package invariant_test

import (
	"slices"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
)

// note returns whether a message has that id.
func note(id string) func(room.MessagePosted) bool {
	return func(b room.MessagePosted) bool { return b.Message.ID == id }
}

// missed returns whether that acknowledgement was missed.
func missed(id string, attempt int) func(room.AckMissed) bool {
	return func(b room.AckMissed) bool { return b.Message == id && b.Attempt == attempt }
}

// expired returns whether a dead letter is a message that was never acknowledged.
func expired(b room.MessageDead) bool { return b.Target != 0 }

// mailFaults are about messages between participants, hops and loops.
var mailFaults = []fault{
	{"C1", mailing, func(m *mutant) {
		m.fault(event[room.MessageAcked](m, 1), func(s *room.State) { s.Mail.Deliveries.Cursors["w"] = 1 })
	}},
	{"C1", talk, func(m *mutant) { m.fault(event[room.Paused](m, 0), func(s *room.State) { s.Seats[0].Cursor = 99 }) }},
	{"C2", mailing, func(m *mutant) {
		m.fault(event(m, 0, note("d0")), func(s *room.State) { s.Mail.Deliveries.All = nil })
	}},
	{"C2", mailing, func(m *mutant) {
		m.fault(event(m, 0, note("d2")), func(s *room.State) { s.Mail.Deliveries.Find("d2", "w").State = delivery.Queued })
	}},
	{"C3", mailing, func(m *mutant) {
		m.fault(event(m, 0, inTurn(1)), func(s *room.State) {
			d := s.Mail.Deliveries.Find("all", "x")
			d.State, d.Turn = delivery.Delivered, 1
		})
	}},
	{"C4", mailing, func(m *mutant) { m.again(event[room.MessageAcked](m, 0)) }},
	{"C4", mailing, func(m *mutant) {
		edit(m, event[room.MessageAcked](m, 0), func(b *room.MessageAcked) { b.Participant = "x" })
	}},
	{"C4", mailing, func(m *mutant) { m.history[event[room.MessageAcked](m, 0)].event.Actor = "x" }},
	{"C5", mailing, func(m *mutant) {
		m.fault(event[room.MessageAcked](m, 1), func(s *room.State) { s.Mail.Deliveries.Find("all", "x").State = delivery.Acked })
	}},
	{"C6", mailing, func(m *mutant) { m.again(event(m, 0, missed("d1", 1))) }},
	{"C6", mailing, func(m *mutant) { m.drop(event(m, 0, missed("d1", 1))) }},
	{"C7", mailing, func(m *mutant) { edit(m, event(m, 0, note("d1")), func(b *room.MessagePosted) { b.Message.ID = "d0" }) }},
	{"C8", mailing, func(m *mutant) {
		edit(m, event[room.MessageDead](m, 0), func(b *room.MessageDead) { b.Message.Text = long(2001) })
	}},
	{"C8", mailing, func(m *mutant) { m.fault(event[room.MessageDead](m, 0), func(s *room.State) { s.Tally.Messages++ }) }},
	{"C9", mailing, func(m *mutant) {
		m.fault(event(m, 0, note("d1")), func(s *room.State) { slices.Reverse(s.Mail.Deliveries.All) })
	}},
	{"C10", mailing, func(m *mutant) { m.again(event[room.MessageReleased](m, 0)) }},
	{"C10", mailing, func(m *mutant) {
		edit(m, event(m, 0, note("all")), func(b *room.MessagePosted) { b.HeldUntil += 1e12 })
	}},
	{"C11", talk, func(m *mutant) {
		edit(m, event(m, 1, grantOf("a")), func(b *room.TurnGranted) { b.Window.Verbatim = nil })
	}},
	{"C11", mailing, func(m *mutant) {
		edit(m, event(m, 1, grantOf("w")), func(b *room.TurnGranted) { b.Window.Verbatim[0].From++ })
	}},
	{"C12", mailing, func(m *mutant) {
		edit(m, event(m, 0, grantOf("w")), func(b *room.TurnGranted) { b.Window.First = append(b.Window.First, 10) })
	}},
	{"C13", talk, func(m *mutant) { m.fault(event[room.TurnFailed](m, 0), func(s *room.State) { s.Seats[0].Cursor = 36 }) }},
	{"C13", talk, func(m *mutant) { m.fault(event[room.TurnPassed](m, 0), func(s *room.State) { s.Seats[0].Cursor = 36 }) }},
	{"C14", mailing, func(m *mutant) { m.drop(event(m, 0, missed("d2", 2))) }},
	{"C14", mailing, func(m *mutant) { m.again(event(m, 0, expired)) }},

	{"H1", mailing, func(m *mutant) {
		edit(m, event(m, 0, note("d0")), func(b *room.MessagePosted) { b.Message.Trace = &room.Trace{Hops: 3} })
	}},
	{"H3", mailing, func(m *mutant) { edit(m, event(m, 0, note("d0")), func(b *room.MessagePosted) { b.Message.To = "m" }) }},
	{"H6", mailing, func(m *mutant) { m.history[event(m, 0, note("d0"))].event.Actor = "w" }},
	{"H6", talk, func(m *mutant) { m.history[event(m, 0, note("m1"))].event.Actor = "a" }},
	{"H8", settling, func(m *mutant) {
		m.drop(event[room.Stopped](m, 0))
		m.insert(event(m, 0, inTurn(4)), room.ActorRoom, room.RoundDeclined{Reason: "on"})
	}},
	{"H9", mailing, func(m *mutant) {
		m.drop(event[room.Stopped](m, 0))
		m.drop(event[room.PlanChanged](m, 0))
	}},
	{"H10", mailing, func(m *mutant) { open(m, func(s *room.Spec) { s.Limits.MaxInternal = 5 }) }},
	{"H11", talk, func(m *mutant) { edit(m, event[room.HandoffAsked](m, 0), func(b *room.HandoffAsked) { b.From = "a" }) }},
	{"H11", talk, func(m *mutant) {
		for range 9 {
			m.again(event[room.HandoffAsked](m, 0))
		}
	}},

	{"V2", mailing, func(m *mutant) {
		edit(m, event(m, 0, note("d0")), func(b *room.MessagePosted) { b.Message.Visibility = room.UserVisible })
	}},
	{"V5", mailing, func(m *mutant) {
		edit(m, event(m, 0, note("d0")), func(b *room.MessagePosted) { b.Message.Text = long(1<<20 + 1) })
	}},
	{"V5", mailing, func(m *mutant) {
		edit(m, event(m, 0, note("d0")), func(b *room.MessagePosted) { b.Message.Payload = policy.JSON(long(8193)) })
	}},
	{"V5", mailing, func(m *mutant) {
		edit(m, event[room.PayloadStored](m, 0), func(b *room.PayloadStored) { b.Digest = "0" })
	}},
}
