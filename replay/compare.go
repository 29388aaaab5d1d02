package replay

import (
	"math"
	"slices"
)

// compared are the figures on which policies are compared with the first;
// alsoRecorded those on which all are with what was recorded.
var (
	compared     = []string{"accuracy", "decline_rate", "top_speaker", "gini", "entropy", "addressed_not_chosen", "tokens_a_decision"}
	alsoRecorded = []string{"decline_rate", "top_speaker", "gini", "entropy", "addressed_not_chosen", "tokens_a_decision"}
)

// comparisons holds each policy against what was recorded, and each later one
// against the first.
func (b *bench) comparisons(r *Report, values [][][]float64) []Comparison {
	if len(b.trials) < minTranscripts {
		return nil // there is nothing to tell chance from
	}
	var all []Comparison
	for k := range b.Subjects {
		all = append(all, between(alsoRecorded, &r.Recorded, &r.Policies[k], values[0], values[k+1])...)
	}
	for k := 1; k < len(b.Subjects); k++ {
		all = append(all, between(compared, &r.Policies[0], &r.Policies[k], values[1], values[k+1])...)
	}
	return all
}

func between(figures []string, a, b *Result, first, other [][]float64) []Comparison {
	var all []Comparison
	for i, m := range measures {
		if !slices.Contains(figures, m.key) || math.IsNaN(float64(*m.at(b)-*m.at(a))) {
			continue
		}
		diffs := make([]float64, len(first[i]))
		for j := range diffs {
			diffs[j] = other[i][j] - first[i][j]
		}
		all = append(all, Comparison{
			A: a.Policy, B: b.Policy, Figure: m.key, Difference: *m.at(b) - *m.at(a),
			Interval: interval(diffs), P: Figure(pValue(first[i], other[i])),
		})
	}
	return all
}

// comparison returns the one of a figure between two, or nil.
func (r *Report) comparison(a, b, figure string) *Comparison {
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.A == a && c.B == b && c.Figure == figure {
			return c
		}
	}
	return nil
}

// significant is the level under which a difference is not put down to chance.
const significant = 0.05

// mark is ~ for a difference that may be chance, as one of a single transcript
// may.
func (c *Comparison) mark() string {
	if c == nil || c.Difference != 0 && !(c.P < significant) {
		return "~"
	}
	return ""
}
