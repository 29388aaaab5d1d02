package replay_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/report"
)

// TestHTML: the page has no script and loads nothing, even when participants
// and policies try to inject markup.
func TestHTML(t *testing.T) {
	evil := "\"><script>alert(1)</script><img src=x onerror=y>\u202e\x1b[31m"
	c := small()
	for i := range c.Participants {
		if c.Participants[i].ID == "cid" {
			c.Participants[i].ID = evil
		}
	}
	for i := range c.Turns {
		if c.Turns[i].Speaker == "cid" {
			c.Turns[i].Speaker = evil
		}
		c.Turns[i].To = nil
	}
	c.ID = evil
	r, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{
		{Name: evil, Proposer: native{decide: func(*policy.Input) policy.Decision { return policy.Decline(evil) }}},
		{Name: "aba", Baseline: "ABA"},
	}}, conversations(c, small()))
	if err != nil {
		t.Fatal(err)
	}
	condition, err := report.ParseCondition("aba.errors > 0", []string{"aba"})
	if err != nil {
		t.Fatal(err)
	}
	r.Judge([]report.Condition{condition})
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "<img", "onerror=y>", "http://", "https://", "ZgotmplZ", "\u202e", "\x1b", " style="} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	style := page[strings.Index(page, "<style>")+len("<style>") : strings.Index(page, "</style>")]
	sum := sha256.Sum256([]byte(style))
	if !strings.Contains(html.UnescapeString(page), "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Error("the content security policy does not allow the style")
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if strings.Count(page, `id="`+m[1]+`"`) != 1 {
			t.Errorf("the link to %s has no target", m[1])
		}
	}
	if n := strings.Count(page, `class="decline flip"`); n != 8 {
		t.Errorf("%d outlined declines, want 8: four decisions in each of two conversations", n)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text, false); err != nil || strings.ContainsAny(text.String(), "\u202e\x1b") {
		t.Errorf("the text contains control characters: %v", err)
	}
}

// TestHTMLReadBack: a report that was read from a file has its tables.
func TestHTMLReadBack(t *testing.T) {
	r := readBack(t, baselines("round-robin", "least-recent"), small())
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil || !strings.Contains(b.String(), "same choice") {
		t.Errorf("%v", err)
	}
}
