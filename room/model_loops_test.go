package room_test

import (
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/reference"
)

// circle makes the agents of a room address each other without an end.
func circle(o *room.Open) bool {
	for i := range o.Participants {
		p := &o.Participants[i]
		p.Cooldown, p.MaxTokens, p.Session, p.Mode = 0, 0, false, room.FullAuto
	}
	o.Spec.Limits.MaxTokens, o.Spec.Limits.MaxCost, o.Spec.Limits.MaxTurns = 0, 0, 9
	return true
}

// drawCircle draws what mostly leads round a ring: a turn of the agent that was
// addressed, or its reply to another one. It reports false if it draws nothing.
func drawCircle(rt *rapid.T, m *reference.Model, circling bool) (c room.Command, ok bool) {
	if !circling || slices.ContainsFunc(m.Seats, m.Starting) || rapid.IntRange(0, 15).Draw(rt, "other") == 0 {
		return c, false
	}
	agents := []string{"a", "b", "c"}
	if m.OneToOne {
		agents = agents[:2]
	}
	if t := m.Turn; t != nil {
		next := agents[(slices.Index(agents, t.Participant)+rapid.SampledFrom([]int{1, 1, 1, 1, 2}).Draw(rt, "next"))%len(agents)]
		reply := endpoint.Reply{Outcome: endpoint.Said, Text: next + ", go on " + strconv.FormatInt(m.Seq, 10)}
		if rapid.Bool().Draw(rt, "hand-off") {
			reply.Text, reply.Handoff = "go on "+strconv.FormatInt(m.Seq, 10), &endpoint.Handoff{To: next}
		}
		return room.Command{Actor: t.Participant, Do: room.Replied{Turn: t.Turn, Participant: t.Participant, Request: t.Request, Reply: reply}}, true
	}
	to := "a"
	if n := len(m.Steps); n > 0 {
		to = m.Steps[n-1].To
	}
	return speak(m, to), true
}

// speak returns the decision for a turn of an agent.
func speak(m *reference.Model, to string) room.Command {
	return room.Command{Actor: room.ActorPolicy, Do: room.Decided{
		Decision: policy.Speak(to, "because"), Record: policy.Record{Decision: m.Decision + 1, Through: m.Seq}, Grant: room.Grant{Request: "q" + strconv.Itoa(m.Tally.Turns), Tokens: 10},
	}}
}
