package browser

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPagePictures takes the pictures of docs/page.md: every view on a desk and on a
// phone, in light and in dark. REPLAY_SHOTS names their folder, docs/page.
func TestPagePictures(t *testing.T) {
	if os.Getenv("REPLAY_SHOTS") == "" {
		t.Skip("REPLAY_SHOTS names no folder")
	}
	r := everyRoom(t)
	b := start(t)
	r.signIn(b, "admin")
	b.size(t, 1440, 900)
	b.run(t, chromedp.Navigate(r.URL+"/"))
	b.until(t, `document.querySelectorAll("moot-rooms a").length >= 9`)
	r.pictures(b, "rooms")

	r.show(b, r.ids["migration-review"])
	close(r.speak)
	b.until(t, `document.querySelector("moot-timeline").textContent.includes("build the index concur")`)
	r.pictures(b, "live")
	for _, sheet := range []struct{ part, name string }{{"moot-roster", "participants"}, {"moot-inspector", "details"}} {
		b.size(t, 390, 844)
		b.run(t, chromedp.Click(".for-"+sheet.part, chromedp.ByQuery))
		b.until(t, `document.querySelector("`+sheet.part+`.is-open")`)
		r.picture(b, sheet.name, 2)
		b.run(t, chromedp.Click(".sheet-close", chromedp.ByQuery))
	}
	for _, tab := range []string{"seat", "policy", "room", "share"} {
		b.size(t, 1440, 900)
		b.run(t, chromedp.Click("#tab-"+tab, chromedp.ByQuery))
		r.picture(b, "details-"+tab, 0)
	}
	for _, view := range []struct{ state, name string }{
		{"api-security", "draft"},
		{"release-notes", "permission"},
		{"on-call", "paused"},
		{"naming", "stopped"},
		{"pair", "one-to-one"},
		{"contract", "readers"},
		{"empty", "empty"},
	} {
		b.size(t, 1440, 900)
		r.show(b, r.ids[view.state])
		b.until(t, `document.querySelector("moot-dock textarea")`)
		r.pictures(b, view.name)
	}
	b.size(t, 1440, 900)
	r.show(b, r.ids["migration-review"])
	b.run(t, chromedp.Click(".inbox-button", chromedp.ByQuery))
	b.until(t, `document.querySelectorAll("dialog.inbox .item").length >= 2`)
	r.pictures(b, "inbox")
}

// pictures takes four pictures of what a tab shows.
func (r rooms) pictures(b *browser, name string) {
	r.t.Helper()
	for _, size := range []int{0, 2} {
		r.picture(b, name, size)
	}
}

// picture takes two pictures of that size.
func (r rooms) picture(b *browser, name string, size int) {
	r.t.Helper()
	b.size(r.t, sizes[size].width, sizes[size].height)
	for _, scheme := range []string{"light", "dark"} {
		b.colours(r.t, scheme, false)
		b.read(r.t, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))`, new(int)) // drawn
		b.screenshot(r.t, name+"-"+sizes[size].name+"-"+scheme)
	}
}
