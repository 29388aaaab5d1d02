package training

import (
	"math"

	"github.com/folkmoot/moot/internal/inference"
)

// flagsAt returns, by run, the turns of the group with the highest scores, so many that
// they are the share of its turns.
func flagsAt(runs []*Run, scores outcome, share float64) [][]int {
	flags := make([][]int, len(runs))
	for _, name := range groups(runs) {
		turns := 0
		in := func(r *Run) bool { return r.group() == name }
		for _, r := range runs {
			if in(r) {
				turns += len(r.turns)
			}
		}
		for _, p := range best(runs, scores, int(share*float64(turns)), in) {
			flags[p.run] = append(flags[p.run], p.turn)
		}
	}
	return flags
}

// A tally sums up what flags do, over the deals, by run.
type tally struct {
	has, saved, first, early, earlyIn, flagged []float64
}

func (t *tally) add(runs []*Run, flags [][]int) {
	var one tally
	for i, r := range runs {
		has, early, hit := 0.0, 0, len(r.turns)
		for _, k := range flags[i] {
			if k < r.Mistake {
				early++
			} else {
				hit = min(hit, k)
			}
			if k == r.Mistake {
				has = 1
			}
		}
		saved := float64(max(0, len(r.turns)-1-hit))
		first := saved
		if early > 0 {
			first = 0
		}
		one.has, one.saved, one.first = append(one.has, has), append(one.saved, saved), append(one.first, first)
		one.early, one.earlyIn = append(one.early, float64(early)), append(one.earlyIn, math.Min(float64(early), 1))
		one.flagged = append(one.flagged, float64(len(flags[i])))
	}
	t.has, t.saved, t.first = add(t.has, one.has), add(t.saved, one.saved), add(t.first, one.first)
	t.early, t.earlyIn, t.flagged = add(t.early, one.early), add(t.earlyIn, one.earlyIn), add(t.flagged, one.flagged)
}

func (t *tally) working(runs []*Run, share float64) Working {
	var w Working
	var saved inference.Rows
	turns, after, chance := 0, 0, 0.0
	n := float64(Deals * len(runs))
	for i, r := range runs {
		turns += len(r.turns)
		after += r.after()
		saved = append(saved, []float64{t.saved[i] / Deals, float64(r.after())})
		chance += byChance(r.after(), share)
		w.Has += t.has[i] / n
		w.First += t.first[i] / Deals
		w.Early += t.early[i] / n
		w.EarlyIn += t.earlyIn[i] / n
		w.Flagged += t.flagged[i] / Deals
	}
	w.Flagged /= float64(turns)
	w.First /= float64(max(after, 1))
	w.Chance = chance / float64(max(after, 1))
	w.Saved, w.Interval = bootstrap(saved)
	return w
}

// byChance is the expected number of turns that are saved in a run with so many turns
// after its error, if each turn is flagged with probability p: the flag comes first in
// turn i after the error with probability p(1-p)^i.
func byChance(after int, p float64) (saved float64) {
	for i := range after + 1 {
		saved += p * math.Pow(1-p, float64(i)) * float64(after-i)
	}
	return saved
}
