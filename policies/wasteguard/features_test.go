package wasteguard

import (
	"math"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

func TestFeatures(t *testing.T) {
	t.Parallel()
	in := &policy.Input{Agents: []policy.Agent{
		{ID: "ann", Kind: policy.Human},
		{ID: "dba", Kind: policy.Local},
		{ID: "Computer_terminal", Kind: policy.Local},
		{ID: "CodeExecutor", Kind: policy.Local},
		{ID: "catoolic", Kind: policy.Local},
		{ID: "run", Kind: policy.Local, Role: "tool"},
	}}
	for _, c := range []struct {
		about, from, text string
		watch             Watch
		bytes             int
		want              map[int]float64
	}{
		{about: "plain", from: "dba", text: "fine", want: map[int]float64{length: log2(5)}},
		{about: "the fourth message, after a person", from: "dba", watch: Watch{3, true}, want: map[int]float64{position: 2, squared: 4, asked: 1}},
		{about: "a tool by its role", from: "run", want: map[int]float64{tool: 1}},
		{about: "a tool by a word of its id", from: "Computer_terminal", want: map[int]float64{tool: 1}},
		{about: "a tool by a capital", from: "CodeExecutor", want: map[int]float64{tool: 1}},
		{about: "no word begins there", from: "catoolic", want: map[int]float64{}},
		{about: "digits, code and a cut text", from: "dba", text: "```1234567```", bytes: 1023, want: map[int]float64{length: 10, digits: 3, code: 1}},
		{about: "items of a list", from: "dba", text: "- a\n  12. b\n* c\n-d\n3) e\nx - y", want: map[int]float64{length: log2(1 + 29), digits: 2, list: 2}},
		{about: "words", from: "dba", text: "ASSUMING it Failed", want: map[int]float64{length: log2(19), invented: 1, failure: 1}},
		{about: "parts of words", from: "dba", text: "reassume unfailing terrors", want: map[int]float64{length: log2(27)}},
		{about: "two words", from: "dba", text: "it timed out", want: map[int]float64{length: log2(13), failure: 1}},
	} {
		w := c.watch
		x, ok := w.Next(in, &policy.Event{From: c.from, Kind: policy.KindMessage, Text: c.text, Bytes: max(c.bytes, len(c.text))})
		if !ok || w.Said != c.watch.Said+1 || w.Person {
			t.Errorf("%s: judged %v, then %+v", c.about, ok, w)
		}
		for i, got := range x {
			if got != c.want[i] {
				t.Errorf("%s: %s is %v, want %v", c.about, Names[i], got, c.want[i])
			}
		}
	}
	w := Watch{Said: 1}
	if _, ok := w.Next(in, &policy.Event{From: "ann", Kind: policy.KindMessage}); ok || !w.Person {
		t.Error("a person is judged")
	}
}

// TestLog2 compares with the logarithm, which it reaches at the powers of two.
func TestLog2(t *testing.T) {
	t.Parallel()
	for n := 1; n < 5000; n++ {
		want := math.Log2(float64(n))
		if got := log2(n); got > want+1e-12 || got < want-.0861 || n&(n-1) == 0 && got != want {
			t.Fatalf("log2(%d) is %v, want about %v", n, got, want)
		}
	}
}

// TestThreshold: a larger share has a lower threshold, linear between the known ones.
func TestThreshold(t *testing.T) {
	t.Parallel()
	m := &Model{Cuts: [len(Shares)]float64{8, 7, 4, 3, 2, 1, 0, -1}}
	for percent, want := range map[float64]float64{1: 8, 1.5: 7.5, 2: 7, 3: 6, 5: 4, 10: 3, 15: 2.5, 40: 0, 49: -.9, 50: -1} {
		if got := m.Threshold(percent); math.Abs(got-want) > 1e-12 {
			t.Errorf("the threshold of %v %% is %v, want %v", percent, got, want)
		}
	}
}

// TestDamagedModels: a model that is not whole is refused.
func TestDamagedModels(t *testing.T) {
	t.Parallel()
	whole := `{"fallback":"decline","model":` + string(shipped.AppendJSON(nil)) + `}`
	if err := New(nil).Configure(policy.JSON(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, replacement, want string }{
		{`"code":`, `"coda":`, `unknown key "coda"`},
		{`"tool":-1.601,`, ``, "model has no tool"},
		{`"means":`, `"meanz":`, `unknown key "meanz"`},
		{`"cuts":[`, `"cuts":[99,`, "cuts needs 8 numbers"},
		{`"cuts":[`, `"cuts":[],"cuts":[`, "cuts needs 8 numbers"},
		{`"cuts":[`, `"cuts":"`, "expected an array"},
		{`"model":{`, `"model":{},"model":{`, "model needs weights, means and cuts"},
		{`"model":{`, `"action":"pause","model":{`, "action must be decline or finish"},
		{`"model":{`, `"flag":0.5,"model":{`, "flag must be from 1 to 50"},
		{`"model":{`, `"flag":51,"model":{`, "flag must be from 1 to 50"},
	} {
		damaged := strings.Replace(whole, c.old, c.replacement, 1)
		if damaged == whole {
			t.Fatalf("%s is not in %s", c.old, whole)
		}
		if err := New(nil).Configure(policy.JSON(damaged)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.replacement, err, c.want)
		}
	}
	rising := &Model{Cuts: [len(Shares)]float64{1, 2}}
	if err := New(nil).Configure(policy.JSON(`{"fallback":"decline","model":` + string(rising.AppendJSON(nil)) + `}`)); err == nil || !strings.Contains(err.Error(), "cuts must not rise") {
		t.Errorf("rising cuts: got %v", err)
	}
}
