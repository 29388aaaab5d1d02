package browser

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/folkmoot/moot/internal/condition"
	"github.com/folkmoot/moot/transcripts"
	"github.com/folkmoot/moot/waste"
	wastepage "github.com/folkmoot/moot/waste/page"
)

// TestWaste opens the page of `moot waste` from a file: it fits windows of three widths
// and paper without a cut column, and axe-core finds nothing in either scheme.
func TestWaste(t *testing.T) {
	b := open(t, wastePage(t))
	for _, width := range []int64{390, 1280, 1920} {
		b.size(t, width, 900)
		for _, scheme := range []string{"light", "dark"} {
			b.colours(t, scheme, false)
			where := fmt.Sprintf("the page of waste, %d wide, %s", width, scheme)
			b.notCut(t, where, "body")
			b.axe(t, where)
			b.screenshot(t, fmt.Sprintf("%d-%s", width, scheme))
		}
	}
	b.run(t, emulation.SetEmulatedMedia().WithMedia("print"), chromedp.ActionFunc(func(ctx context.Context) error {
		paper, _, err := page.PrintToPDF().Do(ctx)
		if err == nil && !bytes.HasPrefix(paper, []byte("%PDF")) {
			t.Error("the page cannot be printed")
		}
		return err
	}))
}

// wastePage counts the example of the documentation, with long names and a policy that
// ends runs, and writes the page to a file.
func wastePage(t *testing.T) string {
	t.Helper()
	example := filepath.Join("..", "..", "examples", "transcripts", "runs.jsonl")
	f, err := os.Open(example)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := waste.Account{Guard: "wasteguard", Watch: func() waste.Watcher { return everyError{} }}
	for c, err := range transcripts.ReadConversations(f, example) {
		if err != nil {
			t.Fatal(err)
		}
		c.ID = "a-folder-with-a-long-name-" + c.ID
		if err := a.AddConversation(waste.Labels{}.Run(c, example), c); err != nil {
			t.Fatal(err)
		}
		c.ID = "another-one/" + c.ID
		if err := a.AddConversation(waste.Labels{}.Run(c, example), c); err != nil {
			t.Fatal(err)
		}
	}
	r := a.Report()
	c, err := waste.ParseCondition("waste > 20%")
	if err != nil {
		t.Fatal(err)
	}
	r.Judge([]condition.Condition{c})
	var b bytes.Buffer
	if err := wastepage.WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "waste.html")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// everyError flags the results of tools that are errors.
type everyError struct{}

func (everyError) Join(transcripts.Participant) {}
func (everyError) Flags(_, text string) bool    { return len(text) > 5 && text[:5] == "error" }
