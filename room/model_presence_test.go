package room_test

import (
	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/reference"
)

// drawSession draws what a session does, or false if the room has no session.
func drawSession(rt *rapid.T, m *reference.Model, text string) (room.Command, bool) {
	for _, x := range m.Seats {
		if !x.Session || rapid.IntRange(0, 2).Draw(rt, "session") > 0 {
			continue
		}
		if rapid.IntRange(0, 1).Draw(rt, "x") == 0 {
			p := rapid.SampledFrom([]room.Presence{room.Live, room.Live, room.Live, room.Idle, room.Away}).Draw(rt, "presence")
			return room.Command{Actor: x.ID, Do: room.Present{Participant: x.ID, Presence: p}}, true
		}
		do := room.Answered{Participant: x.ID, Request: x.Answered, Epoch: m.Epoch, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: text}}
		if m.Turn != nil && rapid.IntRange(0, 3).Draw(rt, "right") > 0 {
			do.Request, do.Epoch = m.Turn.Request, m.Turn.Epoch+uint64(rapid.SampledFrom([]int{0, 0, 0, 0, 1}).Draw(rt, "epoch"))
		}
		if rapid.IntRange(0, 3).Draw(rt, "pass") == 0 {
			do.Outcome, do.Text = endpoint.Passed, ""
		}
		return room.Command{Actor: x.ID, Do: do}, true
	}
	return room.Command{}, false
}
