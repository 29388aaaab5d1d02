package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const timelineRoom = `version: room/v1
name: migration-review
objective: Decide whether migration 0042 can be deployed on Friday, and what has to change first.
constraints: ["Writes are never blocked for more than a second."]
policy: {use: roundrobin}
limits: {maxTurns: 40}
participants:
  - {id: Ana, kind: human}
  - {id: Codebase, mode: full_auto, endpoint: CODEBASE}
  - {id: DBA, mode: manual, endpoint: DBA}
`

// timelineOf opens the page of timelineRoom, whose agents the test moves.
func timelineOf(t *testing.T) (served, *agents, *browser, string) {
	t.Helper()
	s, a := serve(t), newAgents(t)
	b := start(t)
	id := s.room(strings.NewReplacer("endpoint: CODEBASE", "endpoint: "+a.endpoint("Codebase"), "endpoint: DBA", "endpoint: "+a.endpoint("DBA")).Replace(timelineRoom))
	s.signIn(b, "admin")
	s.show(b, id)
	return s, a, b, id
}

// TestTimelineRows checks the rows of a conversation: what runs, what was said, by whom
// and why, and how it was sent.
func TestTimelineRows(t *testing.T) {
	s, a, b, id := timelineOf(t)
	s.do(id, map[string]any{"do": "say", "as": "Ana", "text": "@Codebase, please walk us through migration 0042. It is planned for **Friday**."})
	half := make(chan struct{})
	a.on("Codebase", func(t *turn) {
		t.use("read", "read db/migrations/0042.sql", nil)
		t.say("Migration 0042 adds `customer_email` to orders")
		t.waits(half)
		t.say(" and puts a unique index on it.\n\n@DBA how long are writes blocked?")
	})
	b.until(t, `document.querySelector("#turn-1 .live")?.textContent.endsWith("Migration 0042 adds `+"`customer_email`"+` to orders")`)
	b.screenshot(t, "timeline-live")
	close(half)
	a.says("DBA", "About 40 seconds, at peak.\n\n- built concurrently: none\n- but then it has to leave the transaction\n\n```sql\nCREATE UNIQUE INDEX CONCURRENTLY orders_email ON orders (customer_email);\n```")
	v := s.until(id, func(v view) bool { return v.Draft != nil })
	for what, expression := range map[string]string{
		"a bubble of a person": `document.querySelector("[data-source=user] .text").textContent.includes("walk us through") && document.querySelector("[data-source=user] .text strong").textContent === "Friday"`,
		"a mention":            `document.querySelector("[data-source=user] .mention").textContent === "@Codebase"`,
		"HTML, not Markdown":   `document.querySelector("#turn-1 .text code").textContent === "customer_email" && document.querySelector("#turn-1 .live").hidden`,
		"why, and how sent":    `/ · sent automatically$/.test(document.querySelector("#turn-1 footer").textContent)`,
		"tool calls":           `document.querySelector("#turn-1 .tools summary").textContent === "1 tool call read db/migrations/0042.sql"`,
		"a draft":              `document.querySelector("#turn-2").dataset.state === "draft" && document.querySelector("#turn-2 footer").textContent.includes("waits for approval")`,
		"the day":              `document.querySelectorAll(".row-day").length === 1`,
		"the beginning":        `document.querySelector(".row-opened").textContent.includes("With Ana, Codebase and DBA")`,
	} {
		t.Run(what, func(t *testing.T) { b.until(t, expression) })
	}
	b.shots(t, "timeline-draft")
	s.do(id, map[string]any{"do": "edit", "as": "Ana", "draft": v.Draft.Hash, "text": "About 40 seconds.", "approve": true})
	b.until(t, `document.querySelector("#turn-2 footer")?.textContent.includes("edited by you · approved by you") && document.querySelector("#turn-2 .more-text summary").textContent.includes("before the edit")`)
	a.on("Codebase", func(t *turn) { t.fail("the model is overloaded") })
	b.until(t, `document.querySelector("#turn-3")?.dataset.state === "failed" && document.querySelector("#turn-3 .outcome").textContent.includes("overloaded")`)
	s.do(id, map[string]any{"do": "pause", "as": "Ana", "reason": "lunch"})
	b.until(t, `[...document.querySelectorAll(".row-note")].at(-1)?.textContent.includes("Paused by you")`)
	b.shots(t, "timeline-rows")
}

