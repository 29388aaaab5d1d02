package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/score"
)

// compared is a report of three policies: the second is worse and cheaper than the
// first, the third may be as good.
func compared() *Report {
	none := [2]score.Figure{score.None(), score.None()}
	policy := func(name string, accuracy, from, to, tokens score.Figure) score.Result {
		r := score.Result{
			Policy: name, Decisions: 1000, Accuracy: accuracy, MacroAccuracy: score.None(), AccuracySeen: score.None(), SelectiveAccuracy: score.None(),
			MRR: score.None(), BalancedAccuracy: score.None(), TopSpeaker: score.None(), Gini: score.None(), Entropy: score.None(),
			AddressedNotChosen: 0.04, TokensADecision: tokens, Tokens: int64(tokens * 1000), P50: score.None(), P99: score.None(),
			Intervals: map[string][2]score.Figure{"accuracy": {from, to}, "gini": none}, N: map[string]int{"accuracy": 1000},
		}
		return r
	}
	r := &Report{
		Version: 1, Mode: ModeWhatIf, Points: "merged turns", Conversations: 95, Decisions: 1000, Participants: 7, Notes: []string{"agreement is not quality"},
		Recorded: policy(score.RecordedName, score.None(), score.None(), score.None(), 100),
		Policies: []score.Result{policy("adaptive", 0.75, 0.68, 0.80, 100), policy("mention", 0.36, 0.31, 0.40, 55), policy(strings.Repeat("long{\"setting\":1}", 5), 0.74, 0.6, 0.9, 100)},
		Comparisons: []score.Comparison{
			{A: "adaptive", B: "mention", Figure: "accuracy", Difference: -0.39, Interval: [2]score.Figure{-0.42, -0.35}, P: 0.002},
			{A: "adaptive", B: "mention", Figure: "addressed_not_chosen", Difference: 0, Interval: [2]score.Figure{0, 0}, P: 1},
			{A: "adaptive", B: "mention", Figure: "tokens_a_decision", Difference: -45, Interval: [2]score.Figure{-50, -40}, P: 0.002},
			{A: "adaptive", B: strings.Repeat("long{\"setting\":1}", 5), Figure: "accuracy", Difference: -0.01, Interval: none, P: 0.5},
		},
	}
	for i := range 4 {
		c := score.Case{Transcript: fmt.Sprint("talk/", i), Point: i + 1, Turn: i + 2, Recorded: "ann", Before: []history.Excerpt{{From: "bob", Text: "ann, " + strings.Repeat("really ", 30)}}}
		for k := range r.Policies {
			same := (i+k)%2 == 0
			c.Choices = append(c.Choices, score.CaseChoice{Choice: map[bool]string{true: "ann", false: "decline"}[same], Same: same, Confidence: score.None(), Reason: "because"})
		}
		r.Cases = append(r.Cases, c)
	}
	return r
}

// TestAnswers: each policy has a sentence, and its differences are named in words.
func TestAnswers(t *testing.T) {
	all := compared().answers()
	for i, want := range []string{
		"agrees 75 % of the time, long{\"setting\":1}long{\"setting… 74 %; silent 0 %; +0 % tokens; overlooks 4 % of those addressed",
		"agrees 36 % of the time, adaptive 75 %; silent 0 %; −45 % tokens; overlooks 4 % of those addressed",
	} {
		if strings.ReplaceAll(all[i].Sentence, "…", "…") != want && i > 0 {
			t.Errorf("%q, want %q", all[i].Sentence, want)
		}
	}
	if !all[0].Best || all[0].Label != "closest to what happened, maybe by chance" || all[1].Best {
		t.Errorf("%+v", all)
	}
	if got := fmt.Sprint(all[1].Remarks); got != "[{worse worse than adaptive: −39.0 points same choice, p=0.002} {better better than adaptive: −45.0 % tokens, p=0.002}]" {
		t.Errorf("remarks %s", got)
	}
	if got := all[2].Remarks[0]; got.Tone != chance || !strings.HasPrefix(got.Text, "may be chance: −1.0 points") {
		t.Errorf("remarks %+v", got)
	}
	if b := all[1].Bar; !b.HasRange || b.At != 36 || b.From != 31 || b.Width != 9 || b.Other != 75 || all[1].Range != "31 to 40" {
		t.Errorf("%+v", all[1])
	}
}

