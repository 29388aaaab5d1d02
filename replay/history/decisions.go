package history

import (
	"iter"
	"slices"
	"time"

	"github.com/folkmoot/moot/room"
)

// A Decision is a recorded decision to speak or to be silent in a conversation.
type Decision struct {
	Before int           // index of the turn that comes next
	Agent  string        // who could speak; "" for all participants
	Speak  bool          // began a turn, which may appear later
	Clock  time.Duration // since the first turn
}

// spoke is the event of a recorded decision to speak. It is no event of a room: the
// message of the decision follows, when it was posted.
type spoke struct{ Agent string }

func (spoke) Type() string { return "decision.recorded" }

// body returns the event that stands for d.
func (d *Decision) body() room.Body {
	switch {
	case d.Speak:
		return spoke{d.Agent}
	case d.Agent == "":
		return room.RoundDeclined{Reason: "nobody spoke"}
	}
	return room.RoundDeclined{Reason: d.Agent + " could speak and did not", Silent: []string{d.Agent}}
}

// withDecisions yields the turns of c with its decisions between them.
func withDecisions(c *Conversation) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		next := 0
		for i := range len(c.Turns) + 1 {
			for ; next < len(c.Decisions) && c.Decisions[next].Before <= i; next++ {
				if !yield(Turn{Decision: &c.Decisions[next]}, nil) {
					return
				}
			}
			if i < len(c.Turns) && !yield(c.Turns[i], nil) {
				return
			}
		}
	}
}

// A silences value says of which participants a source records that they could speak
// and did not. Where it records no decisions to speak, each turn of theirs is one.
type silences struct {
	declined, spoke []string
	nobody          bool // it also records that nobody spoke
}

func (s *silences) add(d *Decision) {
	list := &s.declined
	switch {
	case d.Agent == "":
		s.nobody = true
		return
	case d.Speak:
		list = &s.spoke
	}
	if !slices.Contains(*list, d.Agent) {
		*list = append(*list, d.Agent)
	}
}

// any reports whether the source records decisions.
func (s *silences) any() bool { return s.nobody || len(s.declined)+len(s.spoke) > 0 }

// impliedBy reports whether a turn of a participant is a decision to speak.
func (s *silences) impliedBy(speaker string) bool {
	return slices.Contains(s.declined, speaker) && !slices.Contains(s.spoke, speaker)
}

// silencesIn returns the decisions that an event of an imported room stands for.
func silencesIn(e *room.Event) []Decision {
	b, ok := e.Body.(room.RoundDeclined)
	if !ok {
		return nil
	}
	if len(b.Silent) == 0 {
		return []Decision{{Clock: e.Clock}}
	}
	all := make([]Decision, len(b.Silent))
	for i, id := range b.Silent {
		all[i] = Decision{Agent: id, Clock: e.Clock}
	}
	return all
}
