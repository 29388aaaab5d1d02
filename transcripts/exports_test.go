package transcripts

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

type writer func(io.Writer, iter.Seq2[log.Entry, error], Level) error

func export(t testing.TB, w writer, events []room.Event, level Level) string {
	t.Helper()
	var b bytes.Buffer
	if err := w(&b, Entries(events), level); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostile are messages that try to break out of an export.
var hostile = []string{
	`<script>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`,
	`![x](https://evil.example/pixel.png)`,
	`[here](javascript:alert(1)) javascript:alert(1) data:text/html,x vbscript:x`,
	`</style><style>*{display:none}`,
	`"><svg onload=alert(1)>`,
	"\x1b]0;title\x07\x1b[31mred\u202egnp.exe\u200b\u2066x",
	"````\n# not a heading\n```\n",
	"~~~\nunclosed",
	"https://evil.example/\"onmouseover=alert(1)",
	"http://a@b:c/`<b>` https:// mailto:nobody mailto:ann@example.org.",
	"{{.Style}} {{template \"why\"}}",
	strings.Repeat("`", 300),
}

func hostileRoom(texts []string) []room.Event {
	all := strings.Join(texts, "\n")
	b := eventBuilder{at: time.Unix(1_770_000_000, 0).UTC()}
	b.add(room.ActorHost, room.Opened{Spec: room.Spec{
		Room: all, Name: all, Objective: all, Constraints: []string{all}, Policy: room.PolicyRef{Name: all, Version: all},
	}})
	b.add(room.ActorHost, room.Joined{Participant: room.Participant{ID: all, Name: all, Kind: all, Role: all}})
	for _, body := range []room.Body{
		room.TurnGranted{Turn: 1, Participant: all, Reason: all, Scores: []policy.Score{{Agent: all}}, Record: &policy.Record{Policy: all}},
		room.TurnDrafted{Turn: 1, Message: room.Message{From: all, Text: all}, Why: all},
		room.TurnApproved{Turn: 1},
		room.MessagePosted{Turn: 1, Message: room.Message{From: all, To: all, Kind: all, By: all, Text: all, Visibility: room.Visibility(all)}},
		room.RoundDeclined{Reason: all, Record: policy.Record{Policy: all}},
		room.RoundDeclined{Reason: all},
		room.TurnFailed{Code: all, Error: all},
		room.TurnPassed{Reason: all},
		room.Violation{Participant: all, Code: all, Detail: all},
		room.PermissionAsked{Participant: all, ID: all, Permission: room.Permission{Kind: all, Title: all, Command: all, Argv: []string{all}, Paths: []string{all}}},
		room.PermissionAnswered{Participant: all, ID: all, By: all, Reason: all},
		room.SummaryMade{By: all, Text: all},
		room.SeatChanged{Participant: all, Standing: room.Standing(all), Reason: all},
		room.SeatTaken{Participant: all, By: all},
		room.PolicyChanged{Policy: room.PolicyRef{Name: all}},
		room.Redacted{Target: 1, Reason: all},
		room.Paused{Cause: all, Code: all, Reason: all},
		room.Stopped{Cause: all, Name: all, Reason: all},
		room.Errored{Code: all, Reason: all},
	} {
		b.add(all, body)
	}
	return b.events
}

var (
	tag  = regexp.MustCompile(`<(/?[a-zA-Z!][^\s>/]*)((?:[^>"]|"[^"]*")*)>`)
	attr = regexp.MustCompile(`\s([a-zA-Z-]+)(?:=("[^"]*"|[^\s"]+))?`)
	link = regexp.MustCompile(`href="([^"]*)"`)
)

// TestHTMLIsHarmless checks that the page contains only the tags of its template,
// only the style that its policy allows, and only links to http, https, mailto
// and the page itself.
func TestHTMLIsHarmless(t *testing.T) {
	tags := map[string]bool{}
	for _, m := range tag.FindAllStringSubmatch(pageHTML, -1) {
		tags[strings.ToLower(m[1])] = true
	}
	page := export(t, WriteHTML, hostileRoom(hostile), Internal)
	style := page[strings.Index(page, "<style>")+len("<style>") : strings.Index(page, "</style>")]
	sum := sha256.Sum256([]byte(style))
	if want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(html.UnescapeString(page), want) {
		t.Errorf("the policy does not allow the style: want %s", want)
	}
	if !strings.Contains(page, `content="default-src 'none'; `) {
		t.Error("no content security policy that forbids everything else")
	}
	body := strings.Replace(page, style, "", 1)
	for _, m := range tag.FindAllStringSubmatch(body, -1) {
		if name := strings.ToLower(m[1]); !tags[name] || name == "script" || name == "img" || name == "link" {
			t.Errorf("tag %s", m[0])
		}
		for _, a := range attr.FindAllStringSubmatch(m[2], -1) {
			if name := strings.ToLower(a[1]); strings.HasPrefix(name, "on") || name == "style" || name == "src" || name == "srcset" {
				t.Errorf("attribute %s in %s", a[1], m[0])
			}
		}
	}
	links := link.FindAllStringSubmatch(body, -1)
	if len(links) == 0 {
		t.Error("no links at all")
	}
	for _, m := range links {
		if !strings.HasPrefix(m[1], "#e") && !strings.HasPrefix(m[1], "https://") && !strings.HasPrefix(m[1], "http://") && !strings.HasPrefix(m[1], "mailto:") {
			t.Errorf("link to %s", m[1])
		}
	}
	noControls(t, page)
}

// noControls checks for characters that control a terminal or text direction.
func noControls(t *testing.T, s string) {
	t.Helper()
	for i, r := range s {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r <= 0x9f || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Fatalf("%U at %q", r, s[max(0, i-30):min(len(s), i+30)])
		}
	}
}

