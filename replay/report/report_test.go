package report

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/score"
)

func TestConditions(t *testing.T) {
	r := &Report{Policies: []score.Result{
		{Policy: "a.b", Accuracy: 0.5, Errors: 0, BalancedAccuracy: score.None()},
		{Policy: "c", Accuracy: 0.7, Errors: 3, BalancedAccuracy: score.None()},
	}}
	for text, want := range map[string]string{ // the result of each gate
		"accuracy < 0.6":         "failed passed",
		"accuracy<60%":           "failed passed",
		"a.b.accuracy >= 0.5":    "failed",
		"c.accuracy == 0.7":      "failed",
		"c.errors>0":             "failed",
		"errors != 0":            "passed failed",
		"accuracy > 0.9":         "passed passed",
		"c.accuracy <= -1":       "passed",
		"balanced_accuracy < .5": "bad",
		"balanced_accuracy < 0":  "failed failed", // NaN fails
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
			r := &Report{Policies: []score.Result{{Policy: "a"}}}
			r.Judge([]Condition{c})
		}
	})
}

func TestReadRefuses(t *testing.T) {
	for _, s := range []string{"", "{}", `{"moot_replay":9}`, `{"moot_replay":1,"policies":3}`, "[1"} {
		var p *problem.Error
		if _, err := Read(strings.NewReader(s), "x.json"); !errors.As(err, &p) || p.Code != "REPLAY-REPORT" || p.Where != "x.json" {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"moot_replay":1,"policies":[{"policy":"a","accuracy":0.5,"intervals":{"accuracy":[0.4,null]}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Read(bytes.NewReader(b), "x.json")
		if err != nil {
			return
		}
		if err := Diff(r, r).WriteText(&bytes.Buffer{}); err != nil {
			t.Error(err)
		}
	})
}

func TestFormat(t *testing.T) {
	for got, want := range map[string]string{
		thousands(1842): "1,842", thousands(-1234567): "-1,234,567", thousands(12): "12", signed(-211): "−211", signed(63): "+63", signed(0): "±0",
		tokens(1_920_000): "~1.92M", tokens(25_000): "~25k", tokens(900): "~900", percent(0.714): "71.4 %", percent(math.NaN()): missing,
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
