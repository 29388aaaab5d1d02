package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// reviewed is a room with a person and two agents, whose drafts wait for an approval.
func reviewed(a *agents, more string) string {
	return `version: room/v1
name: review
objective: test the answers
policy: {use: roundrobin}
participants:
  - {id: ann, name: Ann, kind: human}
  - {id: dba, name: DBA, mode: manual, endpoint: ` + a.endpoint("dba") + `}
  - {id: sec, name: Security, mode: manual, endpoint: ` + a.endpoint("sec") + `}
` + more
}

// answering opens a room in which dba has the floor.
func answering(t *testing.T, more string) (s served, a *agents, b *browser, room string) {
	t.Helper()
	s, a = serve(t), newAgents(t)
	room = s.room(reviewed(a, more))
	b = start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+room))
	b.until(t, `document.querySelector("moot-roster li") && document.querySelector("moot-controls .pause")?.disabled === false`)
	return s, a, b, room
}

// card is the card of the dock that waits.
const card = `moot-dock moot-item:not(.is-ended):not([data-settling])`

func (b *browser) click(t *testing.T, selector string) {
	t.Helper()
	b.until(t, `document.querySelector(`+quoted(selector)+`)?.disabled === false`)
	b.run(t, chromedp.Click(selector, chromedp.ByQuery))
}

func quoted(s string) string { return "`" + s + "`" }

// shows waits until the first element of the selector has a text.
func (b *browser) shows(t *testing.T, selector, text string) {
	t.Helper()
	b.until(t, `document.querySelector(`+quoted(selector)+`)?.textContent.includes(`+quoted(text)+`)`)
}

func (b *browser) gone(t *testing.T, selector string) {
	t.Helper()
	b.until(t, `!document.querySelector(`+quoted(selector)+`)`)
}

// TestPageDrafts approves, edits and rejects drafts on the page.
func TestPageDrafts(t *testing.T) {
	s, a, b, room := answering(t, "")
	a.says("dba", "The index is safe.\u202eevil")
	b.shows(t, card, "The index is safe.")
	b.shows(t, card+" .code-point", "U+202E")
	b.screenshot(t, "answers-draft")
	b.click(t, card+" .approve")
	b.shows(t, "moot-timeline", "The index is safe.")

	a.says("sec", "first text")
	b.shows(t, card, "first text")
	b.click(t, card+" .edit")
	b.run(t, chromedp.SetValue(card+" textarea", "second text", chromedp.ByQuery))
	b.screenshot(t, "answers-edit")
	b.click(t, card+" .send")
	b.shows(t, "moot-timeline", "second text")

	a.says("dba", "kept text")
	b.shows(t, card, "kept text")
	b.click(t, card+" .edit")
	b.run(t, chromedp.SetValue(card+" textarea", "third text", chromedp.ByQuery))
	b.click(t, card+" .keep")
	b.shows(t, card, "third text")
	b.shows(t, card, "A person has edited this text")
	b.click(t, card+" .reject")
	b.run(t, chromedp.SendKeys("dialog.ask input", "not now"+kb.Enter, chromedp.ByQuery))
	b.gone(t, "moot-dock moot-item")
	var log []string
	b.read(t, `fetch("/api/rooms/`+room+`/history").then(r => r.json()).then(h => h.events.map(u => u.event).filter(e => /^turn\.(drafted|edited|approved|rejected)/.test(e.type)).map(e => [e.type, e.actor, e.via, e.body.text ?? e.body.message?.text ?? e.body.reason].join(" ")))`, &log)
	text := strings.Join(log, "\n")
	for _, want := range []string{"turn.approved ann page", "turn.drafted sec  first text", "turn.edited ann page second text", "turn.edited ann page third text", "turn.rejected ann page not now"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no %q:\n%s", want, text)
		}
	}
	_ = s
}
