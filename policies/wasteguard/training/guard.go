package training

import (
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/wasteguard"
	"github.com/folkmoot/moot/transcripts"
)

// A Guard gives a policy the turns of a run one by one, as messages in a room. It needs
// no sandbox, and it gives the same flags as the policy there. It is used by one
// goroutine at a time.
type Guard struct {
	Policy *wasteguard.Policy

	in    policy.Input
	watch wasteguard.Watch
}

// Join adds a participant, or replaces the one with that id. Participants that never join
// count as agents.
func (g *Guard) Join(p transcripts.Participant) {
	a := p.Agent()
	if known := g.in.Agent(p.ID); known != nil {
		*known = a
		return
	}
	g.in.Agents = append(g.in.Agents, a)
}

// Flags reports whether the policy flags the next turn.
func (g *Guard) Flags(speaker, text string) bool {
	return g.Policy.Flag(&g.watch, &g.in, g.event(speaker, text)) != ""
}

// event is the next turn as the policy sees it.
func (g *Guard) event(speaker, text string) *policy.Event {
	n := g.watch.Said + 1
	e := &policy.Event{Seq: int64(n), Turn: n, From: speaker, Kind: policy.KindMessage, Text: text, Bytes: len(text)}
	if a := g.in.Agent(speaker); a != nil && a.Kind == policy.Human {
		e.Kind = policy.KindHuman
	}
	if len(text) > policy.DefText {
		e.Text, e.Truncated = text[:policy.DefText], true
	}
	return e
}
