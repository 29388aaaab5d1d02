package replay_test

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/folkmoot/moot/replay"
)

// TestPageInABrowser opens the report as who gets it by mail does: from a file
// and without a network.
func TestPageInABrowser(t *testing.T) {
	b := open(t, report(t))
	var title string
	var pictures, tables, wide int64
	b.run(t,
		chromedp.Title(&title),
		chromedp.Evaluate(`document.querySelectorAll('svg[role=img]').length`, &pictures),
		chromedp.Evaluate(`document.querySelectorAll('table').length`, &tables),
	)
	if !strings.HasPrefix(title, "Replay of ") || pictures < 12*4+3 || tables < 12+8 {
		t.Errorf("%q with %d pictures and %d tables", title, pictures, tables)
	}
	b.click(t)
	for _, scheme := range []string{"light", "dark"} {
		var ground string
		b.run(t,
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
			chromedp.Evaluate(`getComputedStyle(document.body).backgroundColor`, &ground),
		)
		if dark := ground == "rgb(15, 18, 25)"; dark != (scheme == "dark") {
			t.Errorf("the ground is %s where %s is preferred", ground, scheme)
		}
		b.shoot(t, scheme)
	}
	b.run(t,
		chromedp.EmulateViewport(360, 740),
		chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide),
	)
	if wide > 360 {
		t.Errorf("at a width of 360 the page is %d wide", wide)
	}
	b.shoot(t, "narrow")
	b.silent(t)
}

// TestLongPageInABrowser: a page of thousands of rounds answers a click within
// the time that a person waits for one.
func TestLongPageInABrowser(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.html")
	writePage(t, long(t), name)
	b := open(t, name)
	var cells int64
	b.run(t, chromedp.Evaluate(`document.querySelectorAll('details rect').length`, &cells))
	if cells < 10_000 {
		t.Errorf("%d cells", cells)
	}
	b.click(t)
	b.silent(t)
}

// A browser has one page open and notes what it complains of.
type browser struct {
	ctx context.Context
	mu  sync.Mutex
	bad []string
}

// open starts a browser with a file in it.
func open(t *testing.T, file string) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("chromium is needed to look at the page")
		}
		t.Skip("there is no chromium to look at the page with")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(time.Minute), chromedp.WindowSize(1100, 900))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	b := &browser{}
	b.ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	chromedp.ListenTarget(b.ctx, b.hear)
	b.run(t,
		log.Enable(), runtime.Enable(), network.Enable(),
		network.EmulateNetworkConditions(true, 0, 0, 0),
		chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()),
		chromedp.WaitReady("footer", chromedp.ByQuery),
	)
	return b
}

func (b *browser) run(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if b.ctx.Err() == nil && chromedp.FromContext(b.ctx).Target == nil {
		ctx = b.ctx // the first run owns the browser's life
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// hear notes complaints, and requests for anything but the file.
func (b *browser) hear(event any) {
	said := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		said = string(e.Entry.Level) + ": " + e.Entry.Text
	case *runtime.EventExceptionThrown:
		said = e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		said = "console." + string(e.Type)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") {
			said = "request for " + e.Request.URL
		}
	}
	if said != "" {
		b.mu.Lock()
		b.bad = append(b.bad, said)
		b.mu.Unlock()
	}
}

func (b *browser) silent(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.bad) > 0 {
		t.Errorf("the browser says:\n%s", strings.Join(b.bad, "\n"))
	}
}

// click follows the first outlined cell and looks where it leads: to a row with
// both decisions, in sight.
func (b *browser) click(t *testing.T) {
	t.Helper()
	var at []float64
	b.run(t, chromedp.Evaluate(`(() => {
		const cell = document.querySelector('details[open] a rect.flip');
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
			nil, chromedp.WithPollingTimeout(20*time.Second)), // the browser scrolls there
	)
	if cells := strings.Split(row, "\t"); len(cells) < 3 || cells[1] == "" || cells[2] == "" || cells[1] == cells[2] {
		t.Errorf("the row of the decision says %q", row)
	}
}

// shoot keeps a picture of the page where REPLAY_SHOTS names a folder.
func (b *browser) shoot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("REPLAY_SHOTS")
	if dir == "" {
		return
	}
	var png []byte
	b.run(t, chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
}

// report writes the page of the extract, with a policy that is sure at times.
func report(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.html")
	r, err := replay.Run(t.Context(), replay.Config{Subjects: []replay.Subject{
		{Name: "sure", Policy: sure{}}, {Name: "address->ngram3", Baseline: "address->ngram3"}, {Name: "mention-only", Baseline: "mention-only"},
	}}, conversations(filepath.Join("testdata", "extract.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	writePage(t, r, name)
	return name
}

func writePage(t *testing.T, r *replay.Report, name string) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
