package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPageControls uses each control of a room.
func TestPageControls(t *testing.T) {
	_, a, b, room := answering(t, "")
	const message = "#message"
	b.shows(t, "moot-composer .hint", "DBA has the turn")
	b.run(t, chromedp.SendKeys(message, "Please be short."+kb.Enter, chromedp.ByQuery))
	b.shows(t, "moot-composer .hint", "Enter again interrupts DBA")
	b.run(t, chromedp.SendKeys(message, kb.Enter, chromedp.ByQuery)) // again: interrupts, and the policy is asked again
	b.until(t, `document.querySelector("moot-timeline").textContent.includes("Please be short.")`)
	b.shows(t, "moot-head", "2 / 40")

	b.click(t, ".controls .pause") // in a turn
	b.shows(t, "moot-banner", "Paused.")
	b.click(t, ".controls .resume")
	b.until(t, `document.querySelector(".controls .pause").hidden === false`)

	b.click(t, ".controls .take-over")
	b.run(t, chromedp.Click(`//dialog//button[contains(., "DBA")]`))
	b.shows(t, ".chip-take", "Ann speaks for DBA")
	b.shows(t, "moot-composer .primary", "Send as DBA")
	b.screenshot(t, "answers-takeover")
	b.run(t, chromedp.SendKeys(message, "I speak for the database."+kb.Enter, chromedp.ByQuery))
	b.shows(t, "moot-timeline", "I speak for the database.")
	b.run(t, chromedp.Click(".chip-take button", chromedp.ByQuery))
	b.gone(t, ".chip-take")
	b.until(t, `document.querySelector("moot-composer .primary").textContent === "Send"`)

	b.click(t, ".controls .auto")
	b.run(t, chromedp.Click(`//dialog//button[contains(., "Security")]`))
	b.shows(t, ".chip-auto", "AUTO Security")
	a.says("dba", "dba is here")
	a.says("sec", "sec is here")
	b.shows(t, "moot-timeline, moot-dock", "is here")
	b.run(t, chromedp.Click(".chip-auto button", chromedp.ByQuery))
	b.gone(t, ".chip-auto")
	hasLines(t, b.events(t, room, "turn.interrupted|seat.taken|seat.released|mode.changed|message.posted|room.paused", "[body.participant ?? body.message?.from_agent ?? '', body.mode ?? body.message?.by ?? body.reason ?? 'as joined'].join(' ')"),
		"room.paused ann page  a message goes first", "turn.interrupted ann page  paused", "seat.taken ann page dba", "message.posted ann page dba ann", "seat.released ann page dba",
		"mode.changed ann page sec full_auto", "mode.changed ann page sec as joined")
}

// TestPageNext gives an agent the floor, ends rooms, and keeps the text of the field.
func TestPageNext(t *testing.T) {
	s, a := serve(t), newAgents(t)
	room := s.room(strings.Replace(reviewed(a, "limits: {maxDeclines: 1000}\n"), "roundrobin", "mention", 1)) // declines without a message
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+room))
	b.click(t, ".controls .next")
	b.run(t, chromedp.Click(`//dialog//button[contains(., "Security")]`))
	s.until(room, func(v view) bool {
		for _, p := range v.Members {
			if p.ID == "sec" && p.Phase == "thinking" {
				return true
			}
		}
		return false
	})
	b.run(t, chromedp.SendKeys("#message", "not yet said", chromedp.ByQuery))
	b.click(t, ".controls .stop")
	b.run(t, chromedp.SendKeys("dialog.ask input", "enough"+kb.Enter, chromedp.ByQuery))
	b.shows(t, ".banner-calm", "Stopped. Enough.")
	b.until(t, `document.querySelector("#message").value === "not yet said" && document.querySelector("moot-composer .primary").disabled && document.querySelector(".controls").hidden`)
	b.shows(t, "moot-composer .hint", "Your text stays here")
	b.run(t, chromedp.Reload())
	b.until(t, `document.querySelector("#message")?.value === "not yet said"`)
	b.screenshot(t, "answers-stopped")

	other := s.room(reviewed(a, ""))
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+other))
	b.click(t, ".controls .complete")
	b.run(t, chromedp.WaitVisible("dialog.ask input", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	b.shows(t, ".banner-calm", "Completed.")
	hasLines(t, b.events(t, room, "turn.granted|room.stopped", "body.participant ?? body.reason"), "turn.granted ann page sec", "room.stopped ann page enough")
}

// TestPageKeys: no key acts while a field has the focus, and each does elsewhere.
func TestPageKeys(t *testing.T) {
	s, a, b, room := answering(t, "")
	a.says("dba", "a draft")
	b.shows(t, card, "a draft")
	b.run(t, chromedp.Click("#message", chromedp.ByQuery), chromedp.KeyEvent("prtaexjk?"), chromedp.KeyEvent(kb.Escape))
	b.until(t, `document.querySelector("#message").value === "prtaexjk?" && document.activeElement.id === "main" && !document.querySelector("dialog")`)
	if v := s.until(room, func(view) bool { return true }); v.Phase != "live" || v.Draft == nil {
		t.Errorf("typing changed the room: %+v", v)
	}
	b.run(t, chromedp.KeyEvent("?"))
	b.shows(t, "dialog .keys", "Stop the room")
	b.run(t, chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Escape)) // keys do not reach behind a dialog
	b.gone(t, "dialog")
	b.run(t, chromedp.KeyEvent("p"))
	b.shows(t, "moot-banner", "Paused.")
	b.shows(t, card, "The room is paused")
	b.run(t, chromedp.KeyEvent("r"))
	b.until(t, `!document.querySelector(".controls .pause").hidden`)
	b.run(t, chromedp.KeyEvent("e"))
	b.until(t, `document.activeElement.matches("moot-item textarea")`)
	b.run(t, chromedp.KeyEvent(kb.Escape))
	b.until(t, `document.activeElement.matches("moot-item .edit")`)
	b.run(t, chromedp.KeyEvent("a"))
	b.shows(t, "moot-timeline", "a draft")
	b.run(t, chromedp.KeyEvent("t"))
	b.shows(t, "dialog", "Take over a seat")
	b.run(t, chromedp.KeyEvent(kb.Escape))
	b.gone(t, "dialog")
	b.run(t, chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape))
	b.shows(t, ".banner-calm", "Stopped.")
}

