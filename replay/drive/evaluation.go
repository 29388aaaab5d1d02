package drive

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// An Evaluation is what a policy under test returned at a decision point.
type Evaluation struct {
	Choice    history.Choice
	Likeliest history.Choice // seat that it rates highest, also when it declines; Declined for none
	Rank      int            // that it gives to the recorded choice, from 1; 0 for none

	// Of a baseline that draws at random: the probability that its choice is
	// the recorded one, and the expected reciprocal rank.
	HitProbability, ReciprocalRank float64

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

// rankOf returns the rank, from 1, that d gives to the seat truth among the
// candidates. Its choice is first. Then a higher score, a later last message
// and byte order of the IDs decide, in this order. It is 0 for a decision that
// chooses no seat.
func rankOf(p *history.Point, d *policy.Decision, choice, truth int) int {
	if d.Action != policy.ActionSpeak {
		return 0
	}
	if choice == truth {
		return 1
	}
	var buffer [32]float64
	scores := buffer[:0] // by seat; -Inf where there is none
	for range p.History.Seats {
		scores = append(scores, math.Inf(-1))
	}
	for _, x := range d.Scores {
		if seat, ok := p.History.SeatOf(x.Agent); ok {
			scores[seat] = x.Score
		}
	}
	rank := 1
	for _, c := range p.Candidates {
		if c == choice || c != truth && (scores[c] > scores[truth] || scores[c] == scores[truth] && spokeLater(p, c, truth)) {
			rank++
		}
	}
	return rank
}

// spokeLater breaks ties: the seat that spoke later comes first, one that never
// spoke last, and then byte order of the IDs decides.
func spokeLater(p *history.Point, a, b int) bool {
	if p.LastSpoke[a] != p.LastSpoke[b] {
		return p.LastSpoke[a] > p.LastSpoke[b]
	}
	return p.History.Seats[a].Rank < p.History.Seats[b].Rank
}
