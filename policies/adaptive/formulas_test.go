package adaptive

import (
	"math"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// seated is a room of agents in which these have spoken.
func seated(t *testing.T, ids string, said ...policy.Event) *Policy {
	t.Helper()
	var agents []policy.Agent
	for _, id := range ids {
		agents = append(agents, policy.Agent{ID: string(id), Name: string(id), Kind: policy.Local, Eligible: true})
	}
	p := New()
	p.observe(&policy.Input{Agents: agents, Events: said}, true)
	return p
}

func says(from, text string) policy.Event {
	return policy.Event{From: from, Kind: policy.KindMessage, Text: text}
}

func talk(speakers string) (all []policy.Event) {
	for _, s := range speakers {
		all = append(all, says(string(s), "so it is, and here is more"))
	}
	return all
}

func (p *Policy) feature(id string, f int) float64 {
	for i := range p.room.rows {
		w := &p.room.rows[i]
		if w.id != hash(id) {
			continue
		}
		return w.x[f]
	}
	return 0
}

// TestChances works the estimates out by hand: a b c a b, and d is silent.
func TestChances(t *testing.T) {
	t.Parallel()
	p := seated(t, "abcd", talk("abcab")...)
	p.room.describe()
	// Transitions: b and c were new, then a and b had rank 2. Of the buckets,
	// rank 1, rank 2 and never are filled now.
	prior := lawPrior[0] + lawPrior[1] + lawPrior[11]
	law := map[int]float64{0: 0, 1: 2, 11: 2}
	smooth := func(n, base map[int]float64, alpha float64) map[int]float64 {
		sum, bases, out := 0.0, 0.0, map[int]float64{}
		for b := range base {
			sum += n[b]
			bases += base[b]
		}
		for b := range base {
			out[b] = (n[b] + alpha*base[b]/bases) / (sum + alpha)
		}
		return out
	}
	all := smooth(law, map[int]float64{0: lawPrior[0] / prior, 1: lawPrior[1] / prior, 11: lawPrior[11] / prior}, 4)
	after1 := smooth(map[int]float64{1: 1}, all, 4) // after one of class second: rank 2
	after2 := smooth(map[int]float64{}, after1, 4)  // after two of them: none yet
	pair := (1 + 2*after2[1]) / (1 + 2)             // c followed b once
	triple := (1 + 1.5*pair) / (1 + 1.5)            // and a b once
	turns := (1 + .5) / (2 + 1 + 0 + .5*3)          // of a, c and d
	for _, c := range []struct {
		feature int
		want    float64
	}{
		{fRecency, math.Log(all[1])},
		{fRecency2, math.Log(after2[1])},
		{fPair, math.Log(pair)},
		{fTriple, math.Log(triple)},
		{fTurns, math.Log(turns)},
		{fKind, math.Log(1.0 / 3)},
		{fSecond, 1},
		{fSilence, math.Log(3)},
		{fNear, 2.0 / 3},
		{fTopTriple, 1},
		{fTopPair, 1},
	} {
		if got := p.feature("c", c.feature); math.Abs(got-c.want) > 1e-7 {
			t.Errorf("%s of c is %.9f, want %.9f", FeatureNames[c.feature], got, c.want)
		}
	}
	if p.feature("d", fNever) != 1 || p.feature("a", fBack) != 1 || p.feature("a", fRound) != 0 || p.feature("c", fRound) != 1 {
		t.Error("d has spoken, a not before b, or the round is another")
	}
}

// TestLearning is the update by hand: Bayes with a power and a share, and one
// step up the gradient.
func TestLearning(t *testing.T) {
	t.Parallel()
	p := seated(t, "abcd", talk("abca")...)
	p.room.predict(p.model)
	n := p.model.n
	start, before := *p.room.begin(p.model), p.room.weights
	var y int
	for i := range p.room.rows {
		if p.room.rows[i].id == hash("b") {
			y = i
		}
	}
	var want [components]float64
	sum, mix, expected := 0.0, 0.0, [correctable]float64{}
	for j := range n {
		all := 0.0
		for i := range p.room.rows {
			all += p.room.rows[i].q[j]
		}
		q := p.room.rows[y].q[j] / all
		mix += before[j] * q
		want[j] = before[j] * math.Pow(max(q, 1e-6), tempering)
		sum += want[j]
	}
	if got := p.room.rows[y].p; math.Abs(got-mix) > 1e-9 {
		t.Errorf("b has %.9f, want %.9f", got, mix)
	}
	for i := range p.room.rows {
		w := &p.room.rows[i]
		for f, x := range w.x[:correctable] {
			expected[f] += w.p * x
		}
	}
	corrected := p.room.correction
	for f := range corrected {
		corrected[f] += step * (p.feature("b", f) - expected[f])
	}
	p.room.learn(p.model, hash("b"))
	for j := range n {
		w := (1-shared)*want[j]/sum + shared*start[j]
		if got := p.room.weights[j]; math.Abs(got-w) > 2e-6 {
			t.Errorf("component %d has %.7f, want %.7f", j, got, w)
		}
	}
	for f, w := range corrected {
		if got := p.room.correction[f]; math.Abs(got-w) > 2e-6 {
			t.Errorf("feature %d is corrected by %.7f, want %.7f", f, got, w)
		}
	}
}

// TestWeightsSumTo1, before and after turns, with a team and without.
func TestWeightsSumTo1(t *testing.T) {
	t.Parallel()
	for _, team := range []*Team{nil, {}} {
		p := NewWith(nil, team)
		for k := range p.model.start {
			sum := 0.0
			for _, a := range p.model.start[k] {
				sum += a
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("weights begin with a sum of %g", sum)
			}
		}
	}
}

// TestGroup: in a room of many those who never spoke share a row, and all
// probabilities still sum to 1.
func TestGroup(t *testing.T) {
	t.Parallel()
	p := seated(t, "abcdefghijklmnopqrstuvwxyz", append(talk("abcabcd"), policy.Event{
		From: "e", Kind: policy.KindMessage, Text: "ask z", Mentions: []string{"z"}, Addressed: []string{"z"},
	})...)
	p.room.predict(p.model)
	sum, size := 0.0, 0.0
	for i := range p.room.rows {
		sum += p.room.rows[i].p
		size += p.room.rows[i].size
	}
	if last := &p.room.rows[len(p.room.rows)-1]; last.size != 20 || last.id != hash("f") || size != 25 || math.Abs(sum-1) > 1e-4 {
		t.Errorf("the group is of %g from %d on, %g rows in all, probabilities sum to %g", last.size, last.seat, size, sum)
	}
	if p.feature("z", fAddressed) != 1 || p.feature("z", fNever) != 1 || p.feature("z", fHandedTo) != 1 {
		t.Error("z has no row of its own")
	}
}
