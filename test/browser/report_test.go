package browser

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/transcripts"
)

// TestReport opens the page of a replay from a file and without a network.
func TestReport(t *testing.T) {
	b := open(t, reportPage(t, extract(), "address->ngram3", "mention-only"))
	var title string
	var charts, tables, width int64
	b.run(t,
		chromedp.Title(&title),
		chromedp.Evaluate(`document.querySelectorAll('svg[role=img]').length`, &charts),
		chromedp.Evaluate(`document.querySelectorAll('table').length`, &tables),
	)
	if !strings.HasPrefix(title, "Replay of ") || charts < 3*4+3 || tables < 12+8 {
		t.Errorf("%q with %d charts and %d tables", title, charts, tables)
	}
	followFlip(t, b)
	for _, scheme := range []string{"light", "dark"} {
		var background string
		b.run(t,
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
			chromedp.Evaluate(`getComputedStyle(document.body).backgroundColor`, &background),
		)
		if dark := strings.HasPrefix(background, "oklch(0.19"); dark != (scheme == "dark") {
			t.Errorf("background %s in the %s scheme", background, scheme)
		}
		b.screenshot(t, scheme)
	}
	b.run(t,
		chromedp.EmulateViewport(360, 740),
		chromedp.Evaluate(`document.documentElement.scrollWidth`, &width),
	)
	if width > 360 {
		t.Errorf("in a window of width 360 the page is %d wide", width)
	}
	b.screenshot(t, "narrow")
}

// TestLongReport: a page of thousands of decisions still answers a click.
func TestLongReport(t *testing.T) {
	b := open(t, reportPage(t, longConversations(), "round-robin"))
	var cells int64
	b.run(t, chromedp.Evaluate(`document.querySelectorAll('details rect').length`, &cells))
	if cells < 10_000 {
		t.Errorf("%d cells", cells)
	}
	followFlip(t, b)
}

// followFlip clicks the first outlined cell. The link must lead to a visible row
// with both decisions.
func followFlip(t *testing.T, b *browser) {
	t.Helper()
	var at []float64
	b.run(t, chromedp.Evaluate(`(() => {
		document.querySelector('details.talk').open = true;
		const cell = document.querySelector('details.talk a rect.flip');
		cell.scrollIntoView({block: 'center'});
		const r = cell.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`, &at))
	var row string
	b.run(t,
		chromedp.MouseClickXY(at[0], at[1]),
		chromedp.WaitReady(`tr:target`, chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelector('tr:target').innerText`, &row),
		chromedp.Poll(`(() => { const r = document.querySelector('tr:target').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight })()`,
			nil, chromedp.WithPollingTimeout(2*time.Minute)), // the browser scrolls there
	)
	if cells := strings.Split(row, "\t"); len(cells) < 3 || cells[1] == "" || cells[2] == "" || cells[1] == cells[2] {
		t.Errorf("the row of the decision is %q", row)
	}
}

// reportPage replays mostActive and baselines, and writes the page to a file.
func reportPage(t *testing.T, all iter.Seq2[history.Transcript, error], baselines ...string) string {
	t.Helper()
	c := replay.Config{Policies: []drive.Policy{{Name: "mostActive", Proposer: mostActive{}}}}
	for _, name := range baselines {
		c.Policies = append(c.Policies, drive.Policy{Name: name, Baseline: name})
	}
	r, err := replay.Run(t.Context(), c, all)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// mostActive chooses the participant with the most turns. Its confidence is the
// share of these turns; below 0.1 it declines.
type mostActive struct{}

func (mostActive) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	best, total := -1, 1
	for i, a := range in.Agents {
		total += a.Turns
		if a.Eligible && (best < 0 || a.Turns > in.Agents[best].Turns) {
			best = i
		}
	}
	share := float64(in.Agents[best].Turns) / float64(total)
	if share < 0.1 {
		return policy.Decline("no participant stands out"), policy.Record{}, nil
	}
	d := policy.Speak(in.Agents[best].ID, in.Agents[best].ID+" speaks most")
	d.Confidence = &share
	return d, policy.Record{}, nil
}

// extract yields the conversations of replay's testdata.
func extract() iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		file := filepath.Join("..", "..", "replay", "testdata", "extract.jsonl")
		f, err := os.Open(file)
		if err != nil {
			yield(history.Transcript{}, err)
			return
		}
		defer f.Close()
		for c, err := range transcripts.ReadConversations(f, file) {
			if err != nil {
				yield(history.Transcript{}, err)
				return
			}
			x := &history.Conversation{ID: c.ID}
			for _, p := range c.Participants {
				x.Participants = append(x.Participants, history.Participant{ID: p.ID, Kind: p.Kind, Role: p.Role})
			}
			for _, turn := range c.Turns {
				x.Turns = append(x.Turns, history.Turn{Speaker: turn.Speaker, Text: turn.Text, To: turn.Addressees})
			}
			if !yield(history.Transcript{Name: c.ID, Conversation: x}, nil) {
				return
			}
		}
	}
}

// longConversations yields twelve conversations of a thousand turns.
func longConversations() iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		for i := range 12 {
			name := fmt.Sprint("talk/", i)
			if !yield(history.Transcript{Name: name, Conversation: longConversation(name, 1000)}, nil) {
				return
			}
		}
	}
}

// longConversation has five participants with pseudo-random turns, never two in
// a row.
func longConversation(id string, turns int) *history.Conversation {
	names := []string{"ann", "bob", "cid", "dan", "eve"}
	c := &history.Conversation{ID: id}
	for _, name := range names {
		c.Participants = append(c.Participants, history.Participant{ID: name, Kind: history.KindAgent})
	}
	x, last := uint32(len(id)+7), 0
	for i := range turns {
		x = x*1664525 + 1013904223
		last = (last + 1 + int(x>>24)%(len(names)-1)) % len(names)
		text := fmt.Sprintf("%s, what about number %d? The answer is known.", names[(last+1)%len(names)], i)
		c.Turns = append(c.Turns, history.Turn{Speaker: names[last], Text: text})
	}
	return c
}
