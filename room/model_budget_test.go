package room_test

import (
	"pgregory.net/rapid"

	"github.com/folkmoot/moot/room"
)

// withBudgets gives the seats of a room budgets.
func withBudgets(rt *rapid.T, o *room.Open) {
	for i := range o.Participants {
		o.Participants[i].Budget.Room = rapid.SampledFrom([]room.Amounts{{}, {Tokens: 25}, {Tokens: 45, Turns: 4}, {Turns: 2}, {Calls: 2}, {Tokens: 5000, Calls: 3}}).Draw(rt, "budget of the room")
	}
}
