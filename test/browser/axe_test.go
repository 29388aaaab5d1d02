package browser

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axeSource returns the accessibility checker axe-core, which npm ci installs.
func axeSource(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		const fix = "axe-core is not installed: npm ci --prefix test/browser --ignore-scripts"
		if os.Getenv("CI") == "true" {
			t.Fatal(fix)
		}
		t.Skip(fix)
	}
	return string(src)
}

// axe checks what the tab shows by all rules of axe-core.
func (b *browser) axe(t *testing.T, where string) {
	t.Helper()
	source := axeSource(t)
	var loaded bool
	if b.read(t, `Boolean(window.axe)`, &loaded); !loaded {
		b.run(t, chromedp.ActionFunc(func(ctx context.Context) error {
			_, _, err := runtime.Evaluate(source + ";0").Do(ctx)
			return err
		}))
	}
	var found []string
	b.read(t, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.flatMap(v =>
		v.nodes.slice(0, 4).map(n => v.id + ": " + n.html.slice(0, 160) + " " + n.failureSummary.replace(/\s+/g, " ").slice(0, 300))))`, &found)
	if len(found) > 0 {
		t.Errorf("axe-core on %s:\n%s", where, strings.Join(found, "\n"))
	}
}

// TestPageAccessible checks every room, the list of rooms and every panel with
// axe-core, on a desk and on a phone, in light and in dark.
func TestPageAccessible(t *testing.T) {
	axeSource(t)
	r := everyRoom(t)
	b := start(t)
	r.signIn(b, "admin")
	for _, size := range []int{0, 2} {
		b.size(t, sizes[size].width, sizes[size].height)
		for _, scheme := range []string{"light", "dark"} {
			b.colours(t, scheme, false)
			how := sizes[size].name + ", " + scheme
			b.run(t, chromedp.Navigate(r.URL+"/"))
			b.until(t, `document.querySelector("moot-rooms a")`)
			b.axe(t, "the list of rooms, "+how)
			for state, id := range r.ids {
				r.show(b, id)
				b.axe(t, state+", "+how)
			}
		}
	}
	r.axePanels(t, b)
	b.size(t, sizes[2].width, sizes[2].height)
	r.show(b, r.ids["migration-review"])
	for _, part := range []string{"moot-roster", "moot-inspector"} {
		b.run(t, chromedp.Click(".for-"+part, chromedp.ByQuery))
		b.until(t, `document.querySelector("`+part+`.is-open")`)
		b.axe(t, part+" as a sheet")
		b.run(t, chromedp.Click(".sheet-close", chromedp.ByQuery))
	}
}

// axePanels checks the details, the preview of a policy and the inbox on a desk.
func (r rooms) axePanels(t *testing.T, b *browser) {
	t.Helper()
	b.size(t, sizes[0].width, sizes[0].height)
	r.show(b, r.ids["migration-review"])
	for _, tab := range []string{"decision", "seat", "policy", "room", "share"} {
		b.run(t, chromedp.Click("#tab-"+tab, chromedp.ByQuery))
		b.axe(t, "the tab "+tab)
	}
	b.run(t, chromedp.Click(previewPolicy, chromedp.ByQuery))
	b.until(t, `document.querySelector("dialog.preview .preview-sum")`)
	b.axe(t, "the preview of a policy")
	b.run(t, chromedp.Evaluate(`document.querySelector("dialog.preview").close()`, nil), chromedp.Click("moot-inbox-button button", chromedp.ByQuery))
	b.until(t, `document.querySelectorAll("dialog[open] .item, .inbox .item").length > 0`)
	b.axe(t, "the inbox")
	b.run(t, chromedp.KeyEvent("\x1b"))
}
