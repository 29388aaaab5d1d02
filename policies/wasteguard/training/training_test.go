package training

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/wasteguard"
	"github.com/folkmoot/moot/transcripts"
)

// talk is a conversation of three agents and a person, who asks at the start. The turns in
// which text is not empty have that text.
func talk(id, task string, turns int, text map[int]string) *transcripts.Conversation {
	c := &transcripts.Conversation{
		ID: id, Extra: policy.JSON(fmt.Sprintf(`{"objective":%q}`, task)),
		Participants: []transcripts.Participant{
			{ID: "ann", Kind: transcripts.KindHuman},
			{ID: "dba", Kind: transcripts.KindAgent},
			{ID: "sec", Kind: transcripts.KindAgent},
			{ID: "shell", Kind: transcripts.KindTool},
		},
	}
	for i := range turns {
		speaker := "ann"
		if i > 0 {
			speaker = []string{"dba", "sec", "shell"}[i%3]
		}
		line := text[i]
		if line == "" {
			line = "We go on with the next part of this work."
		}
		c.Turns = append(c.Turns, transcripts.Turn{I: i, Speaker: speaker, Text: line})
	}
	return c
}

const guess = "Let us assume some values instead:\n```\nx = y\n```"

// planted are runs whose error is the only turn that assumes values, at varying places
// and never the first turn of a speaker.
func planted(n int) []*Run {
	var runs []*Run
	for i := range n {
		at := 4 + i%7
		c := talk(fmt.Sprintf("team/%d", i), fmt.Sprintf("task %d", i/2), 14, map[int]string{at: guess, 1: strings.Repeat("The plan is long. ", 20)})
		runs = append(runs, NewRun(c, at))
	}
	return runs
}

// TestPlantedErrors: a model learns what errors have in common, and finds them in runs
// that it has not seen; the trivial rule finds none.
func TestPlantedErrors(t *testing.T) {
	t.Parallel()
	f := Measure(planted(20), 5, nil)
	g := f.All()
	if g.Name != "team" || g.Runs != 20 || g.Turns != 280 || g.Trivial != 0 || g.Guard != 1 || g.Difference != 1 || g.Between != [2]float64{1, 1} {
		t.Errorf("got %+v", g)
	}
	if math.Abs(g.Flagged-1./14) > 1e-9 {
		t.Errorf("%v of the turns are flagged, want one of 14", g.Flagged)
	}
	m := Learn(planted(20))
	var largest []string
	for i, w := range m.Weights {
		if w > .5 {
			largest = append(largest, wasteguard.Names[i])
		}
	}
	if !slices.Equal(largest, []string{"code", "invented"}) {
		t.Errorf("the weights of %v are large: %v", largest, m.Weights)
	}
}

// TestNothingToLearn: where errors look like all other turns, the figures do not say that
// learning helps.
func TestNothingToLearn(t *testing.T) {
	t.Parallel()
	var runs []*Run
	for i := range 40 {
		runs = append(runs, NewRun(talk(fmt.Sprintf("team/%d", i), fmt.Sprint(i), 20, map[int]string{1: strings.Repeat("long ", 80)}), 1+i*7%19))
	}
	if g := Measure(runs, 5, nil).All(); g.Between[0] > 0 {
		t.Errorf("got %+v", g)
	}
}

// TestSameBytes: the same runs teach the same model, to the byte, in any order.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	want := string(Learn(planted(12)).AppendJSON(nil))
	again := planted(12)
	slices.Reverse(again)
	if got := string(Learn(again).AppendJSON(nil)); got != want {
		t.Errorf("got %s, then %s", want, got)
	}
}

// TestModelIsReadBack: a policy that reads the model flags what the model scores.
func TestModelIsReadBack(t *testing.T) {
	t.Parallel()
	m := Learn(planted(12))
	settings := append(append([]byte(`{"flag":5,"model":`), m.AppendJSON(nil)...), '}')
	if !json.Valid(settings) {
		t.Fatalf("no JSON: %s", settings)
	}
	p := wasteguard.New(nil)
	if err := p.Configure([]byte(strings.Replace(string(settings), "{", `{"fallback":"decline",`, 1))); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int][]int{7: {7}, 0: nil} { // turn 0 is a person's
		if got := flagged(p, talk("new", "", 12, map[int]string{at: guess})); !slices.Equal(got, want) {
			t.Errorf("flagged are the turns %v, want %v", got, want)
		}
	}
}

// flagged returns the turns of a conversation that a policy flags.
func flagged(p *wasteguard.Policy, c *transcripts.Conversation) (turns []int) {
	g := Guard{Policy: p}
	for _, x := range c.Participants {
		g.Join(x)
	}
	for i := range c.Turns {
		if g.Flags(c.Turns[i].Speaker, c.Turns[i].Text) {
			turns = append(turns, i)
		}
	}
	return turns
}

