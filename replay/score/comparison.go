package score

import "slices"

// A Comparison is the difference of a figure between two policies, or between
// the recorded decisions and a policy.
type Comparison struct {
	A          string    `json:"a"` // a policy, or recorded
	B          string    `json:"b"`
	Figure     string    `json:"figure"`
	Difference Figure    `json:"difference"` // B minus A
	Interval   [2]Figure `json:"interval"`
	P          Figure    `json:"p"`
}

// withFirst are the figures in which policies are compared with the first one,
// withRecorded those in which they are compared with the recorded decisions.
var (
	withFirst    = []string{"accuracy", "decline_rate", "top_speaker", "gini", "entropy", "addressed_not_chosen", "tokens_a_decision"}
	withRecorded = []string{"decline_rate", "top_speaker", "gini", "entropy", "addressed_not_chosen", "tokens_a_decision"}
)

// Comparisons compares each policy with the recorded decisions, and each later
// policy with the first. It is empty for a single transcript, which has no
// interval.
func (b *Batch) Comparisons(recorded *Result, policies []Result, values Resamples) []Comparison {
	if len(b.Runs) < minTranscripts {
		return nil
	}
	var all []Comparison
	for k := range policies {
		all = append(all, compare(withRecorded, recorded, &policies[k], values[0], values[k+1])...)
	}
	for k := 1; k < len(policies); k++ {
		all = append(all, compare(withFirst, &policies[0], &policies[k], values[1], values[k+1])...)
	}
	return all
}

func compare(figures []string, a, b *Result, first, second [][]float64) []Comparison {
	var all []Comparison
	for i, m := range measures {
		difference := *m.field(b) - *m.field(a)
		if !slices.Contains(figures, m.key) || difference.IsNone() {
			continue
		}
		differences := make([]float64, len(first[i]))
		for j := range differences {
			differences[j] = second[i][j] - first[i][j]
		}
		all = append(all, Comparison{
			A: a.Policy, B: b.Policy, Figure: m.key, Difference: difference,
			Interval: interval(differences), P: Figure(pValue(first[i], second[i])),
		})
	}
	return all
}

// significanceLevel is the p-value from which on a difference may be chance.
const significanceLevel = 0.05

// Significant reports whether the difference is zero or unlikely to be chance.
// Without a comparison, as of a single transcript, it is false.
func (c *Comparison) Significant() bool {
	return c != nil && (c.Difference == 0 || c.P < significanceLevel)
}
