package budget_test

import (
	"testing"
	"time"

	"github.com/folkmoot/moot/room/budget"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func tokens(at time.Duration, n int64) budget.Charge {
	return budget.Charge{At: noon.Add(at), Amounts: budget.Amounts{Tokens: n, Turns: 1}}
}

func hour(limits budget.Amounts) budget.Window {
	return budget.Budget{Hour: limits}.Windows()[0]
}

func TestMeasure(t *testing.T) {
	for name, c := range map[string]struct {
		limits  budget.Amounts
		charges []budget.Charge
		next    budget.Amounts
		want    budget.Mark
	}{
		"nothing":         {budget.Amounts{Tokens: 100}, nil, budget.Amounts{}, budget.Mark{Level: budget.Free, What: "tokens", Limit: 100}},
		"79 percent":      {budget.Amounts{Tokens: 100}, []budget.Charge{tokens(-time.Minute, 79)}, budget.Amounts{}, budget.Mark{Level: budget.Free, What: "tokens", Used: 79, Limit: 100, Share: 79}},
		"80 percent":      {budget.Amounts{Tokens: 100}, []budget.Charge{tokens(-time.Minute, 80)}, budget.Amounts{}, budget.Mark{Level: budget.Near, What: "tokens", Used: 80, Limit: 100, Share: 80}},
		"all":             {budget.Amounts{Tokens: 100}, []budget.Charge{tokens(-time.Minute, 100)}, budget.Amounts{}, budget.Mark{Level: budget.Used, What: "tokens", Used: 100, Limit: 100, Share: 100, Until: noon.Add(59 * time.Minute)}},
		"just old enough": {budget.Amounts{Tokens: 100}, []budget.Charge{tokens(-time.Hour, 100)}, budget.Amounts{}, budget.Mark{Level: budget.Free, What: "tokens", Limit: 100}},
		"not old enough":  {budget.Amounts{Tokens: 100}, []budget.Charge{tokens(1-time.Hour, 100)}, budget.Amounts{}, budget.Mark{Level: budget.Used, What: "tokens", Used: 100, Limit: 100, Share: 100, Until: noon.Add(1)}},
		"a clock that was set back": {
			budget.Amounts{Tokens: 100},
			[]budget.Charge{tokens(5*time.Hour, 100)},
			budget.Amounts{},
			budget.Mark{Level: budget.Used, What: "tokens", Used: 100, Limit: 100, Share: 100, Until: noon.Add(6 * time.Hour)},
		},
		"a prompt that fits": {budget.Amounts{Tokens: 100}, []budget.Charge{tokens(-time.Minute, 60)}, budget.Amounts{Tokens: 40}, budget.Mark{Level: budget.Free, What: "tokens", Used: 60, Limit: 100, Share: 60}},
		"a prompt that passes": {
			budget.Amounts{Tokens: 100},
			[]budget.Charge{tokens(-50*time.Minute, 30), tokens(-time.Minute, 30)},
			budget.Amounts{Tokens: 41},
			budget.Mark{Level: budget.Used, What: "tokens", Used: 60, Limit: 100, Share: 60, Next: 41, Until: noon.Add(10 * time.Minute)},
		},
		"a prompt without end": {budget.Amounts{Tokens: 100}, nil, budget.Amounts{Tokens: 101}, budget.Mark{Level: budget.Used, What: "tokens", Limit: 100, Next: 101}},
		"the figure that takes longest": {
			budget.Amounts{Tokens: 100, Turns: 2},
			[]budget.Charge{tokens(-50*time.Minute, 200), tokens(-time.Minute, 1)},
			budget.Amounts{},
			budget.Mark{Level: budget.Used, What: "tokens", Used: 201, Limit: 100, Share: 201, Until: noon.Add(10 * time.Minute)},
		},
		"the largest share": {budget.Amounts{Tokens: 100, Turns: 10}, []budget.Charge{tokens(-time.Minute, 85), tokens(-time.Minute, 5)}, budget.Amounts{}, budget.Mark{Level: budget.Near, What: "tokens", Used: 90, Limit: 100, Share: 90}},
	} {
		c.want.Window = budget.Hour
		if got := hour(c.limits).Measure(c.charges, noon, c.next); got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for want, m := range map[string]budget.Mark{
		"82 % of the tokens of an hour (~82 of 100)":                                     {Window: budget.Hour, What: "tokens", Used: 82, Limit: 100, Share: 82, Estimated: true},
		"50 % of the cost of a day (0.25 of 0.50), and the next prompt needs about 0.30": {Window: budget.Day, What: "cost", Used: 250_000, Limit: 500_000, Share: 50, Next: 300_000},
		"100 % of the tool calls of the room (3 of 3)":                                   {Window: budget.Room, What: "toolCalls", Used: 3, Limit: 3, Share: 100},
	} {
		if got := m.Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLeft(t *testing.T) {
	b := budget.Budget{Hour: budget.Amounts{Tokens: 100}, Day: budget.Amounts{Tokens: 150, Calls: 3}}
	charges := []budget.Charge{tokens(-2*time.Hour, 60), tokens(-time.Minute, 50)}
	want := budget.Amounts{Tokens: 30, Cost: -1, Turns: -1, Calls: 3, ToolCalls: -1}
	if got := budget.Left(b.Windows(), charges, noon, budget.Amounts{Tokens: 10, Turns: 1}); got != want {
		t.Errorf("left %+v, want %+v", got, want)
	}
	if got := want.Less(budget.Amounts{Tokens: 40, Cost: 9, Calls: 1}); got != (budget.Amounts{Cost: -1, Turns: -1, Calls: 2, ToolCalls: -1}) {
		t.Errorf("less %+v", got)
	}
}

// TestUntil checks, for random charges, that a seat which has used its budget may not
// speak before Until, and may at Until; and that a clock which is set back frees nothing.
func TestUntil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := budget.Amounts{Tokens: rapid.Int64Range(0, 300).Draw(t, "tokens"), Turns: rapid.Int64Range(0, 6).Draw(t, "turns")}
		if limits == (budget.Amounts{}) {
			return
		}
		var charges []budget.Charge
		for range rapid.IntRange(0, 8).Draw(t, "charges") {
			charges = append(charges, tokens(-rapid.Custom(func(t *rapid.T) time.Duration {
				return time.Duration(rapid.IntRange(-30, 70).Draw(t, "minute")) * time.Minute
			}).Draw(t, "age"), rapid.Int64Range(0, 90).Draw(t, "n")))
		}
		next := budget.Amounts{Tokens: rapid.Int64Range(0, 100).Draw(t, "next")}
		w := hour(limits)
		m := w.Measure(charges, noon, next)
		if m.Level != budget.Used {
			return
		}
		back := noon.Add(-time.Duration(rapid.IntRange(0, 3000).Draw(t, "back")) * time.Minute)
		if b := w.Measure(charges, back, next); b.Level != budget.Used {
			t.Fatalf("at %v it is %+v, and %v earlier %+v", noon, m, noon.Sub(back), b)
		}
		if m.Until.IsZero() {
			if !(limits.Tokens > 0 && next.Tokens > limits.Tokens) {
				t.Fatalf("%+v has no end", m)
			}
			return
		}
		if !m.Until.After(noon) {
			t.Fatalf("%+v ends before it began", m)
		}
		if before := w.Measure(charges, m.Until.Add(-1), next); before.Level != budget.Used {
			t.Fatalf("%+v: just before its end it is %+v", m, before)
		}
		if after := w.Measure(charges, m.Until, next); after.Level == budget.Used {
			t.Fatalf("%+v: at its end it is %+v", m, after)
		}
	})
}

// BenchmarkMeasure measures a day of one turn a minute.
func BenchmarkMeasure(b *testing.B) {
	var charges []budget.Charge
	for i := range 1440 {
		charges = append(charges, tokens(-time.Duration(i)*time.Minute, 100))
	}
	w := budget.Budget{Day: budget.Amounts{Tokens: 1 << 40}}.Windows()[0]
	for b.Loop() {
		w.Measure(charges, noon, budget.Amounts{Tokens: 1})
	}
}

// TestMarks checks what of two marks says more, and which of them tells nothing new.
func TestMarks(t *testing.T) {
	later, soon := noon.Add(time.Hour), noon.Add(time.Minute)
	order := []budget.Mark{ // each says more than the one before
		{Level: budget.Free, Share: 10},
		{Level: budget.Free, Share: 70},
		{Level: budget.Near, Share: 80},
		{Level: budget.Near, Share: 95},
		{Level: budget.Used, Share: 300, Until: soon},
		{Level: budget.Used, Share: 100, Until: later},
		{Level: budget.Used, Share: 120, Until: later},
		{Level: budget.Used, Share: 5},
	}
	for i := range order {
		for k := range order {
			if got := order[i].Over(order[k]); got != (i > k) {
				t.Errorf("%+v over %+v: %t", order[i], order[k], got)
			}
		}
	}
	mark := budget.Mark{Window: budget.Hour, Level: budget.Used, What: "tokens", Used: 5, Limit: 5, Until: soon}
	same := mark
	same.Used, same.Share = 9, 180
	if !mark.Same(same) {
		t.Error("the amount alone is nothing new")
	}
	for _, change := range []func(*budget.Mark){
		func(m *budget.Mark) { m.Level = budget.Near }, func(m *budget.Mark) { m.What = "cost" }, func(m *budget.Mark) { m.Limit = 6 }, func(m *budget.Mark) { m.Until = later },
	} {
		other := mark
		if change(&other); mark.Same(other) {
			t.Errorf("%+v tells nothing new after %+v", other, mark)
		}
	}
	mark.Next = 7
	if need := mark.Need(); need != (budget.Amounts{Tokens: 7}) {
		t.Errorf("it needs %+v", need)
	}
}

// TestEstimated checks that only figures that are estimated have a ~, also if one charge
// of several is an estimate.
func TestEstimated(t *testing.T) {
	rough := budget.Charge{At: noon.Add(-time.Minute), Amounts: budget.Amounts{Tokens: 100, Cost: 100, Turns: 1, ToolCalls: 100}, Estimated: true}
	exact := rough
	exact.Estimated = false
	for _, c := range []struct {
		limits  budget.Amounts
		charges []budget.Charge
		want    bool
	}{
		{budget.Amounts{Tokens: 200}, []budget.Charge{rough, exact}, true},
		{budget.Amounts{Cost: 200}, []budget.Charge{exact, rough}, true},
		{budget.Amounts{Tokens: 200}, []budget.Charge{exact, exact}, false},
		{budget.Amounts{ToolCalls: 200}, []budget.Charge{rough, rough}, false},
		{budget.Amounts{Turns: 2}, []budget.Charge{rough, rough}, false},
	} {
		m := hour(c.limits).Measure(c.charges, noon, budget.Amounts{Tokens: 1, Cost: 1})
		if m.Estimated != c.want || m.Level != budget.Used || m.Next != 0 || m.Window != budget.Hour {
			t.Errorf("%+v of %+v: %+v", c.charges, c.limits, m)
		}
	}
}

// TestLess checks figures of which nothing is left, and that the least of two windows
// counts, in any order.
func TestLess(t *testing.T) {
	if got := (budget.Amounts{Tokens: 0, Cost: 1, Turns: -1}).Less(budget.Amounts{Tokens: 5, Cost: 1, Turns: 9}); got != (budget.Amounts{Turns: -1}) {
		t.Errorf("less %+v", got)
	}
	for _, b := range []budget.Budget{{Hour: budget.Amounts{Turns: 1}, Day: budget.Amounts{Turns: 9}}, {Hour: budget.Amounts{Turns: 9}, Day: budget.Amounts{Turns: 1}}} {
		if got := budget.Left(b.Windows(), []budget.Charge{tokens(-time.Minute, 1)}, noon, budget.Amounts{}); got.Turns != 0 {
			t.Errorf("of %+v there is %+v left", b, got)
		}
	}
}
