package explore_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/explore"
)

var three = []string{"a", "b", "c"}

func TestDistribution(t *testing.T) {
	for name, x := range map[string]struct {
		scores []policy.Score
		want   []float64
	}{
		"no scores":         {nil, []float64{1. / 3, 1. / 3, 1. / 3}},
		"all zero":          {[]policy.Score{{Agent: "a"}, {Agent: "b"}, {Agent: "c"}}, []float64{1. / 3, 1. / 3, 1. / 3}},
		"shares":            {[]policy.Score{{Agent: "a", Score: 0.6}, {Agent: "b", Score: 0.3}, {Agent: "c", Score: 0.1}}, []float64{.3 + 1./6, .15 + 1./6, .05 + 1./6}},
		"one without":       {[]policy.Score{{Agent: "a", Score: 3}, {Agent: "b", Score: 1}}, []float64{.375 + 1./6, .125 + 1./6, 1. / 6}},
		"of others":         {[]policy.Score{{Agent: "x", Score: 3}, {Agent: "b", Score: 1}}, []float64{1. / 6, .5 + 1./6, 1. / 6}},
		"negative":          {[]policy.Score{{Agent: "a", Score: -1}, {Agent: "b", Score: -3}, {Agent: "c", Score: -5}}, []float64{4./12 + 1./6, 2./12 + 1./6, 1. / 6}},
		"negative, without": {[]policy.Score{{Agent: "a", Score: -1}, {Agent: "b", Score: -3}}, []float64{.5 + 1./6, 1. / 6, 1. / 6}},
		"equal, negative":   {[]policy.Score{{Agent: "a", Score: -1}, {Agent: "b", Score: -1}}, []float64{1. / 3, 1. / 3, 1. / 3}},
		"twice":             {[]policy.Score{{Agent: "a", Score: 9}, {Agent: "a", Score: 0}, {Agent: "b", Score: 1}}, []float64{1. / 6, .5 + 1./6, 1. / 6}},
		"huge":              {[]policy.Score{{Agent: "a", Score: math.MaxFloat64}, {Agent: "b", Score: math.MaxFloat64}, {Agent: "c", Score: -math.MaxFloat64}}, []float64{.25 + 1./6, .25 + 1./6, 1. / 6}},
	} {
		got := explore.Distribution(three, x.scores)
		for i := range x.want {
			if math.Abs(got[i]-x.want[i]) > 1e-12 {
				t.Errorf("%s: %v, want %v", name, got, x.want)
				break
			}
		}
	}
}

// TestPropensities draws rosters, scores and rates: the probabilities of all agents
// have the sum 1, each agent has at least its part of the even half, and the propensity
// that Draw states is that of the agent that it takes.
func TestPropensities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "agents")
		rate := rapid.Float64Range(0, 1).Draw(t, "rate")
		var agents []string
		var scores []policy.Score
		for i := range n {
			agents = append(agents, fmt.Sprint("a", i))
			if rapid.Bool().Draw(t, "stated") {
				scores = append(scores, policy.Score{Agent: agents[i], Score: rapid.Float64().Draw(t, "score")})
			}
		}
		choice := rapid.SampledFrom(agents).Draw(t, "choice")
		q := explore.Distribution(agents, scores)
		all := 0.0
		p := map[string]float64{}
		for i, id := range agents {
			p[id] = rate * q[i]
			if id == choice {
				p[id] += 1 - rate
			}
			if all += p[id]; q[i] < 0.5/float64(n)-1e-12 {
				t.Fatalf("%s has %v of 1 in %d", id, q[i], n)
			}
		}
		if math.Abs(all-1) > 1e-9 {
			t.Fatalf("the propensities have the sum %v", all)
		}
		taken, c := explore.Draw(rate, rapid.StringN(0, 40, -1).Draw(t, "seed"), 7, choice, agents, scores)
		if math.Abs(c.Propensity-p[taken]) > 1e-12 || c.Choice != choice || taken != choice && !c.Explored {
			t.Fatalf("took %s with %+v, want %v", taken, c, p)
		}
	})
}

// TestDraws compares how often each agent is taken with what the propensities say.
func TestDraws(t *testing.T) {
	const n = 40_000
	scores := []policy.Score{{Agent: "a", Score: 0.2}, {Agent: "b", Score: 0.7}, {Agent: "c", Score: 0.1}}
	taken, weights := map[string]float64{}, 0.0
	for i := range n {
		who, c := explore.Draw(0.3, fmt.Sprint("seed", i/2), int64(i%2), "b", three, scores)
		taken[who]++
		weights += 1 / c.Propensity
	}
	for i, q := range explore.Distribution(three, scores) {
		p := 0.3 * q
		if three[i] == "b" {
			p += 0.7
		}
		if sd := math.Sqrt(p * (1 - p) / n); math.Abs(taken[three[i]]/n-p) > 4*sd {
			t.Errorf("%s was taken in %v of %d, want %v", three[i], taken[three[i]], n, p)
		}
	}
	if math.Abs(weights/n-3) > 0.2 { // the Horvitz-Thompson estimate of the number of agents
		t.Errorf("the inverse propensities have the mean %v, want 3", weights/n)
	}
}

// TestDrawAgain pins draws: a release that draws others cannot check the rooms of this one.
func TestDrawAgain(t *testing.T) {
	got := ""
	for i := range 24 {
		taken, _ := explore.Draw(0.5, "0123456789abcdef0123456789abcdef", int64(i), "b", three, nil)
		got += taken
	}
	if got != pinned {
		t.Errorf("took %s", got)
	}
}

const pinned = "baaababcbbabbabbbbbababb"

func TestAlone(t *testing.T) {
	if taken, c := explore.Draw(1, "s", 1, "a", []string{"a"}, nil); taken != "a" || c != (explore.Choice{Choice: "a", Propensity: 1, Kept: explore.KeptOnly}) {
		t.Errorf("took %s with %+v", taken, c)
	}
}
