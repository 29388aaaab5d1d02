package replay

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/policies/policy"
)

// A verdict is what a subject says at a decision point.
type verdict struct {
	said  answer
	guess answer // whom it would choose if it had to; declined for nobody
	place int    // that it gives to the truth, from 1; 0 for none

	// Of a rule that draws: how likely it is right, and the expected 1/place.
	odds, reciprocal float64

	confidence float64 // in guess, from 0 to 1; negative when it states none
	took       time.Duration
	decision   policy.Decision
	record     policy.Record
	input      policy.JSON // what it was given, when that is to be shown
	err        error       // there is no decision
}

// A decider makes the decisions of one subject in one transcript. It ends with
// an error only when the replay has to; that a policy fails is a verdict.
type decider interface {
	decide(context.Context, *point) (verdict, error)
}

func (v *verdict) reason() string {
	if v.err != nil {
		var coded interface{ ErrorCode() string }
		if errors.As(v.err, &coded) {
			return coded.ErrorCode()
		}
		return v.err.Error()
	}
	return v.decision.Reason
}
