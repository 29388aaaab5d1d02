package waste

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// conversation returns a conversation of agents a and b, a tool t and a person p. Each
// line is "speaker: text".
func conversation(lines ...string) *transcripts.Conversation {
	c := &transcripts.Conversation{ID: "set/1", Participants: []transcripts.Participant{
		{ID: "a", Name: "Rowan", Kind: transcripts.KindAgent},
		{ID: "b", Kind: transcripts.KindAgent},
		{ID: "t", Kind: transcripts.KindTool},
		{ID: "p", Kind: transcripts.KindHuman},
	}}
	for i, line := range lines {
		speaker, text, _ := strings.Cut(line, ": ")
		c.Turns = append(c.Turns, transcripts.Turn{I: i, Speaker: speaker, Text: text})
	}
	return c
}

func reportOf(all ...*transcripts.Conversation) *Report {
	var a Account
	for _, c := range all {
		if err := a.AddConversation(Labels{}.Run(c, "talks.jsonl"), c); err != nil {
			panic(err)
		}
	}
	return a.Report()
}

// turnsOf returns the turns of each kind: as which they count, and in all.
func turnsOf(r *Report) string {
	text := ""
	for _, k := range r.Kinds {
		if k.OfKind.Turns > 0 && k.Kind != ResentContext {
			text += fmt.Sprintf("%s %d/%d ", k.Kind, k.Turns, k.OfKind.Turns)
		}
	}
	return strings.TrimSpace(text)
}

const (
	plan   = "we read the table of prices first and then we compare both shops"
	plan2  = "we read the table of prices first and then we compare both stores"
	report = "the second shop is cheaper by three coins for every kind of tea"
)

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"nothing", []string{"p: buy tea", "a: " + plan, "b: " + report}, ""},
		{"exact", []string{"a: " + plan, "b: " + report, "a: " + strings.ToUpper(plan[:1]) + plan[1:] + "\n"}, "exact_duplicates 1/1"},
		{"of another agent", []string{"a: " + plan, "b: " + plan}, "exact_duplicates 1/1"},
		{"of a tool", []string{"t: " + plan, "a: " + report, "t: " + plan}, "exact_duplicates 1/1"},
		{"of a person", []string{"p: " + plan, "a: " + report, "p: " + plan}, ""},
		{"short texts repeat", []string{"a: run the tests", "b: the tests fail", "a: run the tests"}, ""},
		{"near", []string{"a: " + plan, "b: " + plan2}, "near_duplicates 1/1"},
		{"not near enough", []string{"a: " + plan, "b: " + plan + " but only on Sundays after the market has closed its gates"}, ""},
		{"acknowledgements", []string{"a: " + plan, "b: Thanks, sounds good!", "a: OK, I agree with the plan."}, "acknowledgements 2/2"},
		{"loop of one", []string{"a: wait", "a: wait", "a: wait", "a: wait"}, "loops 2/2"},
		{"loop of two", strings.Split(strings.Repeat("a: ask the tool,t: no access,", 4), ",")[:8], "loops 4/4"},
		{"loop of texts", strings.Split(strings.Repeat("a: "+plan+"|b: "+report+"|", 4), "|")[:8], "loops 4/4 exact_duplicates 2/6"},
		{"a person breaks the loop", strings.Split(strings.Repeat("a: wait,p: go on,", 9), ",")[:18], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := turnsOf(reportOf(conversation(c.lines...))); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestLookBack checks that duplicates are found among the last lookBack texts.
func TestLookBack(t *testing.T) {
	for between, want := range map[int]string{lookBack - 1: "exact_duplicates 1/1", lookBack: ""} {
		lines := []string{"a: " + plan}
		for i := range between {
			lines = append(lines, fmt.Sprintf("a: %d is %d and %d after %d", i, i+1, i+2, i+3))
		}
		for last, want := range map[string]string{plan: want, plan2: strings.ReplaceAll(want, "exact", "near")} {
			if got := turnsOf(reportOf(conversation(append(lines, "b: "+last)...))); got != want {
				t.Errorf("%q after %d texts: %q, want %q", last, between, got, want)
			}
		}
	}
}

func TestAcknowledgements(t *testing.T) {
	for text, want := range map[string]bool{
		"Thanks!": true, "ok": true, "Great, I'll wait for the others.": true, "Sounds good to me": true, "Got it.": true, "Danke, verstanden.": true, "谢谢": true, "👍": true,
		"": false, "The build fails": false, "Paris": false, // news
		"Thanks, that makes 12": false, "Great, ask Security": false, "OK, use `make`": false, "Good, is it done?": false, "Sure, see /etc/hosts": false,
		"Thanks for this very long list of all the things that we have done": false, // 14 words
		"thanks, rowan": false, "OK TERMINATE": false,
	} {
		got := reportOf(conversation("a: "+plan, "b: "+text)).Kinds[Acknowledgement.place()].Turns == 1
		if got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"a: Shall we deploy?", "b: Yes, sure."}, ""}, // an answer
		{[]string{"a: Shall we deploy?", "b: Yes, sure.", "b: Great."}, "acknowledgements 1/1"},
		{[]string{"a: " + plan, "t: ok"}, ""},                                        // the result of a tool
		{[]string{"a: " + plan, "p: ok, thanks"}, ""},                                // of a person among agents
		{[]string{"x: " + plan, "y: ok, thanks"}, ""},                                // of people among agents
		{[]string{"a: Is it red?", "b: " + report, "b: ok"}, "acknowledgements 1/1"}, // b has answered before
	} {
		if got := turnsOf(reportOf(conversation(c.lines...))); got != c.want {
			t.Errorf("%q: %q, want %q", c.lines, got, c.want)
		}
	}
	people := conversation("p: "+plan, "q: ok, thanks")
	people.Participants = []transcripts.Participant{{ID: "p", Kind: transcripts.KindHuman}, {ID: "q", Kind: transcripts.KindHuman}}
	if got := turnsOf(reportOf(people)); got != "acknowledgements 1/1" {
		t.Errorf("of people alone: %q", got)
	}
}

