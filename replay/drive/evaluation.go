package drive

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// An Evaluation is what a policy under test returned at a decision point.
type Evaluation struct {
	Choice    history.Choice
	Likeliest history.Choice // seat that it rates highest, also when it declines; Declined for none
	Tied      []int          // candidates that it does not tell from Likeliest, which is one of them; nil for none
	Rank      int            // that it gives to the recorded choice, from 1; the best of equal ones; 0 for none

	// Hit is the probability that its choice is the recorded one, and
	// ReciprocalRank the expected reciprocal rank of the recorded choice, when
	// ties are broken at random.
	Hit, ReciprocalRank float64

	Confidence float64 // in Likeliest, from 0 to 1; negative when not stated
	Elapsed    time.Duration
	Repeated   bool // the decision was made twice
	Differed   bool // and the second one had other bytes or used other fuel
	Decision   policy.Decision
	Record     policy.Record
	Input      policy.JSON // what the policy got, where it is kept
	Err        error       // there is no decision
}

// Reason returns why the policy decided so: its reason or, for a failure, the
// code of the error.
func (e *Evaluation) Reason() string {
	if e.Err == nil {
		return e.Decision.Reason
	}
	var coded interface{ ErrorCode() string }
	if errors.As(e.Err, &coded) {
		return coded.ErrorCode()
	}
	return e.Err.Error()
}

// An evaluator makes the decisions of one policy in one transcript. It returns
// an error only when the replay must end; the failure of a policy is part of
// the evaluation.
type evaluator interface {
	evaluate(context.Context, *history.Point) (Evaluation, error)
}
