package score

import (
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// Decisions to speak or to be silent are counted four times over: at choices of a
// speaker and at recorded decisions of one participant, by what the policy chose and by
// the odds that it states. Each count has the sums below, from its first one on.
const (
	silenceAll  = iota // decisions
	silenceTrue        // with recorded silence
	silenceBoth        // with recorded and chosen silence
	silenceSaid        // with chosen silence
	silenceSums
)

// evenOdds is the stated value from which on a policy rather speaks, see
// [policy.Decision].
const evenOdds = 0.5

// addSilenceAt adds a decision to the sums from first on. silent is the share of it
// that chose silence.
func (t *Tally) addSilenceAt(first int, recorded bool, silent float64) {
	t.sums[first+silenceAll]++
	t.sums[first+silenceSaid] += silent
	if recorded {
		t.sums[first+silenceTrue]++
		t.sums[first+silenceBoth] += silent
	}
}

// addOdds adds a decision by the odds that the policy states, if it does.
func (t *Tally) addOdds(first int, recorded bool, e *drive.Evaluation) {
	if odds := e.Decision.Speak; odds != nil && e.Err == nil {
		t.addSilenceAt(first, recorded, indicator(*odds < evenOdds))
	}
}

// addChoiceOrSilence counts a choice in the view of [Silence].
func (t *Tally) addChoiceOrSilence(p *history.Point, e *drive.Evaluation) {
	if !p.Mixed {
		return
	}
	silent := 1 - e.ChosenShare(func(seat int) bool { return p.History.Seats[seat].Agent })
	recorded := !p.Truth.Speaks() || !p.History.Seats[p.Truth].Agent
	t.addSilenceAt(sumMixed, recorded, silent)
	t.addOdds(sumOdds, recorded, e)
	if recorded {
		t.sums[sumMixedHits] += silent
	} else {
		t.sums[sumMixedHits] += e.Hit
	}
}

// addRecordedDecision counts a recorded decision of one participant. A choice of
// another one is silence of this one.
func (t *Tally) addRecordedDecision(p *history.Point, e *drive.Evaluation) {
	silent := 1 - e.ChosenShare(func(seat int) bool { return seat == p.Asked })
	t.addSilenceAt(sumAsked, !p.Truth.Speaks(), silent)
	t.addOdds(sumAskedOdds, !p.Truth.Speaks(), e)
}

// falseSpeaks is the share of the recorded silences in which the policy speaks.
func falseSpeaks(first int) func(*sums) float64 {
	return func(s *sums) float64 { return 1 - Ratio(s[first+silenceBoth], s[first+silenceTrue]) }
}

// falseSilences is the share of the other decisions in which the policy is silent.
func falseSilences(first int) func(*sums) float64 {
	return func(s *sums) float64 {
		return Ratio(s[first+silenceSaid]-s[first+silenceBoth], s[first+silenceAll]-s[first+silenceTrue])
	}
}

// balancedOf is the mean of the two recalls.
func balancedOf(first int) func(*sums) float64 {
	speaks, silences := falseSpeaks(first), falseSilences(first)
	return func(s *sums) float64 { return 1 - (speaks(s)+silences(s))/2 }
}

// silenceMeasures are the figures about speaking or being silent, besides the balanced
// accuracy of choices, which also asks for the right agent.
var silenceMeasures = []measure{
	{"false_speaks", sumMixed, true, falseSpeaks(sumMixed), func(r *Result) *Figure { return &r.FalseSpeaks }},
	{"false_silences", sumMixed, true, falseSilences(sumMixed), func(r *Result) *Figure { return &r.FalseSilences }},
	{"even_balanced_accuracy", sumOdds, true, balancedOf(sumOdds), func(r *Result) *Figure { return &r.EvenBalancedAccuracy }},
	{"even_false_speaks", sumOdds, true, falseSpeaks(sumOdds), func(r *Result) *Figure { return &r.EvenFalseSpeaks }},
	{"even_false_silences", sumOdds, true, falseSilences(sumOdds), func(r *Result) *Figure { return &r.EvenFalseSilences }},
	{"decided_balanced_accuracy", sumAsked, true, balancedOf(sumAsked), func(r *Result) *Figure { return &r.DecidedBalancedAccuracy }},
	{"decided_false_speaks", sumAsked, true, falseSpeaks(sumAsked), func(r *Result) *Figure { return &r.DecidedFalseSpeaks }},
	{"decided_false_silences", sumAsked, true, falseSilences(sumAsked), func(r *Result) *Figure { return &r.DecidedFalseSilences }},
	{"decided_even_balanced_accuracy", sumAskedOdds, true, balancedOf(sumAskedOdds), func(r *Result) *Figure { return &r.DecidedEvenBalancedAccuracy }},
	{"decided_even_false_speaks", sumAskedOdds, true, falseSpeaks(sumAskedOdds), func(r *Result) *Figure { return &r.DecidedEvenFalseSpeaks }},
	{"decided_even_false_silences", sumAskedOdds, true, falseSilences(sumAskedOdds), func(r *Result) *Figure { return &r.DecidedEvenFalseSilences }},
}

// A SpeakOrSilent holds the figures about speaking or being silent. Those of choices
// count a person, a tool and nobody as silence. Those of recorded decisions are about
// the participant that could speak. Even figures are by the odds that the policy
// states instead of by what it chose.
type SpeakOrSilent struct {
	FalseSpeaks   Figure `json:"false_speaks"`
	FalseSilences Figure `json:"false_silences"`

	EvenBalancedAccuracy Figure `json:"even_balanced_accuracy"`
	EvenFalseSpeaks      Figure `json:"even_false_speaks"`
	EvenFalseSilences    Figure `json:"even_false_silences"`

	DecidedBalancedAccuracy Figure `json:"decided_balanced_accuracy"`
	DecidedFalseSpeaks      Figure `json:"decided_false_speaks"`
	DecidedFalseSilences    Figure `json:"decided_false_silences"`

	DecidedEvenBalancedAccuracy Figure `json:"decided_even_balanced_accuracy"`
	DecidedEvenFalseSpeaks      Figure `json:"decided_even_false_speaks"`
	DecidedEvenFalseSilences    Figure `json:"decided_even_false_silences"`
}
