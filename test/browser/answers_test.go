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
	_, a, b, room := answering(t, "")
	a.says("dba", "The index is safe.\u202eevil")
	b.shows(t, card, "DBA wants to say to everybody")
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
	hasLines(t, b.events(t, room, "turn.(drafted|edited|approved|rejected)", "body.text ?? body.message?.text ?? body.reason"),
		"turn.approved ann page", "turn.drafted sec  first text", "turn.edited ann page second text", "turn.edited ann page third text", "turn.rejected ann page not now")
}

// events returns the events of a room with one of those types, as the page's history has
// them: type, actor, way, and what jsOfBody makes of the body.
func (b *browser) events(t *testing.T, room, types, jsOfBody string) string {
	t.Helper()
	var log []string
	b.read(t, `fetch("/api/rooms/`+room+`/history").then(r => r.json()).then(h => h.events.map(u => u.event).filter(e => /^(`+types+`)$/.test(e.type)).map(e => { const body = e.body; return [e.type, e.actor, e.via, `+jsOfBody+`].join(" ") }))`, &log)
	return strings.Join(log, "\n")
}

func hasLines(t *testing.T, log string, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q:\n%s", want, log)
		}
	}
}

// TestPagePermissions allows and refuses what an agent asks for, and shows an answer that
// another terminal gave first.
func TestPagePermissions(t *testing.T) {
	s, a, b, room := answering(t, "")
	a.on("dba", func(turn *turn) {
		turn.ask("execute", "Run the tests", map[string]any{"rawInput": map[string]any{"command": "go test ./...\nrm -rf /"}})
		turn.ask("edit", "Change the plan", map[string]any{
			"locations": []map[string]any{{"path": "plan.md"}},
			"content":   []map[string]any{{"type": "diff", "path": "plan.md", "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n"}},
		})
		turn.ask("execute", "Deploy", map[string]any{"rawInput": map[string]any{"command": "make deploy"}})
		turn.say("done")
	})
	b.shows(t, card, "Run the tests")
	b.shows(t, card+" pre", "go test ./...⏎\nrm -rf /")
	b.shows(t, card+" .left", "refused in 1:5")
	b.screenshot(t, "answers-permission")
	b.click(t, card+" .allow")
	b.shows(t, card, "plan.md")
	b.shows(t, card+" del", "− two")
	b.shows(t, card+" ins", "+ 2")
	b.screenshot(t, "answers-diff")
	b.run(t, chromedp.KeyEvent("x"))
	b.shows(t, card, "make deploy")
	var done struct{ Events []any }
	s.call("POST", "/api/inbox/"+room+"/1.3/answer", `{"answer":"always"}`, &done)
	b.shows(t, "moot-dock .is-ended .outcome", "allowed for good by host over HTTP at ")
	b.shows(t, card, "done")
	b.click(t, card+" .approve")
	hasLines(t, b.events(t, room, "permission.answered", "[body.id, body.allowed, body.always ?? false]"),
		"permission.answered ann page 1.1,true,false", "permission.answered ann page 1.2,false,false", "permission.answered host http 1.3,true,true")
}

