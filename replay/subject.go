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

// An answerer is a Policy that can be asked for less than a record, sooner: of
// the record only fuel and log need be filled in. A what-if keeps no more.
type answerer interface {
	Answer(context.Context, *policy.Input) (policy.Decision, policy.Record, error)
}

// ask returns how the subject is asked, with a whole record or the least.
func (s *Subject) ask(whole bool) func(context.Context, *policy.Input) (policy.Decision, policy.Record, error) {
	if quick, ok := s.Policy.(answerer); ok && !whole {
		return quick.Answer
	}
	return func(ctx context.Context, in *policy.Input) (policy.Decision, policy.Record, error) {
		return s.Policy.Propose(ctx, *in)
	}
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
