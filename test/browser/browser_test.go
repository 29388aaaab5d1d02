package browser

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A browser is Chromium with one page. It collects the page's complaints.
type browser struct {
	ctx        context.Context
	mu         sync.Mutex
	complaints []string
}

// start starts Chromium with an empty page.
func start(t *testing.T, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the tests of pages need Chromium: install chromium")
		}
		t.Skip("Chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(time.Minute), chromedp.WindowSize(1100, 900))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(options, more...)...)
	t.Cleanup(cancel)
	b := &browser{}
	b.ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return b
}

// open starts Chromium without a network and opens a file.
func open(t *testing.T, file string) *browser {
	t.Helper()
	b := start(t)
	chromedp.ListenTarget(b.ctx, b.listen)
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
		ctx = b.ctx // the first run starts the browser, which must outlive it
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// listen collects log entries, exceptions, console calls, and requests for
// anything but the file.
func (b *browser) listen(event any) {
	complaint := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		complaint = string(e.Entry.Level) + ": " + e.Entry.Text
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		complaint = "console." + string(e.Type)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") {
			complaint = "request for " + e.Request.URL
		}
	}
	if complaint != "" {
		b.mu.Lock()
		b.complaints = append(b.complaints, complaint)
		b.mu.Unlock()
	}
}

// checkComplaints fails the test if there were any.
func (b *browser) checkComplaints(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(b.complaints, "\n"))
	}
}

// screenshot saves a picture of the page if REPLAY_SHOTS names a folder.
func (b *browser) screenshot(t *testing.T, name string) {
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