// TestPageQuestions fills in a form of an agent, and declines another one.
func TestPageQuestions(t *testing.T) {
	_, a, b, room := answering(t, "")
	const fields = `{
		"strategy": {"type": "string", "title": "Strategy", "oneOf": [{"const": "safe", "title": "Safe", "description": "takes an hour"}, {"const": "fast", "title": "Fast"}], "default": "safe"},
		"tables": {"type": "array", "title": "Tables", "items": {"enum": ["orders", "customers"]}, "minItems": 1},
		"batches": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
		"now": {"type": "boolean", "title": "Run now"},
		"mail": {"type": "string", "title": "Mail", "maxLength": 60, "pattern": "@example[.]"},
		"note": {"type": "string", "title": "Note"}
	}`
	a.on("dba", func(turn *turn) {
		turn.form("How shall I run it?", fields, "strategy", "mail")
		turn.form("Shall I wait?", `{}`)
		turn.say("done")
	})
	b.shows(t, card, "How shall I run it?")
	b.shows(t, card, "takes an hour")
	b.screenshot(t, "answers-question")
	b.run(t, chromedp.KeyEvent("a"))
	b.until(t, `document.activeElement.matches(".question *")`) // the key begins the form, and does not send it
	b.run(t, chromedp.Click(card+` input[value="fast"]`, chromedp.ByQuery), chromedp.Click(card+` input[value="orders"]`, chromedp.ByQuery),
		chromedp.SetValue(card+` input[type="number"]`, "4", chromedp.ByQuery), chromedp.SendKeys(card+` textarea`, "at night", chromedp.ByQuery))
	b.click(t, card+" .fill-in")
	b.until(t, `document.activeElement.matches(":invalid")`) // the mail is required
	b.expect("422")
	b.run(t, chromedp.Evaluate(`document.activeElement.value = "ann"`, nil))
	b.click(t, card+" .fill-in")
	b.shows(t, card+" .outcome", "mail")
	b.run(t, chromedp.Evaluate(`document.querySelector("moot-dock .question [type=text]").value = "ann@example.org"`, nil))
	b.click(t, card+" .fill-in")
	b.shows(t, card, "Shall I wait?")
	b.run(t, chromedp.KeyEvent("x"), chromedp.WaitVisible("dialog.ask input", chromedp.ByQuery), chromedp.SetValue("dialog.ask input", "ask later", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	b.shows(t, card, "done")
	hasLines(t, b.events(t, room, "permission.answered", "JSON.stringify(body.values ?? body.reason)"),
		`"strategy":"fast"`, `"tables":["orders"]`, `"batches":4`, `"now":false`, `"mail":"ann@example.org"`, `"note":"at night"`, `permission.answered ann page "ask later"`)
}

// TestPageSecondAnswer: a person whose answer comes second is told who was first.
func TestPageSecondAnswer(t *testing.T) {
	s, a, b, room := answering(t, "")
	b.expect("409")
	a.says("dba", "a draft for two")
	b.shows(t, card, "a draft for two")
	b.run(t, chromedp.Evaluate(`{ // the answer is on its way until the test lets it go
		const send = window.fetch;
		window.fetch = (path, o) => o?.method === "POST" ? new Promise((go) => { window.go = go; }).then(() => send(path, o)) : send(path, o);
	}`, nil))
	b.click(t, card+" .reject")
	b.run(t, chromedp.WaitVisible("dialog.ask input", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	b.until(t, `window.go !== undefined`)
	v := s.until(room, func(v view) bool { return v.Draft != nil })
	var done struct{ Events []any }
	s.call("POST", "/api/inbox/"+room+"/"+v.Draft.Hash+"/answer", `{"answer":"approve"}`, &done)
	b.gone(t, "moot-dock moot-item")
	b.run(t, chromedp.Evaluate(`window.go()`, nil))
	b.shows(t, "dialog", "was approved by host (http)")
	b.shows(t, "dialog", "this answer changes nothing")
}

// TestPageInboxReconnects: what waits is the same after the server was started again.
func TestPageInboxReconnects(t *testing.T) {
	a, data := newAgents(t), t.TempDir()
	s := serveAt(t, data, "127.0.0.1:0")
	room := s.room(reviewed(a, "onRestart: continue\n"))
	b := start(t)
	s.signIn(b, "admin")
	b.expect("ERR_", "WebSocket", "504", "502", "503")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+room))
	a.says("dba", "a draft that waits")
	b.shows(t, card, "a draft that waits")
	s.end()
	s = serveAt(t, data, strings.TrimPrefix(s.URL, "http://"))
	b.until(t, `fetch("/api/inbox").then((r) => r.ok, () => false)`)
	b.click(t, card+" .approve")
	b.shows(t, "moot-timeline", "a draft that waits")
	b.gone(t, "moot-dock moot-item")
	hasLines(t, b.events(t, room, "turn.approved", "''"), "turn.approved ann page")
}

// TestPageInbox answers what waits in another room, and notifies of it without its text.
func TestPageInbox(t *testing.T) {
	s, a, b, room := answering(t, "")
	b.run(t, chromedp.Evaluate(`
		window.told = [];
		window.Notification = class { static permission = "default"; static async requestPermission() { return this.permission = "granted"; } constructor(title, o) { told.push(title + "|" + o.body + "|" + o.tag); } };
		document.hasFocus = () => false;`, nil))
	a.says("dba", "here is a draft")
	b.shows(t, ".inbox-button b", "1")
	b.until(t, `document.title.startsWith("(1) ")`)
	b.run(t, chromedp.Click(".inbox-button", chromedp.ByQuery))
	b.click(t, "dialog.inbox .notify")
	b.shows(t, "dialog.inbox .notify", "Notifications are on")
	other := s.room(strings.Replace(reviewed(a, ""), "name: review", "name: elsewhere", 1))
	a.says("dba", "there is a draft")
	b.shows(t, ".inbox-button b", "2")
	const there = `dialog.inbox moot-item:last-child`
	b.shows(t, there, "there is a draft")
	b.shows(t, there+" .room", "elsewhere")
	b.shows(t, there+" h3", "DBA wants")
	b.screenshot(t, "answers-inbox")
	if got := b.value(t, `told.join()`); !strings.HasPrefix(got, "dba waits for your approval|elsewhere|"+other+"/") {
		t.Errorf("the browser notifies of %q", got)
	}
	b.click(t, there+" .approve")
	b.shows(t, ".inbox-button b", "1")
	s.until(other, func(v view) bool { return v.Draft == nil })
	b.run(t, chromedp.KeyEvent(kb.Escape))
	b.gone(t, "dialog")
	hasLines(t, b.events(t, other, "turn.approved", "''"), "turn.approved ann page")
	_ = room
}
