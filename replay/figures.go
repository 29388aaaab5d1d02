package replay

import "math"

// A Figure is a number of a report, NaN when there is nothing to tell. Ratios
// are written with four decimals.
type Figure float64

// MarshalJSON writes NaN as null.
func (f Figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return []byte("null"), nil
	}
	return appendRounded(nil, float64(f)), nil
}

// UnmarshalJSON reads null as NaN.
func (f *Figure) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = Figure(math.NaN())
		return nil
	}
	return parseFigure(b, f)
}

// A measure is a figure that is made of sums, so that it can be resampled.
type measure struct {
	key   string
	what  string // for people
	n     int    // the sum that says of how many decisions
	truth bool   // it is about what truly happened
	of    func(*sums) float64
	at    func(*Result) *Figure
}

// ratio returns num/den, NaN without a den.
func ratio(num, den float64) float64 { return num / den } // 0/0 is NaN

// measures are all figures of a policy that have an interval, in the order in
// which they are shown.
var measures = []measure{
	{
		"accuracy", "same choice", sDecisions, true,
		func(s *sums) float64 { return ratio(s[sHits], s[sDecisions]) },
		func(r *Result) *Figure { return &r.Accuracy },
	},
	{
		"macro_accuracy", "same, mean of transcripts", sDecisions, true,
		func(s *sums) float64 { return ratio(s[sMacro], s[sTalks]) },
		func(r *Result) *Figure { return &r.MacroAccuracy },
	},
	{
		"accuracy_seen", "same, truth had spoken", sSeen, true,
		func(s *sums) float64 { return ratio(s[sSeenHits], s[sSeen]) },
		func(r *Result) *Figure { return &r.AccuracySeen },
	},
	{
		"selective_accuracy", "same, of those not declined", sSpoken, true,
		func(s *sums) float64 { return ratio(s[sSpokenHits], s[sSpoken]) },
		func(r *Result) *Figure { return &r.SelectiveAccuracy },
	},
	{
		"mrr", "mean reciprocal rank", sDecisions, true,
		func(s *sums) float64 { return ratio(s[sReciprocal], s[sDecisions]) },
		func(r *Result) *Figure { return &r.MRR },
	},
	{
		"decline_rate", "decline rate", sDecisions, false,
		func(s *sums) float64 { return ratio(s[sDeclines], s[sDecisions]) },
		func(r *Result) *Figure { return &r.DeclineRate },
	},
	{
		"balanced_accuracy", "speak or silence, balanced", sMixed, true,
		func(s *sums) float64 {
			speak := ratio(s[sMixedHits]-s[sBothQuiet], s[sMixed]-s[sSilences])
			return (ratio(s[sBothQuiet], s[sSilences]) + speak) / 2
		},
		func(r *Result) *Figure { return &r.BalancedAccuracy },
	},
	{
		"top_speaker", "airtime: top speaker", sSpoken, false,
		func(s *sums) float64 { return ratio(s[sTop], s[sSpoken]) },
		func(r *Result) *Figure { return &r.TopSpeaker },
	},
	{
		"gini", "airtime: gini", sSpoken, false,
		func(s *sums) float64 { return ratio(s[sGini], s[sSpoken]) },
		func(r *Result) *Figure { return &r.Gini },
	},
	{
		"entropy", "airtime: entropy", sSpoken, false,
		func(s *sums) float64 { return ratio(s[sEntropy], s[sSpoken]) },
		func(r *Result) *Figure { return &r.Entropy },
	},
	{
		"addressed_not_chosen", "addressed but not chosen", sAddressed, false,
		func(s *sums) float64 { return ratio(s[sOverlooked], s[sAddressed]) },
		func(r *Result) *Figure { return &r.AddressedNotChosen },
	},
	{
		"tokens_a_decision", "prompt tokens a decision", sDecisions, false,
		func(s *sums) float64 { return ratio(s[sTokens], s[sDecisions]) },
		func(r *Result) *Figure { return &r.TokensADecision },
	},
}

// silence returns the parts of the balanced accuracy.
func silence(s *sums) *Silence {
	if s[sMixed] == 0 {
		return nil
	}
	return &Silence{
		Decisions:        int(s[sMixed]),
		TrueRate:         Figure(ratio(s[sSilences], s[sMixed])),
		Accuracy:         Figure(ratio(s[sMixedHits], s[sMixed])),
		SilencePrecision: Figure(ratio(s[sBothQuiet], s[sSilent])),
		SilenceRecall:    Figure(ratio(s[sBothQuiet], s[sSilences])),
		SpeakPrecision:   Figure(ratio(s[sMixedHits]-s[sBothQuiet], s[sMixed]-s[sSilent])),
		SpeakRecall:      Figure(ratio(s[sMixedHits]-s[sBothQuiet], s[sMixed]-s[sSilences])),
	}
}
