package reference

import (
	"slices"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Step is a message of an agent that addresses another one.
type Step struct {
	From, To string
	turn     int
}

// address notes whom a message addresses. After a message of a person the loop guards
// begin again.
func (m *Model) address(msg room.Message) {
	if msg.Source != "agent" {
		m.Steps, m.pairs = nil, nil
		return
	}
	word, _, _ := strings.Cut(strings.ReplaceAll(msg.Text, ",", " "), " ")
	if to := m.seat(word); to != nil && to.Kind != policy.Human && to.ID != msg.From {
		m.step(msg.From, to.ID)
	}
}

// step notes that an agent addresses, calls or hands off to another one, or returns its
// call.
func (m *Model) step(from, to string) {
	m.watch = true
	step := Step{From: from, To: to}
	if m.Turn != nil {
		step.turn = m.Turn.Turn
	}
	newest := m.Steps[max(0, len(m.Steps)-4):]
	again := len(newest) > 0 && newest[len(newest)-1].From == from && newest[len(newest)-1].To == to
	if !again && !(step.turn > 0 && slices.Contains(newest, step)) {
		m.Steps = append(m.Steps, step)
	}
}

// exchange notes that an agent hands off to another one.
func (m *Model) exchange(from, to string) {
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
func (m *Model) loop() bool {
	if !m.watch || m.Phase != room.PhaseLive {
		return false
	}
	for _, senders := range m.pairs {
		if len(senders) > 2*m.Limits.MaxPingPong {
			return m.end(room.PhaseStopped, room.CauseLoop, "ping-pong")
		}
	}
	ring := !m.OneToOne && (m.ring(2) || m.ring(3) || m.ring(4))
	return ring && m.end(room.PhaseStopped, room.CauseLoop, "ring")
}

// ring reports whether the newest steps repeat themselves after as many as period.
func (m *Model) ring(period int) bool {
	n := max(m.Limits.MaxRing, 2*period)
	if len(m.Steps) < n {
		return false
	}
	newest := m.Steps[len(m.Steps)-n:]
	for i := 1; i < n; i++ {
		if newest[i].From != newest[i-1].To {
			return false
		}
		if i >= period && (newest[i].From != newest[i-period].From || newest[i].To != newest[i-period].To) {
			return false
		}
	}
	return true
}
