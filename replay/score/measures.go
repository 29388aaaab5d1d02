package score

import "math"

// A measure is a figure that is computed from sums, so that it can be
// resampled.
type measure struct {
	key   string
	n     int  // the sum that counts the decisions measured
	truth bool // it compares with the recorded choice
	of    func(*sums) float64
	field func(*Result) *Figure
}

// ratio is the measure of two sums.
func ratio(num, den int) func(*sums) float64 {
	return func(s *sums) float64 { return Ratio(s[num], s[den]) }
}

// balanced is the mean of the recalls of silence and of the right speaker.
func balanced(s *sums) float64 {
	speak := Ratio(s[sumMixedHits]-s[sumBothSilent], s[sumMixed]-s[sumSilences])
	return (Ratio(s[sumBothSilent], s[sumSilences]) + speak) / 2
}

// measures are all figures that have an interval, in the order of reports.
var measures = append([]measure{
	{"accuracy", sumDecisions, true, ratio(sumHits, sumDecisions), func(r *Result) *Figure { return &r.Accuracy }},
	{"macro_accuracy", sumDecisions, true, ratio(sumMacro, sumTranscripts), func(r *Result) *Figure { return &r.MacroAccuracy }},
	{"accuracy_seen", sumSeen, true, ratio(sumSeenHits, sumSeen), func(r *Result) *Figure { return &r.AccuracySeen }},
	{"selective_accuracy", sumSpoken, true, ratio(sumSpokenHits, sumSpoken), func(r *Result) *Figure { return &r.SelectiveAccuracy }},
	{"mrr", sumDecisions, true, ratio(sumReciprocal, sumDecisions), func(r *Result) *Figure { return &r.MRR }},
	{"decline_rate", sumDecisions, false, ratio(sumDeclines, sumDecisions), func(r *Result) *Figure { return &r.DeclineRate }},
	{"balanced_accuracy", sumMixed, true, balanced, func(r *Result) *Figure { return &r.BalancedAccuracy }},
	{"top_speaker", sumSpoken, false, ratio(sumTop, sumSpoken), func(r *Result) *Figure { return &r.TopSpeaker }},
	{"gini", sumSpoken, false, ratio(sumGini, sumSpoken), func(r *Result) *Figure { return &r.Gini }},
	{"entropy", sumSpoken, false, ratio(sumEntropy, sumSpoken), func(r *Result) *Figure { return &r.Entropy }},
	{"addressed_not_chosen", sumAddressed, false, ratio(sumOverlooked, sumAddressed), func(r *Result) *Figure { return &r.AddressedNotChosen }},
	{"tokens_a_decision", sumDecisions, false, ratio(sumTokens, sumDecisions), func(r *Result) *Figure { return &r.TokensADecision }},
}, silenceMeasures...)

// otherFigures are the figures without an interval.
var otherFigures = []struct {
	name string
	of   func(*Result) Figure
}{
	{"hits", func(r *Result) Figure { return r.Hits }},
	{"tied", func(r *Result) Figure { return Figure(r.Tied) }},
	{"declines", func(r *Result) Figure { return Figure(r.Declines) }},
	{"finishes", func(r *Result) Figure { return Figure(r.Finishes) }},
	{"errors", func(r *Result) Figure { return Figure(r.Errors) }},
	{"flips", func(r *Result) Figure { return Figure(r.Flips.Total) }},
	{"differing", func(r *Result) Figure { return Figure(r.Differing) }},
	{"tokens", func(r *Result) Figure { return Figure(r.Tokens) }},
	{"cost", func(r *Result) Figure { return Figure(r.Cost) }},
	{"completion_tokens", func(r *Result) Figure { return Figure(r.Completion) }},
	{"completion_cost", func(r *Result) Figure { return Figure(r.ReplyCost) }},
	{"turn_ms", func(r *Result) Figure { return Figure(r.TurnMS) }},
	{"p50_ms", func(r *Result) Figure { return r.P50 }},
	{"p99_ms", func(r *Result) Figure { return r.P99 }},
	{"ece", func(r *Result) Figure { return r.Risk.ece() }},
	{"accuracy_at_25", func(r *Result) Figure { return r.Risk.At(25) }},
	{"accuracy_at_50", func(r *Result) Figure { return r.Risk.At(50) }},
	{"accuracy_at_75", func(r *Result) Figure { return r.Risk.At(75) }},
}

// FigureNames returns the names of all figures of a result.
func FigureNames() []string {
	var names []string
	for _, m := range measures {
		names = append(names, m.key)
	}
	for _, f := range otherFigures {
		names = append(names, f.name)
	}
	return names
}

// Figure returns a figure of r by its name, false for an unknown name. Figures
// about confidence are NaN for a policy that states none.
func (r *Result) Figure(name string) (Figure, bool) {
	for _, m := range measures {
		if m.key == name {
			return *m.field(r), true
		}
	}
	for _, f := range otherFigures {
		switch {
		case f.name != name:
		case r.Unmeasured != "" && name != "errors" && name != "differing":
			return None(), true
		default:
			return f.of(r), true
		}
	}
	return None(), false
}

// setCounts sets the fields of r that count decisions.
func (r *Result) setCounts(total *sums) {
	n := func(i int) int { return int(math.Round(total[i])) }
	r.Decisions, r.Hits, r.Declines, r.Tied = n(sumDecisions), Figure(total[sumHits]), n(sumDeclines), n(sumTied)
	r.Finishes, r.Errors, r.Tokens, r.Cost = n(sumFinishes), n(sumErrors), int64(n(sumTokens)), int64(n(sumCost))
	r.Completion, r.ReplyCost, r.TurnMS = int64(n(sumCompletion)), int64(n(sumCompletionCost)), int64(n(sumTurnMS))
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
