package browser

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// sizes are those of a desk, a tablet and a phone.
var sizes = []struct {
	name          string
	width, height int64
}{{"1440", 1440, 900}, {"960", 960, 720}, {"390", 390, 844}}

// TestPageLayout opens every room at each size: nothing is
// wider than the page, and the message field can be seen.
func TestPageLayout(t *testing.T) {
	r := everyRoom(t)
	b := start(t)
	r.signIn(b, "admin")
	for state, id := range r.ids {
		for _, size := range sizes {
			b.size(t, size.width, size.height)
			r.show(b, id)
			b.until(t, `document.querySelector("moot-dock textarea")`)
			var wide []string
			b.read(t, `[...document.querySelectorAll("body *")].filter(e => {
				const r = e.getBoundingClientRect();
				return r.width > 0 && r.right > innerWidth + 1 && getComputedStyle(e).visibility !== "hidden" && !e.closest(".rail-rooms, pre, table, .sr, .skip, [class*=sr]");
			}).map(e => e.tagName + "." + e.className).slice(0, 5)`, &wide)
			if len(wide) > 0 {
				t.Errorf("%s at %s: outside the page: %q", state, size.name, wide)
			}
			var inside bool
			b.read(t, `(() => { const r = document.querySelector("moot-dock textarea").getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight })()`, &inside)
			if !inside {
				t.Errorf("%s at %s: the message field is outside the page", state, size.name)
			}
		}
	}
}

// TestPageWithoutColour: with the forced colours of a system, and on paper, the page
// still says who speaks, which room is shown, and what waits.
func TestPageWithoutColour(t *testing.T) {
	r := rooms{served: serve(t), agents: newAgents(t), ids: map[string]string{}}
	r.draft()
	b := start(t)
	r.signIn(b, "admin")
	r.show(b, r.ids["api-security"])
	b.until(t, `document.querySelector("moot-dock .item button")`)
	b.colours(t, "light", true)
	for what, shown := range map[string]string{
		"the phase is a word":           `document.querySelector("#phase").textContent === "Live"`,
		"the speaker has an outline":    `getComputedStyle(document.querySelector(".seat.is-speaking")).outlineStyle !== "none"`,
		"a seat says what it does":      `document.querySelector(".seat.is-speaking").textContent.includes("waiting for approval")`,
		"the draft has a frame":         `getComputedStyle(document.querySelector("moot-dock .item")).borderTopStyle === "solid"`,
		"the buttons are named":         `[...document.querySelectorAll("moot-dock .item button")].every(b => b.textContent.trim())`,
		"the room of the page is named": `document.querySelector(".rail-room[aria-current=page]") !== null`,
	} {
		var ok bool
		if b.read(t, shown, &ok); !ok {
			t.Errorf("with forced colours: %s: no", what)
		}
	}
	b.screenshot(t, "forced-colours")
	b.run(t, emulation.SetEmulatedMedia().WithMedia("print"))
	var onPaper []string
	b.read(t, `[...document.querySelectorAll(".app > *")].filter(e => e.checkVisibility()).map(e => e.localName)`, &onPaper)
	if !slices.Equal(onPaper, []string{"moot-head", "main"}) {
		t.Errorf("on paper are %q", onPaper)
	}
}

// TestPageSheets opens the participants and the details of a room on a phone.
func TestPageSheets(t *testing.T) {
	s, a := serve(t), newAgents(t)
	id := s.room("version: room/v1\nobjective: open a sheet\npolicy: {use: roundrobin}\nparticipants:\n  - {id: ann, kind: human}\n  - {id: bot, endpoint: " + a.endpoint("bot") + "}\n")
	s.do(id, map[string]any{"do": "say", "as": "ann", "text": "hello"})
	b := start(t)
	s.signIn(b, "admin")
	b.size(t, 390, 844)
	s.show(b, id)
	for _, part := range []string{"moot-roster", "moot-inspector"} {
		visible := `getComputedStyle(document.querySelector("` + part + `")).visibility === "visible"`
		b.until(t, "!("+visible+")")
		b.run(t, chromedp.Click(".for-"+part, chromedp.ByQuery))
		b.until(t, visible+` && document.activeElement === document.querySelector("`+part+`") && document.querySelector(".dock").inert`)
		b.run(t, chromedp.KeyEvent(kb.Escape))
		b.until(t, "!("+visible+`) && document.activeElement.matches(".for-`+part+`") && !document.querySelector(".dock").inert`)
		b.run(t, chromedp.Click(".for-"+part, chromedp.ByQuery), chromedp.Click(".sheet-close", chromedp.ByQuery))
		b.until(t, "!("+visible+")")
	}
	b.run(t, chromedp.Click(".for-moot-inspector", chromedp.ByQuery))
	b.size(t, 1440, 900)
	b.until(t, `document.querySelector(".scrim").hidden && !document.querySelector(".dock").inert`)
}