// TestOrder checks that a turn of several kinds counts once, as the first one.
func TestOrder(t *testing.T) {
	c := conversation("p: buy tea", "a: "+plan, "b: "+plan, "a: Thanks!", "a: Thanks!", "a: Thanks!")
	c.Extra = []byte(`{"mistake_step":"1","is_correct":false}`)
	r := reportOf(c)
	if got, want := turnsOf(r), "after_error 4/4 loops 0/1 exact_duplicates 0/1 acknowledgements 0/3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	after := r.Kinds[0]
	if r.Waste.Turns != 4 || after.Tokens != 16+3*2 || r.Tokens != 2+2*16+3*2 || r.Failed != 1 || r.Labelled != 1 {
		t.Errorf("%+v", r)
	}
	if x := after.Examples; len(x) != 1 || x[0].Turn != 1 || x[0].Text != plan || x[0].Follow != 4 || x[0].Last != 5 || x[0].Tokens != after.Tokens {
		t.Errorf("examples %+v", x)
	}
}

// TestPrompts checks the tokens of prompts: all texts before, and what of them the agent
// was sent before.
func TestPrompts(t *testing.T) {
	r := reportOf(conversation("p: 12345678", "a: 1234", "b: 1234", "b: 1234", "t: 12345678", "a: 1234"))
	// a reads 2, then 2+1+1+1+2 of which 2+1 again; b reads 2+1.
	if r.Prompts != 2+3+7 || r.Kinds[resent].Prompts != 3 || r.Calls != 3 || r.EstimatedCalls != 3 {
		t.Errorf("%+v", r)
	}
	c := conversation("p: 12345678", "a: 1234", "p: 12345678", "a: 1234")
	c.Turns[1].Usage = room.Usage{Known: true, Input: 100, Output: 7}
	c.Turns[3].Usage = room.Usage{Known: true, Input: 110, Output: 9}
	r = reportOf(c)
	if r.Tokens != 2+7+2+9 || r.Prompts != 210 || r.Kinds[resent].Prompts != 108 || r.EstimatedTurns != 2 || r.EstimatedCalls != 0 {
		t.Errorf("with usage: %+v", r)
	}
}

var words = strings.Fields("ok thanks we read the table of prices and compare both shops again now I see 12 Tea why? `x`")