// TestGuardIsThePolicy: a guard flags the turns at which the policy declines when it is
// asked after each.
func TestGuardIsThePolicy(t *testing.T) {
	t.Parallel()
	c := talk("r", "", 30, map[int]string{3: guess, 8: guess + strings.Repeat(" 1234", 3000), 12: guess, 20: guess})
	p := wasteguard.New(nil)
	if err := p.Configure(policy.JSON(`{"flag":30,"fallback":"decline"}`)); err != nil {
		t.Fatal(err)
	}
	var got []int
	var in policy.Input
	for i, x := range []string{policy.Human, policy.Local, policy.Local, policy.Local} {
		a := policy.Agent{ID: c.Participants[i].ID, Kind: x}
		if a.ID == "shell" {
			a.Role = "tool"
		}
		in.Agents = append(in.Agents, a)
	}
	for i := range c.Turns {
		e := policy.Event{Turn: i + 1, From: c.Turns[i].Speaker, Kind: policy.KindMessage, Text: c.Turns[i].Text, Bytes: len(c.Turns[i].Text)}
		if i == 0 {
			e.Kind = policy.KindHuman
		}
		e.Text = e.Text[:min(len(e.Text), policy.DefText)]
		in.Init, in.Turn, in.Events = i == 0, i+2, []policy.Event{e}
		d := p.Decide(&in)
		if d.State != nil {
			in.State = d.State
		}
		if strings.HasPrefix(d.Reason, "a person should look at turn ") {
			got = append(got, i)
		}
	}
	if want := flagged(p, c); len(got) < 3 || len(got) > 20 || !slices.Equal(got, want) {
		t.Errorf("the policy declines after %v, the guard flags %v", got, want)
	}
}

// TestOneTaskIsInOnePart: the runs of a task are judged without learning from each other.
func TestOneTaskIsInOnePart(t *testing.T) {
	t.Parallel()
	runs := planted(30)
	seen := map[string]bool{}
	for deal := range 4 {
		part := partsOf(runs, 5, deal)
		for i := 0; i < len(runs); i += 2 {
			if part[i] != part[i+1] {
				t.Errorf("deal %d: the runs of %s are in parts %d and %d", deal, runs[i].Task, part[i], part[i+1])
			}
		}
		for p := range 5 {
			if !slices.Contains(part, p) {
				t.Errorf("deal %d: part %d is empty", deal, p)
			}
		}
		seen[fmt.Sprint(part)] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d different deals of 4", len(seen))
	}
}

// TestWorking counts what given flags do, by the definitions in docs/waste.md.
func TestWorking(t *testing.T) {
	t.Parallel()
	run := func(id string, turns, mistake int) *Run {
		return NewRun(talk(id, id, turns, nil), mistake)
	}
	runs := []*Run{run("a", 10, 4), run("b", 10, 4), run("c", 10, 4), run("d", 10, 9)}
	var sum tally
	for range Deals {
		// a: a false alarm, then a flag one turn late; b: the error itself, twice flagged after;
		// c: none; d: the error is the last turn and is flagged.
		sum.add(runs, [][]int{{5, 2}, {4, 7, 8}, nil, {9}})
	}
	w := sum.working(runs, .15)
	want := Working{
		Flagged: 6. / 40, Has: 2. / 4, Saved: (4. + 5) / 15, First: 5. / 15, Early: 1. / 4, EarlyIn: 1. / 4,
		Chance: w.Chance, Interval: w.Interval,
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"flagged", w.Flagged, want.Flagged},
		{"has", w.Has, want.Has},
		{"saved", w.Saved, want.Saved},
		{"first", w.First, want.First},
		{"early", w.Early, want.Early},
		{"early runs", w.EarlyIn, want.EarlyIn},
		{"chance of one", byChance(2, .5), .5*2 + .25*1},
		{"chance of none", byChance(7, 0), 0},
		{"certain", byChance(7, 1), 7},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if w.Interval[0] > w.Saved || w.Interval[1] < w.Saved || w.Interval[0] == w.Interval[1] {
		t.Errorf("interval %v of %v", w.Interval, w.Saved)
	}
}

// TestTrivialRule: it flags the first turn of a speaker over 300 bytes, except the first
// turn of the run.
func TestTrivialRule(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 301)
	r := NewRun(talk("r", "", 8, map[int]string{0: long, 1: long, 2: long[1:], 4: long, 5: long, 6: long}), 2)
	var got []int
	for k := range r.turns {
		if r.turns[k].trivial {
			got = append(got, k)
		}
	}
	// 1 is the first of sec; 2 and 3 are the first ones of shell and dba, but short.
	if !slices.Equal(got, []int{1}) {
		t.Errorf("flagged are %v", got)
	}
	if r.turns[0].judged || !r.turns[1].judged {
		t.Error("a person's turn is judged, or an agent's is not")
	}
}

// TestFewRuns: a group of fewer than six runs has no intervals, and they are null in JSON.
func TestFewRuns(t *testing.T) {
	t.Parallel()
	runs := planted(12)
	for _, r := range runs[:4] {
		r.ID = "small/" + r.ID
	}
	text, err := json.Marshal(Measure(runs, 5, nil).Groups)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Name     string
		Runs     int
		Interval *[2]float64
		Between  *[2]float64 `json:"difference_interval"`
	}
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		name string
		runs int
		has  bool
	}{{"small/team", 4, false}, {"team", 8, true}, {"all", 12, true}} {
		g := groups[i]
		if g.Name != want.name || g.Runs != want.runs || (g.Interval != nil) != want.has || (g.Between != nil) != want.has {
			t.Errorf("got %+v, want %+v", g, want)
		}
	}
}