// escaped matches characters that Markdown does not interpret.
var escaped = regexp.MustCompile(`\\[[:punct:]]`)

// TestMarkdownIsHarmless checks that all text of participants is fenced or
// escaped.
func TestMarkdownIsHarmless(t *testing.T) {
	md := export(t, WriteMarkdown, hostileRoom(hostile), Internal)
	noControls(t, md)
	fence := ""
	for line := range strings.SplitSeq(md, "\n") {
		plain := escaped.ReplaceAllString(line, "")
		switch mark := fenceOf(line); {
		case fence != "" && mark == fence && strings.TrimSpace(line) == fence:
			fence = ""
		case fence != "":
		case mark != "" && strings.HasSuffix(line, "text"):
			fence = mark
		case strings.ContainsAny(plain, "<[]`"):
			t.Errorf("outside a fence: %.200s", line)
		case strings.HasPrefix(line, "# not"):
			t.Errorf("a heading of an agent: %.200s", line)
		}
	}
	if fence != "" {
		t.Errorf("the fence %s is not closed", fence)
	}
}

// TestExportsOfLevels checks that Markdown and HTML hide content by level (V1).
func TestExportsOfLevels(t *testing.T) {
	for name, w := range map[string]writer{"md": WriteMarkdown, "html": WriteHTML} {
		for level, want := range map[Level][2]bool{ // the redacted message, the internal one
			UserVisible: {false, false}, UserRedacted: {true, false}, Internal: {true, true}, All: {true, true},
		} {
			got := export(t, w, meeting(), level)
			if strings.Contains(got, "details "+secretWord) != want[0] || strings.Contains(got, "edited "+secretWord) != want[1] {
				t.Errorf("%s at %s shows the wrong messages", name, level)
			}
			if strings.Contains(got, "/home/") || strings.Contains(got, `log `+secretWord) || level == UserVisible && strings.Contains(got, secretWord) {
				t.Errorf("%s at %s shows a secret", name, level)
			}
			for _, always := range []string{"draft waits for a review", "edited by yuki", "nobody is addressed", "no reply within 60 s", "mention", "4 of 4 turns"} {
				if !strings.Contains(got, always) {
					t.Errorf("%s at %s does not show %q", name, level, always)
				}
			}
		}
	}
}

