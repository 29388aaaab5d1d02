package replay

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestGini(t *testing.T) {
	for _, c := range []struct {
		n    []int
		want float64
	}{{nil, 0}, {[]int{0, 0}, 0}, {[]int{3, 3, 3}, 0}, {[]int{0, 0, 9}, 2.0 / 3}, {[]int{1, 3}, 0.25}} {
		if got := gini(c.n); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("gini(%v) = %v, want %v", c.n, got, c.want)
		}
	}
}

// TestBootstrap: of transcripts that all have the same accuracy the interval
// is a point; of coin tosses it is about two standard errors wide, and the
// same at every run.
func TestBootstrap(t *testing.T) {
	same, coin := make([]*sums, 50), make([]*sums, 400)
	for i := range same {
		same[i] = &sums{sDecisions: 4, sHits: 2}
	}
	for i := range coin {
		coin[i] = &sums{sDecisions: 1, sHits: float64(i % 2)}
	}
	at := func(list []*sums) [2]Figure {
		return interval(intervals(Config{Resamples: 1000, Workers: 3}, [][]*sums{list})[0][0])
	}
	if i := at(same); i != [2]Figure{0.5, 0.5} {
		t.Errorf("interval %v of what is always one half", i)
	}
	i := at(coin)
	if width := float64(i[1] - i[0]); i[0] >= 0.5 || i[1] <= 0.5 || width < 0.07 || width > 0.13 {
		t.Errorf("interval %v of 400 coins, expected about 0.45 to 0.55", i)
	}
	if again := at(coin); again != i {
		t.Errorf("%v, then %v", i, again)
	}
	if one := at(coin[:1]); !math.IsNaN(float64(one[0])) {
		t.Errorf("interval %v of one transcript", one)
	}
}

// TestOrder: the values that an interval is made of are those of the sorted
// list.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		v := make([]float64, 1+r.IntN(60))
		for i := range v {
			v[i] = float64(r.IntN(1 + r.IntN(40)))
		}
		sorted := slices.Sorted(slices.Values(v))
		k := r.IntN(len(v))
		if order(v, k); v[k] != sorted[k] || slices.Max(v[:k+1]) > v[k] || slices.Min(v[k:]) < v[k] {
			t.Fatalf("place %d is %v of %v", k, v[k], sorted)
		}
	}
}

func TestPValue(t *testing.T) {
	a, b := make([]float64, 1000), make([]float64, 1000)
	for i := range a {
		a[i], b[i] = float64(i%10), float64(i%10)+1
	}
	if p := pValue(a, b); p > 0.01 {
		t.Errorf("p = %v for what always differs", p)
	}
	if p := pValue(a, a); p != 1 {
		t.Errorf("p = %v for the same", p)
	}
}

func TestFigureJSON(t *testing.T) {
	b, err := json.Marshal([]Figure{0.39757914, 1, 0, Figure(math.NaN()), -0.00004, 12.5})
	if err != nil || string(b) != "[0.3976,1,0,null,0,12.5]" {
		t.Errorf("%s, %v", b, err)
	}
	var back []Figure
	if err := json.Unmarshal(b, &back); err != nil || back[0] != 0.3976 || !math.IsNaN(float64(back[3])) {
		t.Errorf("%v, %v", back, err)
	}
}

func TestConditions(t *testing.T) {
	r := &Report{Policies: []Result{
		{Policy: "a.b", Accuracy: 0.5, Errors: 0, BalancedAccuracy: Figure(math.NaN())},
		{Policy: "c", Accuracy: 0.7, Errors: 3, BalancedAccuracy: Figure(math.NaN())},
	}}
	for text, want := range map[string]string{ // verdict of each gate
		"accuracy < 0.6":         "failed passed",
		"accuracy<60%":           "failed passed",
		"a.b.accuracy >= 0.5":    "failed",
		"c.accuracy == 0.7":      "failed",
		"c.errors>0":             "failed",
		"errors != 0":            "passed failed",
		"accuracy > 0.9":         "passed passed",
		"c.accuracy <= -1":       "passed",
		"balanced_accuracy < .5": "bad",
		"balanced_accuracy < 0":  "failed failed", // nothing to measure fails
		"beauty < 1":             "bad",
		"d.accuracy < 1":         "bad",
		"accuracy":               "bad",
		"accuracy < 1; true":     "bad",
	} {
		c, err := ParseCondition(text, []string{"a.b", "c"})
		if err != nil {
			if want != "bad" {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		r.Gates = nil
		ok := r.Judge([]Condition{c})
		var got []string
		for _, g := range r.Gates {
			got = append(got, map[bool]string{true: "passed", false: "failed"}[g.Passed])
		}
		if s := strings.Join(got, " "); s != want || ok == strings.Contains(s, "failed") {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	f.Add("a.accuracy < 0.5")
	f.Add("errors>=1%")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseCondition(text, []string{"a"}); err == nil {
			r := &Report{Policies: []Result{{Policy: "a"}}}
			r.Judge([]Condition{c})
		}
	})
}

func TestFormat(t *testing.T) {
	for got, want := range map[string]string{
		thousands(1842): "1,842", thousands(-1234567): "-1,234,567", thousands(12): "12", signed(-211): "−211", signed(63): "+63", signed(0): "±0",
		tokens(1_920_000): "~1.92M", tokens(25_000): "~25k", tokens(900): "~900", percent(0.714): "71.4 %", percent(math.NaN()): "—",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