// TestTimelinePrivate checks that internal messages are in their thread, and that the text of a
// redacted one is fetched when a person asks for it.
func TestTimelinePrivate(t *testing.T) {
	s, _, b, id := timelineOf(t)
	for _, text := range []string{"which index?", "orders_email"} {
		s.do(id, map[string]any{"do": "say", "as": "Ana", "to": "DBA", "visibility": "internal", "text": text})
	}
	s.do(id, map[string]any{"do": "say", "as": "Ana", "visibility": "user_redacted", "text": "the password is hunter2"})
	b.until(t, `document.querySelector(".thread-pill").textContent === "Internal agent messages (2)"`)
	b.until(t, `document.querySelector("[data-visibility=user_redacted] button") && !document.body.textContent.includes("hunter2")`)
	b.run(t, chromedp.Click(".thread-pill", chromedp.ByQuery), chromedp.Click("[data-visibility=user_redacted] button", chromedp.ByQuery))
	b.until(t, `document.querySelector("[data-visibility=user_redacted] .text").textContent.includes("hunter2") && document.querySelector("#thread-body").textContent.includes("orders_email")`)
	b.shots(t, "timeline-private")
}

// TestTimelineReading checks that messages that come, 50 a second, do not move what a
// person reads, and that they are counted; at the end the timeline follows again.
func TestTimelineReading(t *testing.T) {
	s, _, b, id := timelineOf(t)
	say := func(from, to int) {
		for n := from; n <= to; n++ {
			s.do(id, map[string]any{"do": "say", "as": "Ana", "text": fmt.Sprintf("message %d\n\nwith a second line", n)})
		}
	}
	last := func(n int) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".row-message")].at(-1)?.textContent.includes("message %d")`, n)
	}
	say(1, 40)
	b.until(t, last(40)+` && document.querySelector(".new-rows").hidden`)
	b.read(t, `document.querySelector(".rows").scrollTop = 400`, nil)
	b.until(t, `!document.querySelector(".new-rows").hidden`)
	before := b.value(t, top)
	b.read(t, `(() => { window.shifts = 0; new PerformanceObserver((all) => { for (const e of all.getEntries()) window.shifts += e.value }).observe({type: "layout-shift"}) })()`, nil)
	say(41, 90)
	b.until(t, `document.querySelector(".new-rows").textContent === "50 new ↓"`)
	if after := b.value(t, top); after != before {
		t.Errorf("the first row in sight moved from %s to %s", before, after)
	}
	if shifts := b.value(t, `String(window.shifts)`); shifts != "0" {
		t.Errorf("the layout shifted by %s", shifts)
	}
	b.shots(t, "timeline-new")
	b.run(t, chromedp.Click(".new-rows", chromedp.ByQuery))
	b.until(t, last(90)+` && document.querySelector(".new-rows").hidden`)
	say(91, 91)
	b.until(t, last(91)+` && document.querySelector(".new-rows").hidden`)
}

// TestTimelineKeys walks through the rows by keys and opens one.
func TestTimelineKeys(t *testing.T) {
	s, a, b, id := timelineOf(t)
	s.do(id, map[string]any{"do": "say", "as": "Ana", "text": "hello"})
	a.says("Codebase", "one")
	b.until(t, `document.querySelector("#turn-2")`)
	b.run(t, chromedp.KeyEvent("j"))
	b.until(t, `document.activeElement.id === "turn-2"`)
	b.run(t, chromedp.KeyEvent("k"))
	b.until(t, `document.activeElement.id === "turn-1"`)
	b.run(t, chromedp.KeyEvent(kb.Enter))
	b.until(t, `location.hash === "#turn-1" && document.querySelector("#turn-1[aria-current]") && document.querySelector("moot-inspector").textContent.includes("turn 1")`)
	b.run(t, chromedp.Focus("moot-dock textarea", chromedp.ByQuery), chromedp.KeyEvent("j"))
	b.until(t, `document.activeElement.value === "j"`)
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+id+"#turn-1"))
	b.until(t, `document.activeElement.id === "turn-1"`)
}
