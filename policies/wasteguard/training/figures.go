package training

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/folkmoot/moot/internal/inference"
)

// Figures are how well errors were found in runs that were not learnt from. Shares are
// from 0 to 1. Intervals are over runs, see package inference.
type Figures struct {
	Folds  int       `json:"folds"`
	Deals  int       `json:"deals"`
	Groups []Group   `json:"groups"` // by the part of the ids before the last slash, then all
	At     []Working `json:"at"`
}

// A Group compares the learnt guard with the trivial rule when both flag the same number
// of the group's turns.
type Group struct {
	Name       string   `json:"name"`
	Runs       int      `json:"runs"`
	Turns      int      `json:"turns"`
	After      float64  `json:"after_error"`   // share of the turns that are after the error
	Flagged    float64  `json:"flagged_share"` // of the turns, by both
	Trivial    float64  `json:"trivial"`       // share of the runs in which the trivial rule flags the error
	Guard      float64  `json:"guard"`         // the same of the guard
	Interval   Interval `json:"interval"`      // of Guard
	Difference float64  `json:"difference"`
	Between    Interval `json:"difference_interval"`
}

// Working is what a guard does that flags the same share of the turns of each group.
type Working struct {
	Flagged  float64  `json:"flagged_share"`
	Has      float64  `json:"has_error"` // share of the runs whose error is flagged
	Saved    float64  `json:"saved"`     // share of the turns after errors that are after the first flag at or after the error
	Interval Interval `json:"saved_interval"`
	Chance   float64  `json:"saved_by_chance"` // the same of flags by chance
	First    float64  `json:"saved_by_first"`  // counts only runs without a flag before the error
	Early    float64  `json:"early_flags"`     // flags before the error, by run
	EarlyIn  float64  `json:"early_runs"`      // share of the runs with such a flag
}

// FlagShares are the shares of flagged turns that Measure reports as Working.
var FlagShares = []float64{.02, .05, .1, .2}

// MinRuns is the smallest number of runs that figures are given for.
const MinRuns = inference.MinUnits

// Measure measures learning by cross-validation. progress may be nil.
func Measure(runs []*Run, folds int, progress func(part float64)) *Figures {
	f := &Figures{Folds: folds, Deals: Deals}
	names := groups(runs)
	var hits []float64 // by run: in how many of the deals the error is flagged
	work := make([]tally, len(FlagShares))
	for d := range Deals {
		scores := fold(runs, folds, d)
		for _, name := range names {
			hits = add(hits, hitsOf(runs, scores, name))
		}
		for i, share := range FlagShares {
			work[i].add(runs, flagsAt(runs, scores, share))
		}
		if progress != nil {
			progress(float64(d+1) / Deals)
		}
	}
	for _, name := range names {
		f.Groups = append(f.Groups, compare(name, runs, hits, func(r *Run) bool { return r.group() == name }))
	}
	if len(names) > 1 {
		f.Groups = append(f.Groups, compare("all", runs, hits, func(*Run) bool { return true }))
	}
	for i := range work {
		f.At = append(f.At, work[i].working(runs, FlagShares[i]))
	}
	return f
}

// All returns the comparison over all runs.
func (f *Figures) All() *Group { return &f.Groups[len(f.Groups)-1] }

// groups returns the names of the groups of the runs, in order.
func groups(runs []*Run) []string {
	var names []string
	for _, r := range runs {
		names = append(names, r.group())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func add(sum, x []float64) []float64 {
	if sum == nil {
		return slices.Clone(x)
	}
	for i := range x {
		sum[i] += x[i]
	}
	return sum
}

// A place is a turn with its score.
type place struct {
	run, turn int
	score     float64
}

// best returns the n turns with the highest scores; of equal ones those of earlier runs.
func best(runs []*Run, scores outcome, n int, in func(*Run) bool) []place {
	var all []place
	for i, r := range runs {
		for k, s := range scores[i] {
			if in(r) && s > never {
				all = append(all, place{i, k, s})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	return all[:min(n, len(all))]
}

// hitsOf returns by run whether the error is among the best turns of the group, of which
// there are as many as the trivial rule flags.
func hitsOf(runs []*Run, scores outcome, group string) []float64 {
	n := 0
	in := func(r *Run) bool { return r.group() == group }
	for _, r := range runs {
		for k := range r.turns {
			if in(r) && r.turns[k].trivial {
				n++
			}
		}
	}
	hits := make([]float64, len(runs))
	for _, p := range best(runs, scores, n, in) {
		if p.turn == runs[p.run].Mistake {
			hits[p.run] = 1
		}
	}
	return hits
}

// compare sums the hits of the runs of a group up.
func compare(name string, runs []*Run, hits []float64, in func(*Run) bool) Group {
	g := Group{Name: name}
	var found, differences inference.Rows
	flagged, after := 0, 0
	for i, r := range runs {
		if !in(r) {
			continue
		}
		g.Turns += len(r.turns)
		after += r.after()
		for k := range r.turns {
			if r.turns[k].trivial {
				flagged++
			}
		}
		trivial := 0.0
		if r.turns[r.Mistake].trivial {
			trivial = 1
		}
		found = append(found, []float64{hits[i] / Deals, 1})
		differences = append(differences, []float64{hits[i]/Deals - trivial, 1})
	}
	g.Runs = len(found)
	g.After, g.Flagged = ratio(after, g.Turns), ratio(flagged, g.Turns)
	g.Guard, g.Interval = bootstrap(found)
	g.Difference, g.Between = bootstrap(differences)
	g.Trivial = g.Guard - g.Difference
	return g
}

func ratio(a, b int) float64 { return float64(a) / float64(max(b, 1)) }

// An Interval is one of 95 %, NaN for fewer than [MinRuns] runs, which is null in JSON.
type Interval [2]float64

// MarshalJSON implements json.Marshaler.
func (i Interval) MarshalJSON() ([]byte, error) {
	if math.IsNaN(i[0]) || math.IsNaN(i[1]) {
		return []byte("null"), nil
	}
	return json.Marshal([2]float64(i))
}

// bootstrap returns the ratio of two sums over runs, and its interval.
func bootstrap(runs inference.Rows) (whole float64, interval Interval) {
	ratio := func(total, out []float64) { out[0] = total[0] / max(total[1], 1) }
	var sum [2]float64
	for _, r := range runs {
		sum[0], sum[1] = sum[0]+r[0], sum[1]+r[1]
	}
	return sum[0] / max(sum[1], 1), inference.Intervals(runs, ratio, 1, 2000)[0]
}