// drawRun draws a conversation that repeats itself, with labels.
func drawRun(rt *rapid.T) *transcripts.Conversation {
	var lines []string
	for range rapid.IntRange(0, 40).Draw(rt, "turns") {
		if n := len(lines); n > 0 && rapid.Bool().Draw(rt, "again") {
			lines = append(lines, lines[rapid.IntRange(max(0, n-4), n-1).Draw(rt, "which")])
			continue
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 14).Draw(rt, "text"), " ")
		lines = append(lines, rapid.SampledFrom([]string{"a", "b", "t", "p"}).Draw(rt, "speaker")+": "+text)
	}
	c := conversation(lines...)
	if len(lines) > 0 && rapid.Bool().Draw(rt, "labelled") {
		c.Extra = fmt.Appendf(nil, `{"mistake_step":%d,"success":%t}`, rapid.IntRange(0, len(lines)-1).Draw(rt, "mistake"), rapid.Bool().Draw(rt, "success"))
	}
	for i := range c.Turns {
		if rapid.IntRange(0, 3).Draw(rt, "known") == 0 {
			c.Turns[i].Usage = room.Usage{Known: true, Input: int64(rapid.IntRange(0, 500).Draw(rt, "in")), Output: int64(rapid.IntRange(0, 50).Draw(rt, "out"))}
		}
	}
	return c
}

// TestKindsAddUp checks that the kinds add up to the waste and do not exceed the total,
// and that groups do.
func TestKindsAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var a Account
		for range rapid.IntRange(0, 3).Draw(rt, "runs") {
			c := drawRun(rt)
			c.ID = rapid.SampledFrom([]string{"x/1", "x/2", "y/1", "z"}).Draw(rt, "id")
			if err := a.AddConversation(Labels{}.Run(c, "f.jsonl"), c); err != nil {
				rt.Fatal(err)
			}
		}
		r := a.Report()
		var turns, tokens, prompts, groupTurns, groupTokens, groupPrompts, runs int64
		for _, k := range r.Kinds {
			if k.Kind != ResentContext {
				turns += k.Turns
			}
			tokens, prompts = tokens+k.Tokens, prompts+k.Prompts
			if k.Turns > k.OfKind.Turns || k.Tokens > k.OfKind.Tokens || k.Prompts > k.OfKind.Prompts || k.OfKind.Prompts > r.Prompts {
				rt.Fatalf("%s: %+v of %+v", k.Kind, k.Part, k.OfKind)
			}
		}
		for _, g := range r.Groups {
			groupTurns, groupTokens, groupPrompts, runs = groupTurns+g.Waste.Turns, groupTokens+g.Waste.Tokens, groupPrompts+g.Waste.Prompts, runs+g.Runs
		}
		got, want := []int64{turns, tokens, prompts, groupTurns, groupTokens, groupPrompts, runs}, []int64{
			r.Waste.Turns, r.Waste.Tokens, r.Waste.Prompts, r.Waste.Turns, r.Waste.Tokens, r.Waste.Prompts, r.Runs,
		}
		if !reflect.DeepEqual(got, want) || turns > r.Turns || tokens > r.Tokens || prompts > r.Prompts {
			rt.Fatalf("parts %v, waste %v, of %d turns, %d tokens, %d of prompts", got, want, r.Turns, r.Tokens, r.Prompts)
		}
	})
}

// TestRenaming checks that the ids of participants change nothing but the ids.
func TestRenaming(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawRun(rt)
		before, err := json.Marshal(reportOf(c))
		if err != nil {
			rt.Fatal(err)
		}
		ids := map[string]string{"a": "zoe", "b": "yan", "t": "xylophone", "p": "wim"}
		back := map[string]string{}
		for i, p := range c.Participants {
			c.Participants[i].ID, back[ids[p.ID]] = ids[p.ID], p.ID
		}
		for i, turn := range c.Turns {
			c.Turns[i].Speaker = ids[turn.Speaker]
		}
		r := reportOf(c)
		for i := range r.Kinds {
			for j, x := range r.Kinds[i].Examples {
				r.Kinds[i].Examples[j].Speaker = back[x.Speaker]
			}
		}
		if after, _ := json.Marshal(r); string(after) != string(before) {
			rt.Fatalf("before %s\nafter %s", before, after)
		}
	})
}
