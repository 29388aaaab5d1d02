package browser

import (
	"fmt"
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
	b.run(t, chromedp.KeyEvent("\x1b"))
	r.planPictures(b)
	r.callPictures(b)
}

// planPictures takes pictures of a room with a manager: the plan, and the thread of
// internal messages.
func (r rooms) planPictures(b *browser) {
	r.t.Helper()
	id := r.create("migration-0042", "Make migration 0042 ready for Friday.", "inbox", "limits: {maxInternal: 1000, pairBurst: 1000, turnTimeout: 10m}\n",
		"Lead:full_auto role: manager,", "Coder:full_auto role: worker,", `DBA:full_auto role: "specialist:db",`)
	r.ready(id)
	r.planned(id)
	for _, m := range []map[string]any{
		{"kind": "tool_intent", "message_id": "i1", "text": "I read the statistics of the table.", "payload": map[string]any{"tool": "read"}},
		{"kind": "tool_result", "parent_id": "i1", "text": "It has 80 million rows, and 2,000 more each minute.", "payload": map[string]any{"tool": "read", "status": "ok"}},
		{"kind": "build_update", "text": "The migration is built against a copy.", "payload": map[string]any{"target": "migration", "status": "running"}},
		{"kind": "result_bundle", "text": "It is two files now.", "payload": map[string]any{"task": "t1", "results": []map[string]any{{"criterion": "The index is built concurrently", "met": true, "evidence": "0042b.sql, line 3"}}}},
	} {
		m["to"] = "lead"
		r.post(id, "coder", m)
	}
	r.posts(id, "lead status_check dba How far is it?", "dba status_reply lead The locks are measured on the copy.")
	b.size(r.t, 1440, 900)
	r.show(b, id)
	b.until(r.t, `document.querySelector(".row-check .card-state")?.textContent === "✓ answered"`)
	r.pictures(b, "manager")
	b.press(r.t, "i")
	b.until(r.t, `document.querySelectorAll(".letter").length === 5`)
	r.pictures(b, "thread")
	b.press(r.t, "i")
	b.press(r.t, "o")
	b.until(r.t, `document.querySelectorAll(".plan-lines > li").length === 7`)
	r.pictures(b, "plan")
}

// callPictures takes pictures of a room whose agent has called another one, which has
// called a third that waits for a permission.
func (r rooms) callPictures(b *browser) {
	r.t.Helper()
	state, waits := "index-review", make(chan struct{})
	id := r.create(state, "Find out how long writes are blocked.", "mention", fmt.Sprintf("agents:\n  - {id: dba, name: DBA, calls: allow, endpoint: %s}\n  - {id: auditor, name: Auditor, endpoint: %s}\n", r.agents.endpoint(state+".dba"), r.agents.endpoint(state+".auditor")),
		"Codebase:full_auto calls: allow,")
	r.ready(id)
	r.agents.on(state+".codebase", func(t *turn) {
		t.say("I ask the agent of the database.")
		t.waits(waits)
	})
	works := make(chan struct{})
	r.agents.on(state+".dba", func(t *turn) {
		close(works)
		t.waits(waits)
	})
	r.agents.on(state+".auditor", func(t *turn) {
		t.ask("execute", "git log --oneline -- orders", map[string]any{"rawInput": map[string]any{"command": "git log --oneline -- orders"}})
	})
	r.say(id, "@Codebase, is it safe?")
	r.until(id, func(v view) bool { return v.phase("codebase") == "thinking" })
	first := r.makeCall(id, "codebase", "dba", "How long are writes blocked by migration 0042?", map[string]any{"allow_nested_calls": true})
	<-works
	r.makeCall(first.Room, "dba", "auditor", "Is the column read by another service?", nil)
	b.size(r.t, 1440, 900)
	r.show(b, id)
	b.until(r.t, `document.querySelector(".call-below > li")?.dataset.state === "input_required" && document.querySelector("moot-dock .item .chain")`)
	r.pictures(b, "calls")
	close(waits)
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