func TestHTMLGroupsDeclines(t *testing.T) {
	b := eventBuilder{}
	b.add(room.ActorHost, room.Opened{Spec: room.Spec{Room: "r"}})
	for range 4 {
		b.add(room.ActorPolicy, room.RoundDeclined{Reason: "nothing new"})
	}
	page := export(t, WriteHTML, b.events, UserVisible)
	if !strings.Contains(page, "⌀ 4 rounds declined") || strings.Count(page, "declined the round: nothing new") != 4 {
		t.Error("four declined rounds are not one group of four")
	}
}

func TestParagraphs(t *testing.T) {
	got := paragraphs("see `x` at https://example.org/a_(b).\n```go\nf()\n\ng()\n```\ndone (http://x.org).")
	want := []paragraph{
		{Spans: []inlineRun{{Text: "see "}, {Text: "x", Code: true}, {Text: " at "}, {Text: "https://example.org/a_(b)", Link: "https://example.org/a_(b)"}, {Text: "."}}},
		{Code: true, Text: "f()\n\ng()"},
		{Spans: []inlineRun{{Text: "done ("}, {Text: "http://x.org", Link: "http://x.org"}, {Text: ")."}}},
	}
	if len(got) != len(want) {
		t.Fatalf("%d paragraphs: %+v", len(got), got)
	}
	for i, p := range got {
		if p.Code != want[i].Code || p.Code && p.Text != want[i].Text {
			t.Errorf("paragraph %d is %+v", i, p)
		}
		for j, s := range p.Spans {
			if j >= len(want[i].Spans) || s != want[i].Spans[j] {
				t.Errorf("span %d.%d is %+v", i, j, s)
			}
		}
	}
}

func FuzzExports(f *testing.F) {
	for _, h := range hostile {
		f.Add(h)
	}
	f.Add(strings.Repeat("\xa5", 250)) // each byte is encoded in three
	f.Fuzz(func(t *testing.T, text string) {
		page := export(t, WriteHTML, hostileRoom([]string{text}), Internal)
		if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Contains(page, "#ZgotmplZ") {
			t.Error("a tag of an agent, or a link that the template refused")
		}
		md := export(t, WriteMarkdown, hostileRoom([]string{text}), Internal)
		noControls(t, md)
		noControls(t, page)
		var line bytes.Buffer
		if err := WriteNeutral(&line, Entries(hostileRoom([]string{text})), All); err != nil && !strings.Contains(err.Error(), "TRANSCRIPT-CONVERSATION") {
			t.Error(err)
		}
		for _, err := range ReadConversations(&line, "neutral") {
			if err != nil {
				t.Errorf("the neutral format cannot be read again: %v", err)
			}
		}
	})
}

// TestGolden regenerates with UPDATE_GOLDEN=1.
func TestGolden(t *testing.T) {
	for name, w := range map[string]writer{"meeting.md": WriteMarkdown, "meeting.html": WriteHTML} {
		got := export(t, w, meeting(), UserRedacted)
		file := filepath.Join("testdata", name)
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; check it and run the test with UPDATE_GOLDEN=1", file)
		}
	}
}

func TestStats(t *testing.T) {
	s, err := Collect(Entries(meeting()))
	if err != nil {
		t.Fatal(err)
	}
	if s.Turns != 4 || s.Messages != 3 || s.Declines != 1 || s.Passes != 1 || s.Failures != 1 || s.Duration != 200*time.Second || s.Ending != "stopped (maxTurns): 4 of 4 turns" {
		t.Errorf("%+v", s)
	}
	dba := s.Participants[0]
	if dba.ID != "dba" || dba.Turns != 2 || dba.Messages != 1 || dba.Drafts != 1 || dba.Edited != 1 || dba.Passes != 1 || dba.Latency.Max != 1500*time.Millisecond || dba.Latency.Mean != 750*time.Millisecond {
		t.Errorf("%+v", dba)
	}
	share := 0.0
	for _, p := range s.Participants {
		share += p.Airtime
	}
	if share < 0.999 || share > 1.001 || s.Gini <= 0 || s.Gini >= 1 {
		t.Errorf("airtime %v, gini %v", share, s.Gini)
	}
	if p := s.Policies; len(p) != 1 || p[0].Policy != "mention" || p[0].Decisions != 3 || p[0].Declines != 1 {
		t.Errorf("%+v", p)
	}
}
