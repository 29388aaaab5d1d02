package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/explore"
)

// A simulated room has three agents. The one that speaks next depends on the last one:
// the policy of the room chooses by its scores, and the policy under test chooses others.
// Each pair of speakers adds to the success of the room, so the expected outcome of both
// policies can be computed.
type simulated struct {
	decisions int
	rate      float64
	tested    [3]int // choice of the policy under test after each speaker
	rating    bool   // the outcome is a number with noise, not 0 or 1
}

var (
	simulatedAgents = []string{"a", "b", "c"}
	simulatedChoice = [3]int{1, 2, 0} // of the policy of the room
	simulatedScores = [3][]policy.Score{
		{{Agent: "a", Score: 0.2}, {Agent: "b", Score: 0.6}, {Agent: "c", Score: 0.2}},
		{{Agent: "a", Score: 0.2}, {Agent: "b", Score: 0.2}, {Agent: "c", Score: 0.6}},
		{{Agent: "a", Score: 0.6}, {Agent: "b", Score: 0.2}, {Agent: "c", Score: 0.2}},
	}
	simulatedGain = [3][3]float64{{-.3, .9, -.6}, {-.5, -.2, .8}, {.7, -.7, -.3}}
)

// success is the expected outcome of a room whose gains have the sum x.
func (s simulated) success(x float64) float64 {
	if s.rating {
		return x
	}
	return 1 / (1 + math.Exp(-x))
}

// truth is the expected outcome when the policy under test makes the decisions for which
// tests is true and the room explores at the others.
func (s simulated) truth(at, last int, gain float64, tests func(int) bool) float64 {
	if at == s.decisions {
		return s.success(gain)
	}
	if tests(at) {
		next := s.tested[last]
		return s.truth(at+1, next, gain+simulatedGain[last][next], tests)
	}
	mean := 0.0
	for next, q := range explore.Distribution(simulatedAgents, simulatedScores[last]) {
		p := s.rate * q
		if next == simulatedChoice[last] {
			p += 1 - s.rate
		}
		mean += p * s.truth(at+1, next, gain+simulatedGain[last][next], tests)
	}
	return mean
}

// run draws one room: its weights for the policy under test, and its outcome.
func (s simulated) run(id string, random *rand.Rand) (drawn, float64) {
	d := drawn{}
	d.begin()
	last, gain := 0, 0.0
	for at := range s.decisions {
		choice, scores := simulatedAgents[simulatedChoice[last]], simulatedScores[last]
		taken, _ := explore.Draw(s.rate, room.Seed(id, int64(at)), int64(at), choice, simulatedAgents, scores)
		tested := simulatedAgents[s.tested[last]]
		d.weigh(tested == taken, explore.Propensity(s.rate, tested, choice, simulatedAgents, scores))
		next := int(taken[0] - 'a')
		gain += simulatedGain[last][next]
		last = next
	}
	outcome := gain + random.NormFloat64()
	if !s.rating {
		outcome = indicator(random.Float64() < s.success(gain))
	}
	return d, outcome
}

// estimates draws rooms and estimates what TestCoverage compares.
func (s simulated) estimates(run, rooms int) (whole, single *Estimate) {
	random := rand.New(rand.NewPCG(seed, uint64(run)))
	var wholes, singles, recorded, decisions []weighted
	for i := range rooms {
		d, y := s.run(fmt.Sprintf("r%d.%d", run, i), random)
		wholes, singles = append(wholes, d.whole.of(y)), append(singles, d.single.of(y))
		recorded, decisions = append(recorded, equally(1, y)), append(decisions, equally(s.decisions, y))
	}
	spread := variance(recorded)
	return estimate(wholes, recorded, rooms, "rooms", spread, !s.rating), estimate(singles, decisions, rooms*s.decisions, "decisions", spread, !s.rating)
}

func (e *Estimate) covers(truth float64) bool {
	return float64(e.Interval[0]) <= truth && truth <= float64(e.Interval[1])
}

// TestCoverage draws 1,000 replays of rooms whose truth is known. The 95 % intervals have
// to cover it in at least 93 % of those that print a number, and a setting in which the
// weights are worth less than a tenth of the rooms has to print none. -v prints the table
// of docs/replay.md.
func TestCoverage(t *testing.T) {
	const runs = 1000
	far, near := [3]int{1, 0, 0}, [3]int{1, 2, 1}
	for _, c := range []struct {
		simulated
		rooms         int
		whole, single bool // at least nine of ten replays print it
	}{
		{simulated{2, 0.3, near, false}, 100, true, true},
		{simulated{2, 0.3, near, true}, 100, true, true},
		{simulated{3, 0.5, near, false}, 100, false, true},
		{simulated{6, 0.2, near, false}, 60, false, true},
		{simulated{6, 0.2, near, true}, 60, false, true},
		{simulated{5, 0.3, far, false}, 60, false, true},
		{simulated{2, 0.9, far, true}, 40, false, true},
		{simulated{6, 0.1, near, false}, 60, false, false},
	} {
		always := func(int) bool { return true }
		truth, mean := c.truth(0, 0, 0, always), 0.0
		for k := range c.decisions {
			mean += c.truth(0, 0, 0, func(at int) bool { return at == k }) / float64(c.decisions)
		}
		var printed, covered [2]int
		for run := range runs {
			whole, single := c.estimates(run, c.rooms)
			for k, e := range []*Estimate{whole, single} {
				if e.Note == "" {
					printed[k]++
					covered[k] += int(indicator(e.covers([]float64{truth, mean}[k])))
				}
			}
		}
		for k, wanted := range []bool{c.whole, c.single} {
			name := fmt.Sprintf("%d rooms of %d decisions, explore %v, rating %v, %s", c.rooms, c.decisions, c.rate, c.rating, []string{"whole rooms", "single decisions"}[k])
			share := float64(covered[k]) / float64(printed[k])
			t.Logf("%s: printed %d of %d, covers %.3f", name, printed[k], runs, share)
			switch {
			case wanted && (printed[k] < runs*9/10 || share < 0.93):
				t.Errorf("%s: printed %d of %d, covers %.3f", name, printed[k], runs, share)
			case !wanted && printed[k] > runs/10:
				t.Errorf("%s: printed %d of %d", name, printed[k], runs)
			}
		}
	}
}
