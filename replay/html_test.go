package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// TestHTML: one file without script or anything from elsewhere, whatever the
// participants are called and the policies say.
func TestHTML(t *testing.T) {
	evil := "\"><script>alert(1)</script><img src=x onerror=y>\u202e\x1b[31m"
	talk := small()
	for i := range talk.Participants {
		if talk.Participants[i].ID == "cid" {
			talk.Participants[i].ID = evil
		}
	}
	for i := range talk.Turns {
		if talk.Turns[i].Speaker == "cid" {
			talk.Turns[i].Speaker = evil
		}
		talk.Turns[i].To = nil
	}
	talk.ID = evil
	r, err := Run(t.Context(), Config{Subjects: []Subject{
		{Name: evil, Policy: native{decide: func(*policy.Input) policy.Decision { return policy.Decline(evil) }}},
		{Name: "aba", Baseline: "ABA"},
	}}, talks(talk, small()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ParseCondition("aba.errors > 0", []string{"aba"})
	if err != nil {
		t.Fatal(err)
	}
	r.Judge([]Condition{c})
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "<img", "onerror=y>", "http://", "https://", "ZgotmplZ", "\u202e", "\x1b", " style="} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	style := page[strings.Index(page, "<style>")+len("<style>") : strings.Index(page, "</style>")]
	sum := sha256.Sum256([]byte(style))
	if !strings.Contains(html.UnescapeString(page), "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Error("the policy does not allow the style")
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if strings.Count(page, `id="`+m[1]+`"`) != 1 {
			t.Errorf("the link to %s leads nowhere", m[1])
		}
	}
	if n := strings.Count(page, `class="decline flip"`); n != 8 {
		t.Errorf("%d outlined declines, want 8: four decisions in each of two talks", n)
	}
	var table bytes.Buffer
	if err := r.WriteTable(&table); err != nil || strings.ContainsAny(table.String(), "\u202e\x1b") {
		t.Errorf("the table steers the terminal: %v", err)
	}
}

// TestHTMLReadBack: a report from a file has its tables.
func TestHTMLReadBack(t *testing.T) {
	r := reportOf(t, baselineSubjects("round-robin", "least-recent"), small())
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil || !strings.Contains(b.String(), "same choice") {
		t.Errorf("%v", err)
	}
}
