package room_test

import (
	"pgregory.net/rapid"

	"github.com/folkmoot/moot/room"
)

// The rules of the budgets of seats in one room, as the model states them.

// A modelBudget is what a seat has used, as far as its budget counts it.
type modelBudget struct {
	turns, made int64 // turns and calls
	refused     bool  // it got no turn because its prompt would pass the budget
}

// over reports whether an agent has no budget left for a turn.
func (x *modelSeat) over() bool {
	b := x.Budget.Room
	return x.refused || b.Tokens > 0 && x.spent >= b.Tokens || b.Turns > 0 && x.turns >= b.Turns || b.Calls > 0 && x.made >= b.Calls
}

// passes reports whether a prompt would pass the budget of an agent. Its turns end then.
func (x *modelSeat) passes(tokens int64) bool {
	return x.takenBy == "" && x.Budget.Room.Tokens > 0 && x.spent+tokens > x.Budget.Room.Tokens
}

// refuse notes that an agent gets no turn any more, and has the policy asked again.
func (m *model) refuse(x *modelSeat, tokens int64) bool {
	x.refused = true
	m.note(room.BudgetChanged{Participant: x.ID, BudgetMark: room.BudgetMark{Level: "used", Next: tokens}})
	m.news = m.seq
	return true
}

// interruptedCharge charges the prompt of an agent with a budget that may have worked
// on it.
func (m *model) interruptedCharge() {
	if t := m.turn; t.draft == nil && t.seat.takenBy == "" && t.seat.Budget != (room.Budget{}) {
		m.charge(room.Usage{}, "")
	}
}

// bounded lowers what is left for calls of a seat to what is left of its budget.
func (m *model) bounded(x *modelSeat, tokens int64, count int) (int64, int) {
	b := x.Budget.Room
	if b.Tokens > 0 {
		left := b.Tokens - x.spent
		for _, c := range m.open() {
			if c.Caller == x.ID {
				left -= c.Reserved.Tokens
			}
		}
		if t := m.turn; t != nil && t.draft == nil && t.seat == x {
			left -= t.Tokens
		}
		if left = max(0, left); tokens < 0 || left < tokens {
			tokens = left
		}
	}
	if b.Calls > 0 {
		count = min(count, int(max(0, b.Calls-x.made)))
	}
	return tokens, count
}

// withBudgets gives the seats of a room budgets.
func withBudgets(rt *rapid.T, o *room.Open) {
	for i := range o.Participants {
		o.Participants[i].Budget.Room = rapid.SampledFrom([]room.Amounts{{}, {Tokens: 25}, {Tokens: 45, Turns: 4}, {Turns: 2}, {Calls: 2}, {Tokens: 5000, Calls: 3}}).Draw(rt, "budget of the room")
	}
}
