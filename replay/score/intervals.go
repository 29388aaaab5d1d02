package score

import (
	"math"

	"github.com/folkmoot/moot/internal/inference"
)

// rows are the resampled sums of a policy, by transcript.
func (r *Resamples) rows(policy int) inference.Rows {
	rows := make(inference.Rows, len(r.lists[policy]))
	for i, s := range r.lists[policy] {
		rows[i] = s[:resampledSums]
	}
	return rows
}

// newFigures returns a function that computes all measures. It keeps its memory between calls,
// so it is for one goroutine.
func newFigures() inference.Figures {
	var s sums
	return func(total, out []float64) {
		copy(s[:], total)
		for i := range measures {
			out[i] = measures[i].of(&s)
		}
	}
}

// intervals returns the 95 % intervals of a policy by measure.
func (r *Resamples) intervals(policy int) [][2]Figure {
	out := make([][2]Figure, len(measures))
	if r.values != nil {
		tail := inference.Tail(len(r.lists[policy]))
		for i := range out {
			out[i] = interval(r.values[policy][i], tail)
		}
		return out
	}
	few := inference.Intervals(r.rows(policy), newFigures(), len(measures), r.n)
	for i := range out {
		out[i] = measures[i].within(few[i], 0)
	}
	return out
}

// differences compares two policies in all measures, the second minus the
// first.
func (r *Resamples) differences(a, b int) []inference.Difference {
	if r.values == nil {
		return inference.Differences(r.rows(a), r.rows(b), newFigures(), len(measures), r.n)
	}
	units := len(r.lists[a])
	spread := inference.StandardErrors(r.rows(a), r.rows(b), newFigures(), len(measures))
	out, tail := make([]inference.Difference, len(measures)), inference.Tail(units)
	for i, first := range r.values[a] {
		changes := make([]float64, len(first))
		for j := range changes {
			changes[j] = r.values[b][i][j] - first[j]
		}
		bounds := interval(changes, tail)
		out[i] = inference.Difference{
			Interval: [2]float64{float64(bounds[0]), float64(bounds[1])}, Detectable: inference.Detectable(spread[i], units),
		}
	}
	r.test(a, b, spread, out)
	return out
}

// test sets the values and the p-values of differences.
func (r *Resamples) test(a, b int, spread []float64, out []inference.Difference) {
	first, second := r.totals(a), r.totals(b)
	for i := range out {
		out[i].Value = second[i] - first[i]
		out[i].P = inference.TTest(out[i].Value, spread[i], len(r.lists[a]))
	}
}

// totals returns the measures of a policy.
func (r *Resamples) totals(policy int) []float64 {
	var total sums
	for _, s := range r.lists[policy] {
		for i, x := range s {
			total[i] += x
		}
	}
	out := make([]float64, len(measures))
	newFigures()(total[:], out)
	return out
}

// within cuts an interval to the possible values: shares are between least and
// 1.
func (m *measure) within(i [2]float64, least float64) [2]Figure {
	if m.key == "tokens_a_decision" || math.IsNaN(i[0]) {
		return [2]Figure{Figure(i[0]), Figure(i[1])}
	}
	return [2]Figure{Figure(max(i[0], least)), Figure(min(i[1], 1))}
}
