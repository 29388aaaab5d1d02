package training

import (
	"math"
	"slices"
	"strconv"

	"github.com/folkmoot/moot/internal/logistic"
	"github.com/folkmoot/moot/policies/wasteguard"
)

// pull is the L2 penalty on a weight of a feature in units of its standard deviation.
// It is not tuned.
const pull = 1

// figures are the significant figures of what a model holds, so that processors agree.
const figures = 4

// Learn learns a model of the runs.
func Learn(runs []*Run) *wasteguard.Model {
	m := &wasteguard.Model{}
	deviations := standardize(runs, m)
	weights := fit(runs, m, deviations)
	for i := range m.Weights {
		m.Weights[i], m.Means[i] = rounded(weights[i]/deviations[i]), rounded(m.Means[i])
	}
	m.Cuts = cuts(runs, m)
	return m
}

// rounded returns f with few significant figures.
func rounded(f float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', figures, 64), 64)
	if err != nil {
		return 0 // no number; JSON has none for it either
	}
	return r
}

// each visits the turns that can be flagged.
func each(runs []*Run, visit func(x *wasteguard.Features, mistake bool)) {
	for _, r := range runs {
		for i := range r.turns {
			if r.turns[i].judged {
				visit(&r.turns[i].x, i == r.Mistake)
			}
		}
	}
}

// standardize sets the means of the features and returns their standard deviations, which
// are 1 for a feature that never differs.
func standardize(runs []*Run, m *wasteguard.Model) (deviations wasteguard.Features) {
	n := 0.0
	each(runs, func(x *wasteguard.Features, _ bool) {
		n++
		for i := range x {
			m.Means[i] += x[i]
		}
	})
	for i := range m.Means {
		m.Means[i] /= max(n, 1)
	}
	each(runs, func(x *wasteguard.Features, _ bool) {
		for i := range x {
			deviations[i] += (x[i] - m.Means[i]) * (x[i] - m.Means[i])
		}
	})
	for i, sum := range deviations {
		if deviations[i] = math.Sqrt(sum / max(n, 1)); deviations[i] < 1e-9 {
			deviations[i] = 1
		}
	}
	return deviations
}

// fit returns the weights of the standardized features.
func fit(runs []*Run, m *wasteguard.Model, deviations wasteguard.Features) []float64 {
	var examples []logistic.Example
	each(runs, func(x *wasteguard.Features, mistake bool) {
		z := make([]float64, len(x))
		for i := range x {
			z[i] = (x[i] - m.Means[i]) / deviations[i]
		}
		examples = append(examples, logistic.Example{X: z, Positive: mistake, Weight: 1})
	})
	return logistic.Fit(examples, wasteguard.Count, pull)[1:]
}

// cuts returns the scores that shares of all turns reach, people's included, rounded down
// so that the turn itself reaches it.
func cuts(runs []*Run, m *wasteguard.Model) (out [len(wasteguard.Shares)]float64) {
	all, turns := []float64{0}[:0], 0
	for _, r := range runs {
		turns += len(r.turns)
	}
	each(runs, func(x *wasteguard.Features, _ bool) { all = append(all, m.Score(x)) })
	if len(all) == 0 {
		return out
	}
	slices.Sort(all)
	slices.Reverse(all)
	for i, percent := range wasteguard.Shares {
		n := int(percent / 100 * float64(turns))
		out[i] = math.Floor(all[min(max(n-1, 0), len(all)-1)]*1e4) / 1e4
	}
	return out
}
