package replay

import (
	"context"
	"iter"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Policy decides. It must be safe for concurrent use: many transcripts are
// replayed at once.
type Policy interface {
	Propose(context.Context, policy.Input) (policy.Decision, policy.Record, error)
}

// A Subject is what to replay: a policy, or one of the [Baselines].
type Subject struct {
	Name     string         // in the report; unique among the subjects
	Ref      room.PolicyRef // what its inputs depend on
	Policy   Policy
	Baseline string // instead of a Policy, the name of a baseline
}

// A Transcript is one of: a talk from elsewhere, the events of a room of moot,
// or a sequence of them that can be read more than once and is read when its
// turn comes, by another goroutine.
type Transcript struct {
	Name   string
	Talk   *Talk
	Room   []room.Event
	Events iter.Seq2[room.Event, error]
}

// events returns what is no talk as a sequence.
func (t Transcript) events() iter.Seq2[room.Event, error] {
	if t.Events != nil {
		return t.Events
	}
	return func(yield func(room.Event, error) bool) {
		for _, e := range t.Room {
			if !yield(e, nil) {
				return
			}
		}
	}
}
