package score

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/folkmoot/moot/replay/drive"
)

// batchOf has the transcripts of a policy that is right in half of the
// decisions and of one that is right more often by the advantage.
func batchOf(transcripts int, advantage float64) *Batch {
	rng := rand.New(rand.NewPCG(uint64(transcripts), 1))
	b := NewBatch([]drive.Policy{{Name: "a"}, {Name: "b"}}, false)
	for range transcripts {
		r := &Run{recorded: &Tally{}, tallies: []*Tally{{}, {}}}
		for _, t := range []*Tally{r.recorded, r.tallies[0], r.tallies[1]} {
			t.sums[sumDecisions] = 20
		}
		r.tallies[0].sums[sumHits] = float64(8 + rng.IntN(5))
		r.tallies[1].sums[sumHits] = r.tallies[0].sums[sumHits] + math.Round(20*advantage) + float64(rng.IntN(3)) - 1
		b.Runs = append(b.Runs, r)
	}
	return b
}

// accuracyOf compares the two policies of b in their accuracy.
func accuracyOf(b *Batch) *Comparison {
	values := b.Resample(500, 2)
	results := make([]Result, 2)
	for k, name := range []string{"a", "b"} {
		for _, m := range measures {
			*m.field(&results[k]) = None()
		}
		results[k].Policy, results[k].Accuracy = name, Figure(values.totals(k + 1)[0])
	}
	recorded := Result{Policy: RecordedName}
	for _, c := range b.Comparisons(&recorded, results, values) {
		if c.Figure == "accuracy" {
			return &c
		}
	}
	return nil
}

// TestComparison: five transcripts give no interval and no p-value, six the
// lowest one that their sign flips can give, and many a small one.
func TestComparison(t *testing.T) {
	if c := accuracyOf(batchOf(1, 0.3)); c != nil {
		t.Errorf("a single transcript is compared: %+v", c)
	}
	c := accuracyOf(batchOf(5, 0.3))
	if !c.P.IsNone() || c.PHolm != nil || !c.Interval[0].IsNone() || c.PText() != "" || c.Significant() {
		t.Errorf("five transcripts: %+v", c)
	}
	for n, want := range map[int]string{6: "p=0.0313", 10: "p=0.002", 30: "p<0.0001", 60: "p<0.0001"} {
		c := accuracyOf(batchOf(n, 0.3))
		if c.PText() != want || !c.Significant() || c.Interval[0] < 0.2 || c.Interval[1] > 0.4 || c.Interval[0] >= c.Interval[1] {
			t.Errorf("%d transcripts: %s, want %s; %+v", n, c.PText(), want, c)
		}
		if c.Detectable == nil || *c.Detectable <= 0 || *c.Detectable > 0.1 {
			t.Errorf("%d transcripts: smallest difference %v", n, c.Detectable)
		}
		if c := accuracyOf(batchOf(n, 0)); c.Significant() {
			t.Errorf("%d transcripts, no advantage: %+v", n, c)
		}
	}
}

// TestOldComparison: a report of an older release has no adjusted p-values.
func TestOldComparison(t *testing.T) {
	var c Comparison
	if err := json.Unmarshal([]byte(`{"a":"x","b":"y","figure":"gini","difference":0.1,"interval":[0.05,0.2],"p":0.02}`), &c); err != nil {
		t.Fatal(err)
	}
	if c.PText() != "p=0.02" || !c.Significant() {
		t.Errorf("%s, %v", c.PText(), c.Significant())
	}
	b, err := json.Marshal(c)
	if err != nil || strings.Contains(string(b), "holm") || strings.Contains(string(b), "detectable") {
		t.Errorf("%s, %v", b, err)
	}
}

// TestPText: a bound is printed as a bound and never rounded down.
func TestPText(t *testing.T) {
	for _, x := range []struct {
		p     float64
		below bool
		want  string
	}{{0.03125, false, "p=0.0313"}, {0.00095001, true, "p<0.001"}, {1e-9, false, "p<0.0001"}, {1, true, "p=1"}, {0.05, true, "p<0.05"}} {
		p := Figure(x.p)
		if got := (&Comparison{PHolm: &p, PBelow: x.below}).PText(); got != x.want {
			t.Errorf("%v, %v: %s, want %s", x.p, x.below, got, x.want)
		}
	}
}
