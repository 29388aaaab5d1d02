package drive

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Proposer decides. It must be safe for concurrent use: several transcripts
// are replayed at once.
type Proposer interface {
	Propose(context.Context, policy.Input) (policy.Decision, policy.Record, error)
}

// A Policy is a policy under test: a Proposer or the name of a baseline.
type Policy struct {
	Name     string         // in reports; unique in a replay
	Ref      room.PolicyRef // determines its inputs
	Proposer Proposer
	Baseline string // used when Proposer is nil, see [BaselineNames]

	// TrainedOn names data from which the settings are learnt, in which the figures of
	// the policy are too good; "" if none is known.
	TrainedOn string
}

// ErrNoPolicies reports a replay without policies.
var ErrNoPolicies = errors.New("replay: no policies given")

// Validate reports the first policy that cannot be replayed.
func Validate(policies []Policy) error {
	if len(policies) == 0 {
		return ErrNoPolicies
	}
	seen := map[string]bool{}
	for _, p := range policies {
		switch {
		case p.Name == "" || seen[p.Name]:
			return fmt.Errorf("replay: policy name %q is empty or not unique", p.Name)
		case p.Proposer == nil && findRule(p.Baseline) == nil:
			return fmt.Errorf("replay: unknown baseline %q", p.Baseline)
		}
		seen[p.Name] = true
	}
	return nil
}

type proposeFunc func(context.Context, *policy.Input) (policy.Decision, policy.Record, error)

// propose returns how p is asked.
func (p *Policy) propose() proposeFunc {
	return func(ctx context.Context, in *policy.Input) (policy.Decision, policy.Record, error) {
		return p.Proposer.Propose(ctx, *in)
	}
}

// maxText is how many bytes of a message the inputs of the policies may hold,
// plus one rune, so that a cut text can be told from a whole one.
func maxText(policies []Policy) int {
	const runeBytes = 4
	most := 0
	for _, p := range policies {
		n := p.Ref.Needs.MaxTextBytes
		if n <= 0 {
			n = policy.DefText
		}
		most = max(most, n+runeBytes)
	}
	return most
}

// codeOf returns the code of the error of a policy.
func codeOf(err error) string {
	var coded interface{ ErrorCode() string }
	switch {
	case err == nil:
		return ""
	case errors.As(err, &coded):
		return coded.ErrorCode()
	}
	return "policy.failed"
}
