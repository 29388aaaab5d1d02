package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// inspected is a room whose agents speak in turns, named by a policy with scores.
const inspected = `version: room/v1
name: inspected
objective: Say why.
policy: {use: roundrobin}
limits: {maxTurns: 3}
participants:
  - {id: ann, kind: human}
  - {id: bot, mode: full_auto, endpoint: {kind: scripted, lines: [one, three]}}
  - {id: pal, mode: full_auto, endpoint: {kind: scripted, lines: [two, four]}}
`

// TestPageInspector opens the tabs of the inspector: a decision with its prompt and who was
// blocked, a participant whose standing is changed, the limits, the exports, a link for
// spectators, and a room that is run again from a turn.
func TestPageInspector(t *testing.T) {
	s := serve(t)
	id := s.room(inspected)
	s.until(id, func(v view) bool { return v.Phase == "stopped" })
	b := start(t)
	s.signIn(b, "admin")
	s.show(b, id)
	b.until(t, `document.querySelector("#panel-decision h2")?.textContent === "Why bot had turn 3"`)
	b.run(t, chromedp.Click("#panel-decision details summary", chromedp.ByQuery))
	b.until(t, `document.querySelector("#panel-decision pre[aria-label=Prompt]")?.textContent.includes("Say why.")`)
	b.until(t, `document.querySelector("#panel-decision .bars .win th").textContent.startsWith("bot")`)
	b.screenshot(t, "inspector-decision")
	t.Run("participant", func(t *testing.T) {
		b.run(t, chromedp.Click("#tab-seat", chromedp.ByQuery), chromedp.Click(`moot-roster [data-seat=pal] button`, chromedp.ByQuery))
		b.until(t, `document.querySelector("#panel-seat h2").textContent === "pal"`)
		b.run(t, chromedp.Click(`#panel-seat [data-act=muted]`, chromedp.ByQuery))
		b.until(t, `document.querySelector("#panel-seat [data-act=active]") && document.querySelector("#panel-seat .facts").textContent.includes("muted")`)
		b.screenshot(t, "inspector-participant")
	})
	t.Run("keys", func(t *testing.T) {
		b.run(t, chromedp.Focus("#tab-seat", chromedp.ByQuery), chromedp.KeyEvent("\u0303")) // ArrowRight
		b.until(t, `document.activeElement.getAttribute("role") === "tab" && !document.querySelector("#panel-policy").hidden`)
	})
	t.Run("room", func(t *testing.T) {
		b.run(t, chromedp.Click("#tab-room", chromedp.ByQuery))
		b.until(t, `document.querySelector("#panel-room .gauge").textContent === "Turns3 / 3" && document.querySelectorAll("#panel-room .costs tbody tr").length === 2`)
		b.screenshot(t, "inspector-room")
	})
	t.Run("share", func(t *testing.T) { testSharePanel(t, s, b, id) })
	t.Run("fork", func(t *testing.T) {
		b.run(t, chromedp.Click("#tab-decision", chromedp.ByQuery), chromedp.Evaluate(`[...document.querySelectorAll("#panel-decision button")].find(e => e.textContent === "Run again from here").click()`, nil),
			chromedp.WaitReady(`body:not([data-room="`+id+`"]) moot-roster li`, chromedp.ByQuery))
		var rooms []struct{ Room string }
		if s.call(http.MethodGet, "/api/rooms", "", &rooms); len(rooms) != 2 {
			t.Errorf("the rooms are %v", rooms)
		}
	})
}

// testSharePanel downloads a transcript and signs another browser in with a link.
func testSharePanel(t *testing.T, s served, b *browser, id string) {
	b.run(t, chromedp.Click("#tab-share", chromedp.ByQuery))
	b.until(t, `document.querySelectorAll("#panel-share .exports a").length === 7`)
	if v := b.value(t, `fetch(document.querySelector("#panel-share .exports a").href).then(r => r.text())`); !strings.Contains(v, "Say why.") {
		t.Errorf("the transcript is %s", v)
	}
	b.run(t, chromedp.Click("#panel-share form button", chromedp.ByQuery))
	b.until(t, `document.querySelector("#panel-share [aria-live] input")?.value.includes("/launch#moot_")`)
	b.until(t, `document.querySelectorAll("#panel-share .links li").length === 1`)
	b.screenshot(t, "inspector-share")
	link := b.value(t, `document.querySelector("#panel-share [aria-live] input").value`)
	friend := start(t)
	friend.run(t, chromedp.Navigate(link), chromedp.WaitVisible("moot-roster li", chromedp.ByQuery))
	if v := friend.value(t, `fetch("/api/caller").then(r => r.json()).then(c => [location.pathname, c.scope, c.room].join(" "))`); v != "/rooms/"+id+" read "+id {
		t.Errorf("the link leads to %s", v)
	}
	b.run(t, chromedp.Click("#panel-share .links button", chromedp.ByQuery))
	b.until(t, `document.querySelectorAll("#panel-share .links li").length === 0`)
	if v := friend.value(t, `fetch("/api/caller").then(r => String(r.status))`); v != "401" {
		t.Errorf("a revoked link is answered %s", v)
	}
}
