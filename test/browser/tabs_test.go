package browser

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const quietRoom = `version: room/v1
name: quiet
objective: Show what people say.
policy: {use: mention}
limits: {maxDeclines: 1000}
participants:
  - {id: ann, name: Ann, kind: human}
  - {id: bot, name: Bot, endpoint: {kind: scripted, lines: [hello]}}
`

// TestPageNineTabs opens a room nine times in one browser, which keeps at most six
// connections of HTTP/1.1 to a server. Each page follows the room.
func TestPageNineTabs(t *testing.T) {
	s := serve(t)
	id := s.room(quietRoom)
	s.do(id, map[string]any{"do": "say", "as": "ann", "text": "first"})
	b := start(t)
	s.signIn(b, "admin")
	tabs := []*browser{b}
	for len(tabs) < 9 {
		tabs = append(tabs, b.tab(t))
	}
	for _, tab := range tabs {
		s.show(tab, id)
		tab.until(t, `document.querySelector("moot-timeline").textContent.includes("first")`)
	}
	s.do(id, map[string]any{"do": "say", "as": "ann", "text": "second"})
	for _, tab := range tabs {
		tab.until(t, `document.querySelector("moot-timeline").textContent.includes("second")`)
	}
	b.run(t, chromedp.SendKeys("moot-dock textarea", "third\r", chromedp.ByQuery))
	for _, tab := range tabs {
		tab.until(t, `document.querySelector("moot-timeline").textContent.includes("third")`)
	}
}

// TestPageReconnects ends the server under an open page and starts it again: the page
// says that there is no connection, then shows what has come meanwhile, once.
func TestPageReconnects(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := serveAt(t, data, "127.0.0.1:0")
	id := s.room(quietRoom)
	s.do(id, map[string]any{"do": "say", "as": "ann", "text": "before the end"})
	b := start(t)
	s.signIn(b, "admin")
	b.expect("WebSocket", "net::ERR_CONNECTION_REFUSED")
	s.show(b, id)
	s.end()
	b.until(t, `document.querySelector("#link").textContent.includes("no connection")`)
	b.run(t, chromedp.SendKeys("moot-dock textarea", "kept while it is away", chromedp.ByQuery))
	s = serveAt(t, data, strings.TrimPrefix(s.URL, "http://"))
	s.do(id, map[string]any{"do": "say", "as": "ann", "text": "after the start"})
	b.until(t, `document.querySelector("moot-timeline").textContent.includes("after the start") && document.querySelector("#link").textContent === ""`)
	var times int
	b.read(t, `document.querySelector("moot-timeline").textContent.split("before the end").length - 1`, &times)
	if times != 1 {
		t.Errorf("a message from before is shown %d times", times)
	}
	if v := b.value(t, `document.querySelector("moot-dock textarea").value`); v != "kept while it is away" {
		t.Errorf("the message field has %q", v)
	}
	b.screenshot(t, "reconnected")
}
