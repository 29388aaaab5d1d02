package room_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/reference"
)

const permissionTimeout = 90 * time.Second

// drawPermission draws a command about permissions in a turn of an agent.
func drawPermission(rt *rapid.T, m *reference.Model) (room.Command, bool) {
	if m.Turn == nil || rapid.IntRange(0, 2).Draw(rt, "permission") > 0 {
		return room.Command{}, false
	}
	id := fmt.Sprintf("%d.1", rapid.IntRange(0, 3).Draw(rt, "other"))
	if n := len(m.Turn.Requests); n > 0 {
		id = m.Turn.Requests[rapid.IntRange(0, n-1).Draw(rt, "request")].ID
	}
	actor := rapid.SampledFrom([]string{"host", "me", "me", "eve", "a", "policy"}).Draw(rt, "who")
	flag := func() bool { return rapid.Bool().Draw(rt, "flag") }
	seldom := func() bool { return rapid.IntRange(0, 5).Draw(rt, "seldom") == 0 }
	if len(m.Turn.Requests) > 0 && rapid.IntRange(0, 3).Draw(rt, "answer") > 0 {
		if seldom() {
			return room.Command{Actor: rapid.SampledFrom([]string{"a", "b", m.Turn.Seat.ID}).Draw(rt, "who"), Do: room.Withdrawn{ID: id}}, true
		}
		return room.Command{Actor: actor, Do: room.Permit{ID: id, Allowed: flag(), Always: flag(), Absent: seldom()}}, true
	}
	request := rapid.SampledFrom([]string{m.Turn.Request, m.Turn.Request, m.Turn.Request, "none"}).Draw(rt, "turn")
	answer := rapid.SampledFrom([]*endpoint.Answer{
		nil, nil, nil, {Allowed: true, Always: true, By: endpoint.RuledBy}, {Allowed: true, By: endpoint.Unasked},
	}).Draw(rt, "rule")
	from := rapid.SampledFrom([]string{m.Turn.Seat.ID, m.Turn.Seat.ID, m.Turn.Seat.ID, "b", "me", "ghost"}).Draw(rt, "asker")
	return room.Command{Actor: from, Do: room.Asked{Request: request, Permission: room.Permission{Kind: endpoint.ActionRead, Always: flag()}, Answer: answer}}, true
}
