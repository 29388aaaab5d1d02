package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/folkmoot/moot/transcripts"
	"github.com/folkmoot/moot/waste"
)

// labelled is a report of a run with a label whose texts are hostile.
func labelled(t *testing.T) *waste.Report {
	t.Helper()
	const text = "<script>alert(1)</script> | we read *all* the prices of the\n\x1b[31mshop\u202e again and again"
	c := &transcripts.Conversation{
		ID:           "set</title>/one two",
		Participants: []transcripts.Participant{{ID: "<b>a", Kind: transcripts.KindAgent}, {ID: "b", Kind: transcripts.KindAgent}},
		Extra:        []byte(`{"mistake_step":3,"success":false}`),
	}
	for i, speaker := range []string{"<b>a", "b", "<b>a", "b", "<b>a", "b"} {
		c.Turns = append(c.Turns, transcripts.Turn{I: i, Speaker: speaker, Text: text})
	}
	var a waste.Account
	if err := a.AddConversation(waste.Labels{}.Run(c, "it's.jsonl"), c); err != nil {
		t.Fatal(err)
	}
	return a.Report()
}

// text returns the text form.
func text(t *testing.T, r *waste.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// unwrapped returns the text form with each wrapped line as one.
func unwrapped(t *testing.T, r *waste.Report) string {
	t.Helper()
	return strings.ReplaceAll(text(t, r), "\n  ", " ")
}

// TestWidth checks that the text form fits 80 columns, whatever the names are. Only the
// command that shows a run may be longer, because it can be copied.
func TestWidth(t *testing.T) {
	long := strings.Repeat("name/", 30)
	c := &transcripts.Conversation{
		ID: long + "7", Participants: []transcripts.Participant{{ID: long, Kind: transcripts.KindAgent}, {ID: "b", Kind: transcripts.KindAgent}}, Extra: []byte(`{"mistake_step":1,"success":true}`),
	}
	for i := range 12 {
		c.Turns = append(c.Turns, transcripts.Turn{I: i, Speaker: []string{long, "b"}[i%2], Text: strings.Repeat("a \"quoted\" text that is long ", 1000)})
	}
	var a waste.Account
	if err := a.AddConversation(waste.Labels{}.Run(c, "runs.jsonl"), c); err != nil {
		t.Fatal(err)
	}
	r := a.Report()
	r.Guard = &waste.Guard{Policy: "wasteguard@" + long, Runs: 1, TrainedOn: "runs of " + long}
	r.Gates = []waste.Gate{{Gate: "waste > " + strings.Repeat("9", 90), Figure: "waste"}}
	got := text(t, r)
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && !strings.HasPrefix(line, "show one: ") && !strings.HasPrefix(line, "          --conversation ") {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if !strings.Contains(got, "\nshow one: moot transcript show runs.jsonl \\\n          --conversation "+long) {
		t.Error(got)
	}
	for _, column := range []string{" runs   succeeded   failed   turns ", " turns after the error    share   of tokens\n"} {
		if !strings.Contains(got, column) {
			t.Errorf("%q is missing in\n%s", column, got)
		}
	}
}

func TestText(t *testing.T) {
	got := unwrapped(t, labelled(t))
	for _, want := range []string{
		"1 run · 6 turns · ~", "(33.3 %) came after the labelled error. 1 of 1 run is labelled.", "(83.3 %) are waste. Most of the rest of it is exact duplicates",
		"\nset</title>      1           0        1       6 ", "Prompts with the whole history have", "show one: moot transcript show 'it'\\''s.jsonl' \\         --conversation 'set</title>/one two' --last 3",
		"labels are of failed runs only",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("control characters in\n%s", got)
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestSentences(t *testing.T) {
	r := labelled(t)
	r.Guard = &waste.Guard{Policy: "wasteguard", TrainedOn: "some runs", Runs: 120, Stopped: 40, Good: 40, GoodStopped: 1, Part: waste.Part{Tokens: 800_000, Share: .42}}
	if got := unwrapped(t, r); !strings.Contains(got, "With wasteguard 40 of 120 runs would have ended earlier, without ~800k tokens (42.0 %). False alarms: 1 of 40 good ones.") {
		t.Error(got)
	}
	if got := unwrapped(t, r); !strings.Contains(got, "note: the settings of wasteguard are learnt from some runs: there its figures are too good") {
		t.Error(got)
	}
	r.Guard.Policy, r.Guard.TrainedOn, r.Guard.Good = "wasteguard@own.json", "", 0
	if got := unwrapped(t, r); strings.Contains(got, "the settings of wasteguard") {
		t.Error(got)
	}
	if got := unwrapped(t, r); !strings.Contains(got, "No run is known to have succeeded, so false alarms are not counted.") {
		t.Error(got)
	}
	r.Partial = true
	if got := unwrapped(t, r); !strings.HasPrefix(got, "interrupted: 1 run") {
		t.Error(got)
	}
	if got := unwrapped(t, (&waste.Account{}).Report()); !strings.Contains(got, "There are no turns to count.") || strings.Contains(got, "NaN") {
		t.Error(got)
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := WriteMarkdown(&b, labelled(t)); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "| exact duplicates | 3 |") || strings.Contains(got, "<script") || strings.Contains(got, "read *all*") {
		t.Error(got)
	}
}

// TestHTML checks that the page loads nothing, runs nothing and escapes what it quotes.
func TestHTML(t *testing.T) {
	var b bytes.Buffer
	r := labelled(t)
	r.Gates = []waste.Gate{{Gate: "waste > 20%", Figure: "waste", Observed: waste.Share(math.NaN()), Limit: .2}}
	if err := WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(got)
	sum := sha256.Sum256([]byte(style[1]))
	if hash := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(got, "style-src 'sha256-"+hash+"'") && !strings.Contains(got, "sha256-"+strings.ReplaceAll(hash, "+", "&#43;")) {
		t.Error("the style has another hash")
	}
	for _, bad := range []string{"<script", "src=", "href=", "url(", "@import", "\x1b", "\u202e", "<b>a", "NaN"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"(33.3\u00a0%) came after the labelled error", "&lt;script&gt;", "default-src 'none'", "nothing to measure", `role="img" aria-label="waste in tokens: after the labelled error 33.3 %`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
}
