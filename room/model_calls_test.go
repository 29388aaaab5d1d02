package room_test

import (
	"cmp"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/reference"
)

// withCalls lets the agents of a room call each other.
func withCalls(rt *rapid.T, o *room.Open) {
	for i := range o.Participants {
		p := &o.Participants[i]
		if rapid.IntRange(0, 3).Draw(rt, "local") > 0 {
			p.Kind, p.Device, p.Starts = policy.Local, "", false
		}
		p.Calls = rapid.SampledFrom([]string{room.CallsAllow, room.CallsAllow, room.CallsAllow, room.CallsAsk, room.CallsAsk, ""}).Draw(rt, "calls")
		p.MaxTokens *= rapid.SampledFrom([]int64{0, 1, 100}).Draw(rt, "own")
	}
	o.Participants[0].Profile = rapid.SampledFrom([]string{"", "", "", "p"}).Draw(rt, "profile")
	o.Spec.Agents = []room.Participant{{ID: "coder", Kind: policy.Local, Profile: "p", Calls: room.CallsAllow}}
	l := &o.Spec.Limits
	l.MaxTurns, l.MaxCalls = 20, rapid.IntRange(1, 9).Draw(rt, "maxCalls")
	l.MaxTokens = rapid.SampledFrom([]int64{0, 0, 33, 2050, 30_000, 1_000_000}).Draw(rt, "maxTokens")
	l.MaxCost = rapid.SampledFrom([]int64{0, 0, 0, 100, 200_000}).Draw(rt, "maxCost")
}

// drawCall draws a command about calls, or false if the room has none.
func drawCall(rt *rapid.T, m *reference.Model) (c room.Command, ok bool) {
	if m.Agents == nil || m.Phase != room.PhaseLive && len(m.OpenCalls()) == 0 || rapid.IntRange(0, 2).Draw(rt, "call") == 0 {
		return c, false
	}
	draw := func(list ...string) string { return rapid.SampledFrom(list).Draw(rt, "x") }
	seldom := func() bool { return rapid.IntRange(0, 9).Draw(rt, "seldom") == 0 }
	if m.Turn == nil && m.Phase == room.PhaseLive && draw("speak", "speak", "other") == "speak" {
		return speak(m, draw("a", "b")), true
	}
	if draw("call", "other") == "call" && (m.Turn != nil || seldom()) {
		by := draw("a", "b", "c", "me")
		if m.Turn != nil && !seldom() {
			by = m.Turn.Participant
		}
		do := room.CallAgents{Absent: seldom()}
		for range rapid.SampledFrom([]int{1, 1, 1, 1, 2, 2, 0}).Draw(rt, "how many") {
			a := calls.Args{Agent: draw(cmp.Or(map[string]string{"a": "b"}[by], "a"), "coder"), Task: "look"}
			switch rapid.IntRange(0, 15).Draw(rt, "odd") {
			case 0:
				a.Agent = draw("a", "c", "me", "ghost")
			case 1:
				a.Task = ""
			case 2:
				a.TimeoutMS = 500
			case 3:
				a.MaxTokens = 100_000
			}
			a.MaxTokens = max(a.MaxTokens, rapid.SampledFrom([]int64{0, 0, 3, 600}).Draw(rt, "tokens"))
			a.TimeoutMS = max(a.TimeoutMS, rapid.SampledFrom([]int64{0, 20_000, 45_000, 700_000}).Draw(rt, "timeout"))
			a.WaitMS = rapid.SampledFrom([]*int64{nil, ptr(int64(0)), ptr(int64(0)), ptr(int64(30_000))}).Draw(rt, "wait")
			a.AllowNested = rapid.Bool().Draw(rt, "nested")
			do.Calls = append(do.Calls, a)
		}
		return room.Command{Actor: by, Do: do}, true
	}
	if len(m.Calls) == 0 {
		return c, false
	}
	of := rapid.SampledFrom(m.Calls).Draw(rt, "of")
	if open := m.OpenCalls(); len(open) > 0 && !seldom() {
		of = rapid.SampledFrom(open).Draw(rt, "of")
	}
	id, by := of.ID, of.Caller
	if seldom() {
		id, by = draw(id, "c99"), draw("a", "b", "me", "host")
	}
	state := rapid.SampledFrom([]calls.State{calls.Working, calls.InputRequired, calls.Completed, calls.Completed, calls.Failed, calls.Rejected}).Draw(rt, "state")
	switch draw("progress", "return", "await", "cancel") {
	case "progress":
		return room.Command{Actor: room.ActorRoom, Do: room.CallProgressed{Call: id, State: state, Asked: draw("", "owner", of.Caller), Text: draw("", "why?")}}, true
	case "return":
		r := calls.Result{Output: draw("done", "done", ""), Tokens: rapid.SampledFrom([]int64{0, of.Reserved.Tokens / 2, of.Reserved.Tokens}).Draw(rt, "tokens"), Cost: of.Reserved.Cost / 3, Estimated: seldom()}
		r.Calls = rapid.SampledFrom([]int{0, of.Reserved.Calls - 1}).Draw(rt, "below")
		return room.Command{Actor: room.ActorRoom, Do: room.CallReturned{Call: id, State: state, Result: r}}, true
	case "await":
		wait := rapid.SampledFrom([]time.Duration{0, 10 * time.Second, time.Hour}).Draw(rt, "wait")
		return room.Command{Actor: by, Do: room.AwaitCall{Call: id, Wait: wait, Lost: rapid.Bool().Draw(rt, "lost")}}, true
	}
	return room.Command{Actor: by, Do: room.CancelCall{Call: id, Reason: strings.Repeat("x", rapid.IntRange(0, 1).Draw(rt, "reason"))}}, true
}
