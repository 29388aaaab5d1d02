package browser

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// shots takes pictures of the page at the widths of a screen and of a phone, in light and
// dark, if REPLAY_SHOTS names a folder.
func (b *browser) shots(t *testing.T, name string) {
	t.Helper()
	if os.Getenv("REPLAY_SHOTS") == "" {
		return
	}
	for _, at := range []struct {
		name  string
		width int64
	}{{"1440", 1440}, {"960", 960}, {"390", 390}} {
		for _, scheme := range []string{"light", "dark"} {
			b.run(t, emulation.SetDeviceMetricsOverride(at.width, 860, 1, false),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
			b.screenshot(t, name+"-"+at.name+"-"+scheme)
		}
	}
	b.run(t, emulation.ClearDeviceMetricsOverride())
}

// see waits until an expression of the page is true.
func (b *browser) see(t *testing.T, expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Poll(expression, nil)); err != nil {
		t.Fatalf("not seen: %s: %v", expression, err)
	}
}

const reviewRoom = `version: room/v1
name: migration-review
objective: Decide whether migration 0042 can be deployed on Friday, and what has to change first.
policy: {use: roundrobin}
limits: {maxTurns: 5, maxTokens: 200000}
participants:
  - {id: Ana, kind: human}
  - {id: Codebase, mode: full_auto, role: Knows the code, endpoint: {kind: scripted, lines: ["**one**", two, three]}}
  - {id: DBA, mode: manual, endpoint: {kind: scripted, lines: [yes, no, perhaps]}}
  - {id: Editor, endpoint: {kind: session}}
`

// TestHeadAndRoster checks that a room's page says how the room stands, what it has used
// of its limits, and what each participant does.
func TestHeadAndRoster(t *testing.T) {
	s := serve(t)
	id := s.room(reviewRoom)
	s.room("{version: room/v1, name: other-room, policy: {use: roundrobin}, participants: [{id: Ana, kind: human}, {id: Editor, endpoint: {kind: session}}]}")
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+id), chromedp.WaitVisible("[data-seat=DBA].is-speaking, [data-seat=DBA] .state", chromedp.ByQuery))
	b.see(t, `document.querySelector("[data-seat=DBA] .state").textContent.startsWith("waiting for approval")`)
	for what, expression := range map[string]string{
		"the name":         `document.querySelector(".head h1").textContent === "migration-review"`,
		"the phase":        `document.querySelector("#phase").textContent === "Live"`,
		"the policy":       `document.querySelector("#policy-name").textContent === "policy roundrobin"`,
		"the objective":    `document.querySelector("#objective").textContent.startsWith("Decide whether")`,
		"turns and limit":  `document.querySelector(".meters").textContent.includes("2 / 5")`,
		"estimated tokens": `/~[0-9.]+k? \/ 200k/.test(document.querySelector(".meters").textContent)`,
		"the speaker":      `document.querySelector("[data-seat=DBA]").matches(".is-speaking") && document.querySelectorAll(".is-speaking").length === 1`,
		"you":              `document.querySelector("[data-seat=Ana] .tag").textContent === "You"`,
		"a session":        `document.querySelector("[data-seat=Editor]").textContent.includes("away") && document.querySelector("[data-seat=Editor] .tag").textContent === "session"`,
		"modes":            `document.querySelector("[data-seat=Codebase] .seat-mode").textContent === "sends by itself"`,
		"turns of a seat":  `document.querySelector("[data-seat=Codebase] .seat-used").textContent.startsWith("1 turn · ~")`,
		"the rail":         `document.querySelectorAll(".rail-room").length === 2 && document.querySelector(".rail-room[aria-current=page]").title.startsWith("migration-review")`,
	} {
		t.Run(what, func(t *testing.T) { b.see(t, expression) })
	}
	b.shots(t, "head")
	var done any
	s.call("POST", "/api/rooms/"+id+"/commands", `{"do":"stop","reason":"enough"}`, &done)
	b.see(t, `document.querySelector("#phase").textContent === "Stopped"`)
	b.see(t, `document.querySelector("#phase").dataset.tone === "calm"`)
}

// TestHome checks the list of rooms, its search and its links.
func TestHome(t *testing.T) {
	s := serve(t)
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/"), chromedp.WaitVisible(".room-empty h2", chromedp.ByQuery))
	id := s.room(reviewRoom)
	s.room("{version: room/v1, name: api-security, objective: Find what an attacker could do with the new API., policy: {use: roundrobin}, participants: [{id: Ana, kind: human}, {id: Editor, endpoint: {kind: session}}]}")
	b.run(t, chromedp.Reload(), chromedp.WaitVisible(".room-card", chromedp.ByQuery))
	b.see(t, `document.querySelectorAll(".room-card").length === 2`)
	b.shots(t, "home")
	b.run(t, chromedp.SendKeys("input[type=search]", "attacker", chromedp.ByQuery))
	b.see(t, `document.querySelectorAll(".room-card").length === 1 && document.querySelector(".room-name").textContent === "api-security"`)
	b.run(t, chromedp.Evaluate(`document.querySelector("input[type=search]").value = ""`, nil), chromedp.SendKeys("input[type=search]", "review", chromedp.ByQuery))
	b.see(t, `document.querySelector(".room-name").textContent === "migration-review"`)
	b.run(t, chromedp.Click(".room-name", chromedp.ByQuery), chromedp.WaitVisible("moot-timeline", chromedp.ByQuery))
	b.see(t, `location.pathname === "/rooms/`+id+`"`)
}
