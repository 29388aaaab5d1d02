package score

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// A measure is a figure that is computed from sums, so that it can be
// resampled.
type measure struct {
	key   string
	n     int  // the sum that counts the decisions measured
	truth bool // it compares with the recorded choice
	of    func(*sums) float64
	field func(*Result) *Figure
}

// measures are all figures that have an interval, in the order of reports.
var measures = []measure{
	{
		"accuracy", sumDecisions, true,
		func(s *sums) float64 { return Ratio(s[sumHits], s[sumDecisions]) },
		func(r *Result) *Figure { return &r.Accuracy },
	},
	{
		"macro_accuracy", sumDecisions, true,
		func(s *sums) float64 { return Ratio(s[sumMacro], s[sumTranscripts]) },
		func(r *Result) *Figure { return &r.MacroAccuracy },
	},
	{
		"accuracy_seen", sumSeen, true,
		func(s *sums) float64 { return Ratio(s[sumSeenHits], s[sumSeen]) },
		func(r *Result) *Figure { return &r.AccuracySeen },
	},
	{
		"selective_accuracy", sumSpoken, true,
		func(s *sums) float64 { return Ratio(s[sumSpokenHits], s[sumSpoken]) },
		func(r *Result) *Figure { return &r.SelectiveAccuracy },
	},
	{
		"mrr", sumDecisions, true,
		func(s *sums) float64 { return Ratio(s[sumReciprocal], s[sumDecisions]) },
		func(r *Result) *Figure { return &r.MRR },
	},
	{
		"decline_rate", sumDecisions, false,
		func(s *sums) float64 { return Ratio(s[sumDeclines], s[sumDecisions]) },
		func(r *Result) *Figure { return &r.DeclineRate },
	},
	{
		"balanced_accuracy", sumMixed, true,
		func(s *sums) float64 {
			speak := Ratio(s[sumMixedHits]-s[sumBothSilent], s[sumMixed]-s[sumSilences])
			return (Ratio(s[sumBothSilent], s[sumSilences]) + speak) / 2
		},
		func(r *Result) *Figure { return &r.BalancedAccuracy },
	},
	{
		"top_speaker", sumSpoken, false,
		func(s *sums) float64 { return Ratio(s[sumTop], s[sumSpoken]) },
		func(r *Result) *Figure { return &r.TopSpeaker },
	},
	{
		"gini", sumSpoken, false,
		func(s *sums) float64 { return Ratio(s[sumGini], s[sumSpoken]) },
		func(r *Result) *Figure { return &r.Gini },
	},
	{
		"entropy", sumSpoken, false,
		func(s *sums) float64 { return Ratio(s[sumEntropy], s[sumSpoken]) },
		func(r *Result) *Figure { return &r.Entropy },
	},
	{
		"addressed_not_chosen", sumAddressed, false,
		func(s *sums) float64 { return Ratio(s[sumOverlooked], s[sumAddressed]) },
		func(r *Result) *Figure { return &r.AddressedNotChosen },
	},
	{
		"tokens_a_decision", sumDecisions, false,
		func(s *sums) float64 { return Ratio(s[sumTokens], s[sumDecisions]) },
		func(r *Result) *Figure { return &r.TokensADecision },
	},
}

// otherFigures are the figures without an interval.
var otherFigures = []string{
	"hits", "declines", "finishes", "errors", "flips", "differing", "tokens", "cost", "p50_ms", "p99_ms",
	"ece", "accuracy_at_25", "accuracy_at_50", "accuracy_at_75",
}

// FigureNames returns the names of all figures of a result.
func FigureNames() []string {
	var names []string
	for _, m := range measures {
		names = append(names, m.key)
	}
	return append(names, otherFigures...)
}

// Figure returns a figure of r by its name, false for an unknown name. Figures
// about confidence are NaN for a policy that states none.
func (r *Result) Figure(name string) (Figure, bool) {
	if i := slices.IndexFunc(measures, func(m measure) bool { return m.key == name }); i >= 0 {
		return *measures[i].field(r), true
	}
	switch name {
	case "hits":
		return Figure(r.Hits), true
	case "declines":
		return Figure(r.Declines), true
	case "finishes":
		return Figure(r.Finishes), true
	case "errors":
		return Figure(r.Errors), true
	case "flips":
		return Figure(r.Flips.Total), true
	case "differing":
		return Figure(r.Differing), true
	case "tokens":
		return Figure(int(r.Tokens)), true
	case "cost":
		return Figure(int(r.Cost)), true
	case "p50_ms":
		return r.P50, true
	case "p99_ms":
		return r.P99, true
	case "ece":
		if r.Risk == nil {
			return None(), true
		}
		return r.Risk.ECE, true
	case "accuracy_at_25", "accuracy_at_50", "accuracy_at_75":
		coverage, _ := strconv.Atoi(strings.TrimPrefix(name, "accuracy_at_"))
		return r.Risk.At(coverage), true
	}
	return None(), false
}

// setCounts sets the fields of r that count decisions.
func (r *Result) setCounts(total *sums) {
	n := func(i int) int { return int(math.Round(total[i])) }
	r.Decisions, r.Hits, r.Declines = n(sumDecisions), n(sumHits), n(sumDeclines)
	r.Finishes, r.Errors, r.Tokens, r.Cost = n(sumFinishes), n(sumErrors), int64(n(sumTokens)), int64(n(sumCost))
	r.Repeated, r.Differing = n(sumRepeated), n(sumDiffering)
	r.Flips.SpeakToDecline, r.Flips.DeclineToSpeak, r.Flips.OtherSpeaker = n(sumToDecline), n(sumToSpeak), n(sumOther)
	r.Flips.Total = r.Flips.SpeakToDecline + r.Flips.DeclineToSpeak + r.Flips.OtherSpeaker
	r.Silence = silence(total)
}

// silence returns the parts of the balanced accuracy.
func silence(s *sums) *Silence {
	if s[sumMixed] == 0 {
		return nil
	}
	return &Silence{
		Decisions:        int(s[sumMixed]),
		TrueRate:         Figure(Ratio(s[sumSilences], s[sumMixed])),
		Accuracy:         Figure(Ratio(s[sumMixedHits], s[sumMixed])),
		SilencePrecision: Figure(Ratio(s[sumBothSilent], s[sumSilent])),
		SilenceRecall:    Figure(Ratio(s[sumBothSilent], s[sumSilences])),
		SpeakPrecision:   Figure(Ratio(s[sumMixedHits]-s[sumBothSilent], s[sumMixed]-s[sumSilent])),
		SpeakRecall:      Figure(Ratio(s[sumMixedHits]-s[sumBothSilent], s[sumMixed]-s[sumSilences])),
	}
}
