package room_test

import (
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A modelStep is a message of an agent that addresses another one.
type modelStep struct {
	from, to string
	turn     int
}

// address notes whom a message addresses. After a message of a person the loop guards
// begin again.
func (m *model) address(msg room.Message) {
	if msg.Source != "agent" {
		m.steps, m.pairs = nil, nil
		return
	}
	word, _, _ := strings.Cut(strings.ReplaceAll(msg.Text, ",", " "), " ")
	if to := m.seat(word); to != nil && to.Kind != policy.Human && to.ID != msg.From {
		m.step(msg.From, to.ID)
	}
}

// step notes that an agent addresses, calls or hands off to another one, or returns its
// call.
func (m *model) step(from, to string) {
	m.watch = true
	step := modelStep{from: from, to: to}
	if m.turn != nil {
		step.turn = m.turn.Turn
	}
	newest := m.steps[max(0, len(m.steps)-4):]
	again := len(newest) > 0 && newest[len(newest)-1].from == from && newest[len(newest)-1].to == to
	if !again && !(step.turn > 0 && slices.Contains(newest, step)) {
		m.steps = append(m.steps, step)
	}
}

// exchange notes that an agent hands off to another one.
func (m *model) exchange(from, to string) {
	if m.pairs == nil {
		m.pairs = map[string][]string{}
	}
	pair := min(from, to) + max(from, to)
	if n := len(m.pairs[pair]); n == 0 || m.pairs[pair][n-1] != from {
		m.pairs[pair] = append(m.pairs[pair], from)
	}
}

// loop ends a live room whose agents keep each other busy. It is asked after each
// command that has counted a step.
func (m *model) loop() bool {
	if !m.watch || m.phase != room.PhaseLive {
		return false
	}
	for _, senders := range m.pairs {
		if len(senders) > 2*m.limits.MaxPingPong {
			return m.end(room.PhaseStopped, room.CauseLoop, "ping-pong")
		}
	}
	ring := !m.OneToOne && (m.ring(2) || m.ring(3) || m.ring(4))
	return ring && m.end(room.PhaseStopped, room.CauseLoop, "ring")
}

// ring reports whether the newest steps repeat themselves after as many as period.
func (m *model) ring(period int) bool {
	n := max(m.limits.MaxRing, 2*period)
	if len(m.steps) < n {
		return false
	}
	newest := m.steps[len(m.steps)-n:]
	for i := 1; i < n; i++ {
		if newest[i].from != newest[i-1].to {
			return false
		}
		if i >= period && (newest[i].from != newest[i-period].from || newest[i].to != newest[i-period].to) {
			return false
		}
	}
	return true
}

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
func drawCircle(rt *rapid.T, m *model, circling bool) (c room.Command, ok bool) {
	if !circling || slices.ContainsFunc(m.seats, m.starting) || rapid.IntRange(0, 15).Draw(rt, "other") == 0 {
		return c, false
	}
	agents := []string{"a", "b", "c"}
	if m.OneToOne {
		agents = agents[:2]
	}
	if t := m.turn; t != nil {
		next := agents[(slices.Index(agents, t.Participant)+rapid.SampledFrom([]int{1, 1, 1, 1, 2}).Draw(rt, "next"))%len(agents)]
		reply := endpoint.Reply{Outcome: endpoint.Said, Text: next + ", go on " + strconv.FormatInt(m.seq, 10)}
		if rapid.Bool().Draw(rt, "hand-off") {
			reply.Text, reply.Handoff = "go on "+strconv.FormatInt(m.seq, 10), &endpoint.Handoff{To: next}
		}
		return room.Command{Actor: t.Participant, Do: room.Replied{Turn: t.Turn, Participant: t.Participant, Request: t.Request, Reply: reply}}, true
	}
	to := "a"
	if n := len(m.steps); n > 0 {
		to = m.steps[n-1].to
	}
	return speak(m, to), true
}

// speak returns the decision for a turn of an agent.
func speak(m *model, to string) room.Command {
	return room.Command{Actor: room.ActorPolicy, Do: room.Decided{
		Decision: policy.Speak(to, "because"), Record: policy.Record{Decision: m.decision + 1, Through: m.seq}, Grant: room.Grant{Request: "q" + strconv.Itoa(m.tally.Turns), Tokens: 10},
	}}
}
