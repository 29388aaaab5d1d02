package score

import (
	"fmt"
	"math"
	"slices"

	"github.com/folkmoot/moot/internal/inference"
)

// A Comparison is the difference of a figure between two policies, or between
// the recorded decisions and a policy.
type Comparison struct {
	A          string    `json:"a"` // a policy, or recorded
	B          string    `json:"b"`
	Figure     string    `json:"figure"`
	Difference Figure    `json:"difference"` // B minus A
	Interval   [2]Figure `json:"interval"`
	P          Figure    `json:"p"` // of this comparison alone

	PHolm      *Figure `json:"p_holm,omitempty"`     // adjusted for all comparisons of the report; nil without P
	PBelow     bool    `json:"p_below,omitempty"`    // the p-values are only bounds: resampling shows no smaller ones
	Detectable *Figure `json:"detectable,omitempty"` // smallest difference that so many transcripts could show; nil without any spread
}

// withFirst are the figures in which policies are compared with the first one,
// withRecorded those in which they are compared with the recorded decisions.
var (
	withFirst    = []string{"accuracy", "decline_rate", "top_speaker", "gini", "entropy", "addressed_not_chosen", "tokens_a_decision"}
	withRecorded = []string{"decline_rate", "top_speaker", "gini", "entropy", "addressed_not_chosen", "tokens_a_decision"}
)

// minCompared is how many transcripts a comparison needs.
const minCompared = 2

// Comparisons compares each policy with the recorded decisions, and each later
// policy with the first. It is empty for a single transcript. Under
// [inference.MinUnits] transcripts the intervals and p-values are NaN.
func (b *Batch) Comparisons(recorded *Result, policies []Result, values Resamples) []Comparison {
	if len(b.Runs) < minCompared {
		return nil
	}
	var all []Comparison
	for k := range policies {
		all = append(all, compare(withRecorded, recorded, &policies[k], values.differences(0, k+1))...)
	}
	for k := 1; k < len(policies); k++ {
		all = append(all, compare(withFirst, &policies[0], &policies[k], values.differences(1, k+1))...)
	}
	adjust(all)
	return all
}

func compare(names []string, a, b *Result, differences []inference.Difference) []Comparison {
	var all []Comparison
	for i, m := range measures {
		difference := *m.field(b) - *m.field(a)
		if !slices.Contains(names, m.key) || difference.IsNone() {
			continue
		}
		d := &differences[i]
		all = append(all, Comparison{
			A: a.Policy, B: b.Policy, Figure: m.key, Difference: difference,
			Interval: m.within(d.Interval, -1), P: Figure(d.P), PBelow: d.Below, Detectable: known(d.Detectable),
		})
	}
	return all
}

// adjust sets the adjusted p-values. A comparison without any difference in any
// transcript tests nothing, so it does not count.
func adjust(all []Comparison) {
	p := make([]float64, len(all))
	for i := range all {
		p[i] = float64(all[i].P)
		if all[i].Difference == 0 && all[i].Detectable == nil {
			p[i] = math.NaN()
		}
	}
	for i, x := range inference.Holm(p) {
		if all[i].PHolm = known(x); all[i].PHolm == nil {
			all[i].PHolm = known(float64(all[i].P))
		}
	}
}

// known is nil for NaN.
func known(x float64) *Figure {
	if math.IsNaN(x) {
		return nil
	}
	f := Figure(x)
	return &f
}

// Inference says how intervals and p-values of so many transcripts are made, in
// a sentence for a report.
func (b *Batch) Inference() []string {
	switch n := len(b.Runs); {
	case n < inference.MinUnits:
		return []string{fmt.Sprintf("fewer than %d transcripts: no intervals and no p-values", inference.MinUnits)}
	case n <= inference.FewUnits:
		return []string{"intervals by the studentised bootstrap over transcripts, p-values by sign-flip permutation, adjusted for all comparisons of the report (Holm)"}
	case n <= inference.StudentisedUnits:
		return []string{"intervals by the studentised bootstrap over transcripts, p-values by t-test with the jackknife, adjusted for all comparisons of the report (Holm)"}
	}
	return []string{"intervals by the percentile bootstrap over transcripts, p-values by t-test with the jackknife, adjusted for all comparisons of the report (Holm)"}
}

// significanceLevel is the p-value from which on a difference may be chance.
const significanceLevel = 0.05

// adjusted is the p-value that counts. Reports of older releases have no
// adjusted ones.
func (c *Comparison) adjusted() Figure {
	if c.PHolm != nil {
		return *c.PHolm
	}
	return c.P
}

// Significant reports whether the difference is zero or unlikely to be chance.
// Without a p-value, as of few transcripts, it is false.
func (c *Comparison) Significant() bool {
	return c != nil && (c.Difference == 0 || c.adjusted() < significanceLevel)
}

// PText is the adjusted p-value in words of reports: p=0.031, or p<0.002 where
// it is only a bound. It is empty without one.
func (c *Comparison) PText() string {
	const least = 0.0001 // the smallest value that is printed
	if c == nil || c.adjusted().IsNone() {
		return ""
	}
	switch p := c.adjusted(); {
	case p < least:
		return "p<" + Figure(least).Rounded()
	case c.PBelow && p < 1:
		return "p<" + Figure(math.Ceil(float64(p)/least)*least).Rounded()
	default:
		return "p=" + p.Rounded()
	}
}
