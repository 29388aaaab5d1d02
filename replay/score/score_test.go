package score

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestGini(t *testing.T) {
	for _, c := range []struct {
		n    []float64
		want float64
	}{{nil, 0}, {[]float64{0, 0}, 0}, {[]float64{3, 3, 3}, 0}, {[]float64{0, 0, 9}, 2.0 / 3}, {[]float64{1, 3}, 0.25}} {
		if got := gini(c.n); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("gini(%v) = %v, want %v", c.n, got, c.want)
		}
	}
}

// TestBootstrap tests two intervals. For transcripts of equal accuracy it is a
// point. For coin tosses it is about four standard errors wide, and the same at
// every run.
func TestBootstrap(t *testing.T) {
	equal, coins := make([]*sums, 50), make([]*sums, 400)
	for i := range equal {
		equal[i] = &sums{sumDecisions: 4, sumHits: 2}
	}
	for i := range coins {
		coins[i] = &sums{sumDecisions: 1, sumHits: float64(i % 2)}
	}
	accuracy := func(list []*sums) [2]Figure {
		return interval(resample(1000, 3, [][]*sums{list})[0][0], 0.025)
	}
	if i := accuracy(equal); i != [2]Figure{0.5, 0.5} {
		t.Errorf("equal transcripts: interval %v, want one half", i)
	}
	i := accuracy(coins)
	if width := float64(i[1] - i[0]); i[0] >= 0.5 || i[1] <= 0.5 || width < 0.07 || width > 0.13 {
		t.Errorf("400 coins: interval %v, want about 0.45 to 0.55", i)
	}
	if second := accuracy(coins); second != i {
		t.Errorf("400 coins: interval %v, then %v", i, second)
	}
}

// TestQuickselect compares with sorting.
func TestQuickselect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		v := make([]float64, 1+r.IntN(60))
		for i := range v {
			v[i] = float64(r.IntN(1 + r.IntN(40)))
		}
		sorted := slices.Sorted(slices.Values(v))
		k := r.IntN(len(v))
		if quickselect(v, k); v[k] != sorted[k] || slices.Max(v[:k+1]) > v[k] || slices.Min(v[k:]) < v[k] {
			t.Fatalf("index %d is %v of %v", k, v[k], sorted)
		}
	}
}

func TestFigureJSON(t *testing.T) {
	b, err := json.Marshal([]Figure{0.39757914, 1, 0, None(), -0.00004, 12.5})
	if err != nil || string(b) != "[0.3976,1,0,null,0,12.5]" {
		t.Errorf("%s, %v", b, err)
	}
	var back []Figure
	if err := json.Unmarshal(b, &back); err != nil || back[0] != 0.3976 || !back[3].IsNone() {
		t.Errorf("%v, %v", back, err)
	}
}

// TestFigureNames: every listed name is a figure, and no other is.
func TestFigureNames(t *testing.T) {
	for _, name := range FigureNames() {
		if _, ok := (&Result{}).Figure(name); !ok {
			t.Errorf("%s is listed but unknown", name)
		}
	}
	if _, ok := (&Result{}).Figure("beauty"); ok {
		t.Error("beauty is a figure")
	}
}
