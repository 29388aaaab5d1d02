package browser

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// A browser is a tab of Chromium. It collects the page's complaints.
type browser struct {
	ctx        context.Context
	profile    cdp.BrowserContextID
	offline    bool // a request for anything but a file is a complaint
	mu         sync.Mutex
	complaints []string
	watched    bool
	expected   []string // parts of complaints that a test provokes
}

// start opens an empty tab in a profile of its own: it has no cookies.
func start(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the tests of pages need Chromium: install chromium")
		}
		t.Skip("Chromium is not installed")
	}
	parent, err := startChromium(path)
	if err != nil {
		t.Fatal(err)
	}
	c := chromedp.FromContext(parent).Browser
	profile, err := target.CreateBrowserContext().Do(cdp.WithExecutor(parent, c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.DisposeBrowserContext(profile).Do(cdp.WithExecutor(parent, c)) }) // Chromium ends soon
	return newTab(t, parent, profile)
}

// tab opens another tab of the same profile.
func (b *browser) tab(t *testing.T) *browser {
	t.Helper()
	n := newTab(t, b.ctx, b.profile)
	if b.watched {
		n.watch(t)
	}
	return n
}

func newTab(t *testing.T, parent context.Context, profile cdp.BrowserContextID) *browser {
	t.Helper()
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).
		Do(cdp.WithExecutor(parent, chromedp.FromContext(parent).Browser))
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{profile: profile}
	var cancel context.CancelFunc
	b.ctx, cancel = chromedp.NewContext(parent, chromedp.WithTargetID(id))
	t.Cleanup(cancel)
	if err := chromedp.Run(b.ctx); err != nil { // attaches to the tab, whose life is that of the context
		t.Fatal(err)
	}
	return b
}

// open opens a file in a tab without a network.
func open(t *testing.T, file string) *browser {
	t.Helper()
	b := start(t)
	b.offline = true
	b.watch(t)
	b.run(t,
		network.EmulateNetworkConditions(true, 0, 0, 0),
		chromedp.EmulateViewport(1100, 900),
		chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()),
		chromedp.WaitReady("footer", chromedp.ByQuery),
	)
	return b
}

// watch collects complaints from now on, and fails the test at its end if there were
// any that it does not expect.
func (b *browser) watch(t *testing.T) {
	t.Helper()
	if b.watched {
		return
	}
	b.watched = true
	chromedp.ListenTarget(b.ctx, b.listen)
	b.run(t, log.Enable(), runtime.Enable(), network.Enable())
	t.Cleanup(func() { b.checkComplaints(t) })
}

// expect says that the page may complain with that text.
func (b *browser) expect(parts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, parts...)
}

// run runs actions, for three minutes at most.
func (b *browser) run(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 3*time.Minute)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// until waits until an expression of the page is true.
func (b *browser) until(t *testing.T, expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 3*time.Minute)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Poll(expression, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(2*time.Minute))); err != nil {
		var text string
		_ = chromedp.Run(b.ctx, chromedp.Evaluate(`document.body.innerText`, &text)) // only for the message
		t.Fatalf("%v: %s\nthe page shows:\n%s", err, expression, text)
	}
}

// read evaluates an expression, which may be promised, into v.
func (b *browser) read(t *testing.T, expression string, v any) {
	t.Helper()
	b.run(t, chromedp.Evaluate(expression, v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
}

// value returns the text that an expression has.
func (b *browser) value(t *testing.T, expression string) (v string) {
	t.Helper()
	b.read(t, expression, &v)
	return v
}

// size gives the page a size, in the way of a phone if it is narrow.
func (b *browser) size(t *testing.T, width, height int64) {
	t.Helper()
	var options []chromedp.EmulateViewportOption
	if width < 500 {
		options = append(options, chromedp.EmulateTouch)
	}
	b.run(t, chromedp.EmulateViewport(width, height, options...))
}

// colours sets what the system prefers: light or dark, and forced colours or none.
func (b *browser) colours(t *testing.T, scheme string, forced bool) {
	t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	if forced {
		features = append(features, &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	}
	b.run(t, emulation.SetEmulatedMedia().WithFeatures(features))
}

// listen collects log entries, exceptions, console calls, and, offline, requests for
// anything but the file.
func (b *browser) listen(event any) {
	complaint := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		complaint = string(e.Entry.Level) + ": " + e.Entry.Text + " " + e.Entry.URL
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		complaint = "console." + string(e.Type)
		for _, a := range e.Args {
			complaint += " " + string(a.Value)
		}
	case *network.EventRequestWillBeSent:
		if b.offline && !strings.HasPrefix(e.Request.URL, "file:") {
			complaint = "request for " + e.Request.URL
		}
	}
	if complaint != "" {
		b.mu.Lock()
		b.complaints = append(b.complaints, complaint)
		b.mu.Unlock()
	}
}

// checkComplaints fails the test if there were any, and forgets them.
func (b *browser) checkComplaints(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		if !slices.ContainsFunc(b.expected, func(part string) bool { return strings.Contains(c, part) }) {
			t.Errorf("the browser complains: %s", c)
		}
	}
	b.complaints = nil
}
