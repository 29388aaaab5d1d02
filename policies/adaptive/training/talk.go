// Package training trains the law of a team for package adaptive, from the team's
// past conversations, and measures it.
//
// Training is deterministic: the same transcripts give the same bytes.
package training

import (
	"cmp"
	"iter"
	"slices"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/names"
	"github.com/folkmoot/moot/transcripts"
)

// A Talk is a conversation in which consecutive messages of one speaker are
// merged, as in replay. There is a decision before each turn but the first. Its
// candidates are all participants except the last speaker.
type Talk struct {
	ID     string
	agents []policy.Agent // in byte order of their ids
	turns  []policy.Event

	decided []decided // recorded decisions to speak or to be silent
}

// NewTalk merges a conversation. It returns nil for fewer than three participants
// or two turns, in which there is nothing to predict.
func NewTalk(c *transcripts.Conversation) *Talk {
	t := &Talk{ID: c.ID}
	for _, p := range c.Participants {
		t.agents = append(t.agents, p.Agent())
	}
	slices.SortFunc(t.agents, func(a, b policy.Agent) int { return cmp.Compare(a.ID, b.ID) })
	for i := range c.Turns {
		turn := &c.Turns[i]
		if n := len(t.turns); n > 0 && t.turns[n-1].From == turn.Speaker {
			t.turns[n-1].Text += "\n" + turn.Text
			continue
		}
		n := len(t.turns) + 1
		t.turns = append(t.turns, policy.Event{Seq: int64(n), Turn: n, From: turn.Speaker, Kind: policy.KindMessage, Text: turn.Text})
	}
	if len(t.agents) < 3 || len(t.turns) < 2 {
		return nil
	}
	t.decide(c, t.name())
	return t
}

// maxText is the max_text_bytes of the manifest of adaptive.
const maxText = 16384

// name finds the mentions of each turn, as a room does, with the returned matcher.
func (t *Talk) name() *names.Matcher {
	ids, display := make([]string, len(t.agents)), make([]string, len(t.agents))
	for i, a := range t.agents {
		ids[i], display[i] = a.ID, a.Name
	}
	matcher := names.New(ids, display)
	for i := range t.turns {
		e := &t.turns[i]
		e.Mentions, e.Addressed = matcher.Scan(e.Text, e.From)
		e.Bytes = len(e.Text)
		if len(e.Text) > maxText {
			e.Text, e.Truncated = e.Text[:maxText], true
		}
	}
	return matcher
}

// Decisions returns the number of decisions.
func (t *Talk) Decisions() int { return len(t.turns) - 1 }

// asked yields the input of each decision, without a state, and the actual next
// speaker. The input is valid until the next one.
func (t *Talk) asked() iter.Seq2[*policy.Input, string] {
	return func(yield func(*policy.Input, string) bool) {
		in := policy.Input{ABI: policy.ABI, Room: t.ID, Agents: slices.Clone(t.agents)}
		followed := map[[3]string]int{}
		for k := 1; k < len(t.turns); k++ {
			in.Init, in.Decision, in.Turn = k == 1, int64(k), k+1
			in.Events = t.turns[k-1 : k]
			last, before, first := t.turns[k-1].From, t.from(k-2), t.from(k-3)
			if followed[[3]string{"", before, last}]++; first != "" {
				followed[[3]string{first, before, last}]++
			}
			for i := range in.Agents {
				a := &in.Agents[i]
				a.Eligible = a.ID != last
				a.Followed = policy.Followed{Last: followed[[3]string{"", last, a.ID}], LastTwo: followed[[3]string{before, last, a.ID}]}
				if before == "" {
					a.Followed.LastTwo = 0
				}
			}
			if !yield(&in, t.turns[k].From) {
				return
			}
		}
	}
}

// from returns the speaker of turn k, from 0, or "" before the first.
func (t *Talk) from(k int) string {
	if k < 0 {
		return ""
	}
	return t.turns[k].From
}