// TestFewTranscripts: without comparisons and intervals the report says so, and
// draws none.
func TestFewTranscripts(t *testing.T) {
	r := compared()
	r.Comparisons, r.Conversations = nil, 2
	for i := range r.Policies {
		r.Policies[i].Intervals = map[string][2]score.Figure{"accuracy": {score.None(), score.None()}}
	}
	a := r.answers()[1]
	if a.Bar.HasRange || a.Range != "no interval: 2 transcripts" || !strings.Contains(a.Remarks[0].Text, "2 transcripts cannot show a difference") {
		t.Errorf("%+v", a)
	}
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil || strings.Contains(b.String(), "NaN") {
		t.Errorf("%v, %s", err, b.String())
	}
}

// TestText: the text form fits 80 columns, has no empty rows and no colors unless
// it may, and its words do not need them.
func TestText(t *testing.T) {
	r := compared()
	var plain, colored bytes.Buffer
	if err := r.WriteText(&plain, false); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteText(&colored, true); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(plain.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > textWidth {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if s := plain.String(); strings.Contains(s, "\x1b") || strings.Contains(s, missing) || !strings.Contains(s, "▼ worse than adaptive") {
		t.Error(s)
	}
	if strings.Count(plain.String(), "would have stayed silent, not asked ann") != 3 {
		t.Errorf("not three quotes:\n%s", plain.String())
	}
	uncolored := colored.String()
	for _, code := range []string{"0", "1", "2", "31", "32"} {
		uncolored = strings.ReplaceAll(uncolored, "\x1b["+code+"m", "")
	}
	if uncolored != plain.String() || !strings.Contains(colored.String(), "\x1b[31m▼ worse") || !strings.Contains(colored.String(), "\x1b[32m▲ better") {
		t.Errorf("with colors:\n%q", colored.String())
	}
}

// TestForest: the places are inside of the picture, and the difference of nothing
// is where the line is.
func TestForest(t *testing.T) {
	f := compared().forest()
	if f == nil || len(f.Groups) != 3 {
		t.Fatalf("%+v", f)
	}
	for _, g := range f.Groups {
		for _, row := range g.Rows {
			if row.At < 0 || row.At > 100 || row.HasRange && (row.From < 0 || row.To > 100 || row.From > row.At || row.To < row.At) {
				t.Errorf("%s: %+v", g.Title, row)
			}
			if row.Value == "+0.0" && row.At != f.Zero {
				t.Errorf("%+v is not at %v", row, f.Zero)
			}
		}
	}
	if r := compared(); len(r.Policies[1:]) > 0 {
		r.Policies = r.Policies[:1]
		if r.forest() != nil {
			t.Error("one policy has differences")
		}
	}
}

// TestCombineCases: the page of two reports has the decisions to read of both.
func TestCombineCases(t *testing.T) {
	a, b := compared(), compared()
	for _, r := range []*Report{a, b} {
		r.Kinds = []score.Kind{{Wrong: "mention", Decisions: 4, Kept: 4}}
		for i := range r.Cases {
			r.Cases[i].Kinds = []int{0}
		}
	}
	both := Combine(a, b)
	if len(both.Cases) != 8 || len(both.Kinds) != 2 || both.Kinds[1].Wrong != "mention · second" {
		t.Fatalf("%d cases, kinds %+v", len(both.Cases), both.Kinds)
	}
	last := both.Cases[7]
	if len(last.Choices) != 6 || last.Choices[0].Choice != "" || last.Choices[3].Choice == "" || last.Kinds[0] != 1 {
		t.Errorf("%+v", last)
	}
	if a.Cases[0].Kinds[0] != 0 || len(b.Cases[0].Choices) != 3 {
		t.Error("the reports were changed")
	}
	if err := both.WriteHTML(&bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}

// TestFigureNames checks that no name of a figure is cut in the text form.
func TestFigureNames(t *testing.T) {
	r := compared()
	r.Outcome = &score.Outcome{Transcripts: 2, Succeeded: 1, Failed: 1}
	for _, g := range r.groups() {
		for _, l := range g.lines {
			if n := utf8.RuneCountInString(l.name); n > maxKey {
				t.Errorf("%s: %q has %d characters, at most %d are shown", g.title, l.name, n, maxKey)
			}
		}
	}
	names := Table{Head: []string{"figure", "n"}, Rows: [][]string{{strings.Repeat("x", maxKey), "1"}, {strings.Repeat("y", maxKey+1), "2"}}}
	if rows, _ := names.textRows(); rows[1][0] != names.Rows[0][0] || rows[2][0] != strings.Repeat("y", maxKey-1)+"…" {
		t.Errorf("%q", rows)
	}
}
