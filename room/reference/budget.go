package reference

import (
	"github.com/folkmoot/moot/room"
)

// The rules of the budgets of seats in one room, as the model states them.

// A budget is what a seat has used, as far as its budget counts it.
type budget struct {
	turns, made int64 // turns and calls
	refused     bool  // it got no turn because its prompt would pass the budget
}

// over reports whether an agent has no budget left for a turn.
func (x *Seat) over() bool {
	b := x.Budget.Room
	return x.refused || b.Tokens > 0 && x.spent >= b.Tokens || b.Turns > 0 && x.turns >= b.Turns || b.Calls > 0 && x.made >= b.Calls
}

// passes reports whether a prompt would pass the budget of an agent. Its turns end then.
func (x *Seat) passes(tokens int64) bool {
	return x.takenBy == "" && x.Budget.Room.Tokens > 0 && x.spent+tokens > x.Budget.Room.Tokens
}

// refuse notes that an agent gets no turn any more, and has the policy asked again.
func (m *Model) refuse(x *Seat, tokens int64) bool {
	x.refused = true
	m.note(room.BudgetChanged{Participant: x.ID, BudgetMark: room.BudgetMark{Level: "used", Next: tokens}})
	m.news = m.Seq
	return true
}

// interruptedCharge charges the prompt of an agent with a budget that may have worked
// on it.
func (m *Model) interruptedCharge() {
	if t := m.Turn; t.Draft == nil && t.Seat.takenBy == "" && t.Seat.Budget != (room.Budget{}) {
		m.charge(room.Usage{}, "")
	}
}

// bounded lowers what is left for calls of a seat to what is left of its budget.
func (m *Model) bounded(x *Seat, tokens int64, count int) (int64, int) {
	b := x.Budget.Room
	if b.Tokens > 0 {
		left := b.Tokens - x.spent
		for _, c := range m.OpenCalls() {
			if c.Caller == x.ID {
				left -= c.Reserved.Tokens
			}
		}
		if t := m.Turn; t != nil && t.Draft == nil && t.Seat == x {
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
