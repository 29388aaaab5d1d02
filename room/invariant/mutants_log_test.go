package invariant_test

import (
	"errors"
	"math"
	"time"

	"github.com/folkmoot/moot/room"
)

// logFaults are about the log, the fold and the snapshot.
var logFaults = []fault{
	{"G1", talk, func(m *mutant) {
		i := event[room.BidPosted](m, 0)
		m.history = append(m.history[:i:i], m.history[i+1:]...)
	}},
	{"G1", talk, func(m *mutant) { m.fault(event[room.BidPosted](m, 0), func(s *room.State) { s.Seq++ }) }},
	{"G2", talk, func(m *mutant) { m.history[event[room.Paused](m, 0)].event.Clock = time.Second }},
	{"G4", talk, func(m *mutant) { m.remove(m.find(stored, 7)) }},
	{"G5", talk, func(m *mutant) {
		m.remove(m.before(m.find(sent, 0), stored))
	}},
	{"G6", talk, func(m *mutant) { m.remove(m.find(recovered, 0)) }},
	{"G7", talk, func(m *mutant) {
		m.history[m.find(recovered, 0)].log = func(log []room.Event) []room.Event { return log[:len(log)-1] }
	}},
	{"G7", talk, func(m *mutant) {
		m.history[m.find(recovered, 0)].log = func(log []room.Event) []room.Event {
			log[3].ID = "other"
			return log
		}
	}},
	{"G8", talk, func(m *mutant) { m.remove(m.find(stored, 7)) }},
	{"G9", talk, func(m *mutant) { m.history[event[room.Paused](m, 0)].event.Epoch++ }},
	{"G9", talk, func(m *mutant) { m.history[event[room.Paused](m, 0)].event.Epoch-- }},
	{"G10", talk, func(m *mutant) { m.fault(m.find(finished, 0), func(s *room.State) { s.Seats[0].Cursor++ }) }},
	{"G10", mailing, func(m *mutant) {
		m.fault(m.find(finished, 0), func(s *room.State) { s.Mail.Deliveries.Cursors["w"]++ })
	}},
	{"G11", talk, func(m *mutant) {
		m.history[event[room.Paused](m, 0)].event.ID = m.history[event[room.Resumed](m, 0)].event.ID
	}},
	{"G12", talk, func(m *mutant) {
		m.fault(m.find(finished, 0), func(s *room.State) { s.Seats[0].Confidence = new(math.NaN()) })
	}},
	{"G13", talk, func(m *mutant) { m.history[m.find(decided, 5)].err = errors.New("refused") }},
	{"G13", talk, func(m *mutant) { m.history[m.find(decided, 5)].events[0].Seq++ }},
	{"G13", talk, func(m *mutant) { m.history[m.find(decided, 5)].cmd.Actor = "eve" }},
	{"G14", talk, func(m *mutant) { m.fault(m.find(decided, 9), func(s *room.State) { s.Seats[1].Failures++ }) }},
	{"G14", talk, func(m *mutant) { m.fault(m.find(decided, 9), func(s *room.State) { s.Tally.Tokens++ }) }},
	{"G15", talk, func(m *mutant) { m.fault(event(m, 0, inTurn(1)), func(s *room.State) { s.Tally.Messages++ }) }},
	{"G16", talk, func(m *mutant) { m.drop(event[room.Opened](m, 0)); m.cut(event[room.Joined](m, 0)) }},
	{"G16", talk, func(m *mutant) { m.again(event[room.Opened](m, 0)); m.cut(event[room.Opened](m, 1)) }},
	{"G17", talk, func(m *mutant) {
		m.fault(event(m, 0, inTurn(1)), func(s *room.State) { s.Turn = &room.Turn{Number: 1} })
	}},
}
