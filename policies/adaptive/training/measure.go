package training

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
)

// Measure replays the talks of a team with the untaught policy and with the taught one, by
// n-fold cross-validation: the choices in each part of the talks are predicted after
// training on the other parts. With n = 0 it replays the untaught one alone. progress gets
// the finished part, from 0 to 1.
func Measure(ctx context.Context, talks []*history.Conversation, n int, progress func(part float64)) (*report.Report, error) {
	taught := make(dealt, min(n, len(talks)))
	for fold := range taught {
		var others []*history.Conversation
		for i, t := range talks {
			if i%n != fold {
				others = append(others, t)
			}
		}
		team, err := Learn(others)
		if err != nil {
			return nil, err
		}
		taught[fold] = adaptive.NewWith(team)
		progress(float64(fold+1) / float64(n+1)) // the replay comes last
	}
	all := []dealt{{adaptive.New()}, taught}
	return replayed(ctx, talks, all[:1+min(n, 1)]...)
}

// replayed replays the talks with policies, the first of which is the untaught one. The ids
// of the talks in the replay are their indices.
func replayed(ctx context.Context, talks []*history.Conversation, policies ...dealt) (*report.Report, error) {
	c := replay.Config{Workers: 1} // the policies reuse their memory
	for i, p := range policies {
		c.Policies = append(c.Policies, drive.Policy{Name: fmt.Sprint("adaptive", i), Ref: ref, Proposer: p})
	}
	return replay.Run(ctx, c, func(yield func(history.Transcript, error) bool) {
		for i, t := range talks {
			numbered := *t
			numbered.ID = strconv.Itoa(i)
			if !yield(history.Transcript{Name: numbered.ID, Conversation: &numbered}, nil) {
				return
			}
		}
	})
}

// A dealt policy decides in the talk with the index i by the policy i modulo their number.
type dealt []*adaptive.Policy

// Propose returns what the policy of the talk decides.
func (d dealt) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	talk, err := strconv.Atoi(in.Room)
	if err != nil {
		return policy.Decision{}, policy.Record{}, fmt.Errorf("talk %q has no index: %w", in.Room, err)
	}
	decision := d[talk%len(d)].Decide(&in)
	decision.State, decision.Reason = slices.Clone(decision.State), strings.Clone(decision.Reason) // they are valid until the next call
	decision.Scores = slices.Clone(decision.Scores)
	return decision, policy.Record{}, nil
}
