package drive

import (
	"context"

	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

// Config says what to ask, and how.
type Config struct {
	Policies []Policy
	Repeat   int // every Nth decision is repeated and compared; 0 repeats none
	// Asked says at which decision points, by number, the policies are asked; nil asks
	// at all. At the next one a policy gets the events since it was last asked, as
	// after rounds in which a room did not ask it.
	Asked func(n int) bool
}

// WhatIf walks h once and asks all policies at every decision point. observe
// gets their evaluations in the order of c.Policies; it may keep neither the
// point nor the slice. place is the index of the transcript in its replay: it
// varies which decisions are repeated. A policy that is not asked at the first
// points begins like one that a room changes to: with its first input. A baseline
// follows all points, because it costs little. Choices of a speaker and recorded
// decisions are two sequences, each with a state of its own, so that neither takes the
// news from the other.
func WhatIf(ctx context.Context, c Config, h *history.History, place int, observe func(*history.Point, []Evaluation)) error {
	stats := newStatistics(c.Policies)
	repeat := func(v *policyEvaluator) { v.repeat, v.offset = c.Repeat, place }
	evaluators := newSequences(c.Policies, stats, repeat)
	evaluations := make([]Evaluation, len(c.Policies))
	return h.Walk(maxText(c.Policies), stats.listener(), func(p *history.Point) error {
		asked := c.Asked == nil || c.Asked(p.N)
		if !asked && ctx.Err() != nil {
			return ctx.Err()
		}
		for i, v := range evaluators.at(p) {
			if !asked && c.Policies[i].Baseline == "" {
				continue
			}
			e, err := v.evaluate(ctx, p)
			if err != nil {
				return err
			}
			evaluations[i] = e
		}
		if asked {
			observe(p, evaluations)
		}
		return nil
	})
}

// sequences are the evaluators of choices of a speaker and those of recorded
// decisions.
type sequences struct{ choices, decisions []evaluator }

func newSequences(policies []Policy, stats *statistics, configure func(*policyEvaluator)) sequences {
	return sequences{newEvaluators(policies, stats, configure), newEvaluators(policies, stats, configure)}
}

func (s *sequences) at(p *history.Point) []evaluator {
	if p.Asked >= 0 {
		return s.decisions
	}
	return s.choices
}

// newEvaluators returns an evaluator for each policy. configure is called for
// those that are not baselines.
func newEvaluators(policies []Policy, stats *statistics, configure func(*policyEvaluator)) []evaluator {
	all := make([]evaluator, len(policies))
	for i := range policies {
		p := &policies[i]
		if p.Baseline != "" {
			all[i] = newBaselineEvaluator(p.Baseline, stats)
			continue
		}
		v := &policyEvaluator{propose: p.propose(), cursor: room.PolicyCursor{Ref: p.Ref}}
		configure(v)
		all[i] = v
	}
	return all
}

// Recorded is the evaluation of the recorded decision at p, as if a policy had
// made it.
func Recorded(p *history.Point) Evaluation {
	e := Evaluation{Choice: p.Truth, Likeliest: p.Truth, Rank: 1, Hit: 1, ReciprocalRank: 1, Confidence: -1}
	switch b := p.Event.Body.(type) {
	case room.TurnGranted:
		e.Decision.Reason = b.Reason
	case room.RoundDeclined:
		e.Decision.Reason = b.Reason
	case room.Completed:
		e.Decision.Reason = b.Reason
	}
	return e
}