// TestPageReadOnly: a browser that may only read has nothing to answer, control or say.
func TestPageReadOnly(t *testing.T) {
	s, a := serve(t), newAgents(t)
	room := s.room(reviewed(a, ""))
	a.says("dba", "a secret draft")
	s.until(room, func(v view) bool { return v.Draft != nil })
	b := start(t)
	s.signIn(b, "read")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+room))
	b.until(t, `document.querySelector("moot-roster li") && document.querySelector("moot-controls").hidden && document.querySelector("moot-composer form").hidden && document.querySelector("moot-inbox-button").hidden`)
	b.run(t, chromedp.KeyEvent("p"), chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape))
	b.until(t, `!document.body.textContent.includes("a secret draft") && !document.querySelector("dialog")`)
	if v := s.until(room, func(view) bool { return true }); v.Phase != "live" || v.Draft == nil {
		t.Errorf("a reader changed the room: %+v", v)
	}
}

// TestPageLimits shows that a limit is near and that it has ended the room, and raises it.
func TestPageLimits(t *testing.T) {
	s, a := serve(t), newAgents(t)
	room := s.room(`version: room/v1
name: limits
objective: test the banners
policy: {use: roundrobin}
limits: {maxTurns: 10}
participants:
  - {id: ann, kind: human}
  - {id: bot, mode: full_auto, endpoint: ` + a.endpoint("bot") + `}
  - {id: other, mode: full_auto, endpoint: ` + a.endpoint("bot") + `}
`)
	b := start(t)
	s.signIn(b, "admin")
	for n := range 8 {
		a.says("bot", "turn "+string(rune('1'+n)))
	}
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+room))
	b.shows(t, ".banner-warn", "Limit near: 9 of 10 turns.")
	a.says("bot", "turn 9")
	a.says("bot", "turn 10")
	b.shows(t, ".banner-warn", "Stopped: the limit of 10 turns is reached.")
	b.screenshot(t, "answers-limit")
	b.run(t, chromedp.Click(".banner-warn button", chromedp.ByQuery))
	b.gone(t, ".banner-warn")
	if v := s.until(room, func(v view) bool { return v.Turn == 11 }); v.Phase != "live" {
		t.Errorf("the room is %s", v.Phase)
	}
}

// TestPageBudgets shows that a seat has used most of its budget, and then all of it.
func TestPageBudgets(t *testing.T) {
	s, a := serve(t), newAgents(t)
	room := s.room(`version: room/v1
name: budgets
objective: test the budgets
policy: {use: roundrobin}
participants:
  - {id: ann, kind: human}
  - {id: bot, mode: full_auto, budget: {hour: {turns: 5}}, endpoint: ` + a.endpoint("bot") + `}
  - {id: other, mode: full_auto, endpoint: ` + a.endpoint("other") + `}
`)
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+room))
	for n := range 4 {
		a.says("bot", "turn "+string(rune('1'+n)))
		a.says("other", "answer "+string(rune('1'+n)))
	}
	b.shows(t, ".banner-warn", "Bot has used 80 % of the turns of an hour (4 of 5).")
	b.shows(t, "moot-roster", "budget\u00a080\u00a0%")
	a.says("bot", "the last one")
	a.says("other", "alone now")
	b.shows(t, ".banner-warn", "Bot gets no turn: it has used 100 % of the turns of an hour (5 of 5). The next turn is possible from")
	b.shows(t, "moot-roster", "no\u00a0budget\u00a0left")
	b.shows(t, "moot-timeline", "bot gets no turn")
}

// TestPageLoop: the banner of a room that a loop guard has stopped names the guard, and
// offers the larger limit.
func TestPageLoop(t *testing.T) {
	s, a := serve(t), newAgents(t)
	room := s.room(`version: room/v1
name: loop
objective: test the guards
policy: {use: roundrobin}
limits: {maxRing: 4, sameText: 100}
participants:
  - {id: ann, kind: human}
  - {id: bot, mode: full_auto, endpoint: ` + a.endpoint("bot") + `}
  - {id: other, mode: full_auto, endpoint: ` + a.endpoint("other") + `}
`)
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+room))
	for n := range 6 {
		a.says("bot", "@other your turn "+string(rune('1'+n)))
		a.says("other", "@bot your turn "+string(rune('1'+n)))
	}
	b.shows(t, ".banner-warn", "Stopped by the loop guard ring: bot -> other -> bot")
	b.shows(t, ".banner-warn button", "Go on with 8 steps in a ring")
}
