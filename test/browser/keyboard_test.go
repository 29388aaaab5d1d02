package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// press presses a key with the keyboard, wherever the focus is.
func (b *browser) press(t *testing.T, keys string, modifiers ...input.Modifier) {
	t.Helper()
	b.run(t, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// focusable lists what a person must reach: all that can be pressed or filled in and is
// visible. Of a group of radio buttons or tabs one is reached by Tab, and the arrow keys
// reach the others.
const focusable = `window.nameOf = e => e.tagName + " " + (e.id || e.getAttribute("aria-label") || e.textContent.trim().slice(0, 40) || e.title);
[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter(e =>
	e.checkVisibility({visibilityProperty: true}) && !e.disabled && !e.closest("[inert]") && e.tabIndex >= 0).map(nameOf)`

// TestPageByKeyboard walks through the page of a room with Tab: it reaches everything,
// says where it is, and comes to an end. Then it uses the page with keys alone.
func TestPageByKeyboard(t *testing.T) {
	r := rooms{served: serve(t), agents: newAgents(t), ids: map[string]string{}}
	r.draft()
	id := r.ids["api-security"]
	b := start(t)
	r.signIn(b, "admin")
	b.size(t, 1440, 900)
	r.show(b, id)
	b.until(t, `document.querySelector("moot-dock .item button")`)
	tabThrough(t, b)

	b.read(t, `document.activeElement.blur() ?? 0`, new(int))
	b.press(t, "p")
	r.until(id, func(v view) bool { return v.Phase == "paused" })
	b.until(t, `document.querySelector("#phase").textContent === "Paused"`)
	b.run(t, chromedp.Focus("moot-dock textarea.message, moot-dock form textarea", chromedp.ByQuery))
	b.press(t, "right?")
	if v := b.value(t, `document.activeElement.value`); v != "right?" {
		t.Errorf("the message field has %q", v)
	}
	if v := r.until(id, func(view) bool { return true }); v.Phase != "paused" {
		t.Error("r was a command while a text field had the focus")
	}
	b.press(t, kb.Escape)
	b.read(t, `document.activeElement.blur() ?? 0`, new(int))
	b.press(t, "?")
	b.until(t, `document.querySelector("dialog[open]")`)
	b.axe(t, "the help")
	b.press(t, kb.Escape)
	b.until(t, `!document.querySelector("dialog[open]")`)
	b.press(t, "r")
	r.until(id, func(v view) bool { return v.Phase == "live" })
}

// tabThrough presses Tab from the top of the page until the focus leaves it, and checks that
// everything was reached and could be seen.
func tabThrough(t *testing.T, b *browser) {
	t.Helper()
	var want, got, unseen []string
	b.read(t, focusable, &want)
	b.read(t, `document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute("tabindex"), 0`, new(int))
	for range 3 * len(want) {
		b.press(t, kb.Tab)
		var at struct {
			Name string
			Seen bool
		}
		b.read(t, `(() => {
			const e = document.activeElement;
			if (!e || e === document.body) return {Name: ""};
			const s = getComputedStyle(e), r = e.getBoundingClientRect();
			const ring = getComputedStyle(e, "::after");
			const seen = (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1) || (ring.content !== "none" && ring.outlineStyle !== "none");
			return {Name: nameOf(e), Seen: seen && r.width > 0 && r.bottom > 0 && r.top < innerHeight && r.right > 0};
		})()`, &at)
		if at.Name == "" || len(got) > 0 && at.Name == got[0] && len(got) >= len(want) {
			break
		}
		got = append(got, at.Name)
		if !at.Seen {
			unseen = append(unseen, at.Name)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("Tab does not reach %s\nof %s", name, strings.Join(got, "; "))
		}
	}
	if len(unseen) > 0 {
		t.Errorf("the focus cannot be seen on %q", unseen)
	}
}
