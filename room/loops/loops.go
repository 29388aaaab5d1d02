// Package loops recognises agents that keep each other busy without an end: rings of
// agents that wake each other, clarifications and hand-offs back and forth, and
// internal messages without visible progress.
//
// The package is pure and imports nothing of this module. Agents are strings.
package loops

import (
	"slices"
	"strings"
)

// Names of the guards; a room that one has stopped names it.
const (
	Ring     = "ring"
	PingPong = "ping-pong"
	Internal = "internal"
)

// maxPeriod is the largest number of steps after which a ring repeats itself.
const maxPeriod = 4

// Guard holds what the guards count since a person spoke or an agent showed progress.
// The zero Guard has counted nothing. A copy is independent of the original. Its JSON
// form is part of snapshots.
type Guard struct {
	Steps    []Step         `json:",omitempty"` // newest, at most maxPeriod, oldest first
	Chain    int            `json:",omitempty"` // newest steps of which each begins where the one before ended
	Periodic [maxPeriod]int `json:",omitzero"`  // for periods 1 to maxPeriod: newest steps of Chain with that period
	Internal int            `json:",omitempty"` // internal messages between agents
	Pairs    []Pair         `json:",omitempty"` // agents that ask or hand over back and forth
}

// A Step goes from an agent to the one that it addresses, hands over to or calls, or
// whose call it answers. Turn is the turn in which that happened, or 0.
type Step struct {
	From, To string
	Turn     int `json:",omitempty"`
}

// A Pair of agents has asked or handed over Count times in alternating directions.
// Last is the agent that did so last.
type Pair struct {
	A, B, Last string
	Count      int
}

// Limits bound what a Guard counts.
type Limits struct {
	Ring     int // steps of a ring; 0 exempts rings
	PingPong int // rounds of two agents
	Internal int // internal messages
}

// Reset forgets everything: a person has spoken, or an agent has shown progress.
func (g *Guard) Reset() { *g = Guard{} }

// Address counts a step from one agent to another. Several steps between the same
// two in one turn count once, and so do equal steps in a row.
func (g *Guard) Address(from, to string, turn int) {
	step := Step{from, to, turn}
	if from == to || turn != 0 && slices.Contains(g.Steps, step) {
		return
	}
	n := len(g.Steps)
	switch {
	case n > 0 && g.Steps[n-1].between(step):
		return
	case n == 0 || g.Steps[n-1].To != from:
		g.Chain, g.Periodic = 0, [maxPeriod]int{}
	}
	g.Chain++
	for i := range g.Periodic {
		period := i + 1
		if n >= period && g.Chain > period && g.Steps[n-period].between(step) {
			g.Periodic[i]++
		} else {
			g.Periodic[i] = min(g.Chain, period)
		}
	}
	g.Steps = append(slices.Clone(g.Steps[max(0, n+1-maxPeriod):]), step)
}

// between reports whether two steps go from and to the same agents.
func (s Step) between(t Step) bool { return s.From == t.From && s.To == t.To }

// Exchange counts a clarification or a hand-off from one agent to another. It counts
// as back and forth if the last one of the two went the other way.
func (g *Guard) Exchange(from, to string) {
	a, b := min(from, to), max(from, to)
	g.Pairs = slices.Clone(g.Pairs)
	i := slices.IndexFunc(g.Pairs, func(p Pair) bool { return p.A == a && p.B == b })
	if i < 0 {
		g.Pairs = append(g.Pairs, Pair{A: a, B: b})
		i = len(g.Pairs) - 1
	}
	if p := &g.Pairs[i]; p.Last != from {
		p.Last = from
		p.Count++
	}
}

// AddInternal counts an internal message between agents.
func (g *Guard) AddInternal() { g.Internal++ }

// Tripped returns the guard that stops the room and the reason for people, or "".
func (g *Guard) Tripped(l Limits) (name, reason string) {
	for _, p := range g.Pairs {
		if p.Count > 2*l.PingPong {
			return PingPong, "loop " + PingPong + ": " + p.A + " and " + p.B + " ask or hand over back and forth"
		}
	}
	if ring := g.ring(l.Ring); ring != nil {
		return Ring, "loop " + Ring + ": " + strings.Join(ring, " -> ")
	}
	if g.Internal > l.Internal {
		return Internal, "loop " + Internal + ": the agents exchange internal messages without visible progress"
	}
	return "", ""
}

// ring returns the agents of the ring of at least most steps, the first one also as
// the last, or nil if there is none. A ring repeats itself at least once.
func (g *Guard) ring(most int) []string {
	if most <= 0 {
		return nil
	}
	for i, steps := range g.Periodic {
		period := i + 1
		if steps < max(most, 2*period) {
			continue
		}
		newest := g.Steps[len(g.Steps)-period:]
		agents := []string{newest[0].From}
		for _, s := range newest {
			agents = append(agents, s.To)
		}
		return agents
	}
	return nil
}
