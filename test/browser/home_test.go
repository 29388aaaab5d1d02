package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// shots takes pictures of the page at the widths of a screen and of a phone, in light and
// dark, if REPLAY_SHOTS names a folder.
func (b *browser) shots(t *testing.T, name string) {
	t.Helper()
	if os.Getenv("REPLAY_SHOTS") == "" {
		return
	}
	for _, width := range []int64{1440, 960, 390} {
		for _, scheme := range []string{"light", "dark"} {
			b.size(t, width, 860)
			b.colours(t, scheme, false)
			b.screenshot(t, fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
	b.size(t, 1440, 860)
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
	b.until(t, `document.querySelector("[data-seat=DBA] .state").textContent.startsWith("waiting for approval")`)
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
		"modes":            `document.querySelector("[data-seat=Codebase] .seat-used").textContent.startsWith("auto-sends · ")`,
		"turns of a seat":  `document.querySelector("[data-seat=Codebase] .seat-used").textContent.includes(" · 1\u00a0turn · ~")`,
		"the rail":         `document.querySelectorAll(".rail-room").length === 2 && document.querySelector(".rail-room[aria-current=page]").title.startsWith("migration-review")`,
	} {
		t.Run(what, func(t *testing.T) { b.until(t, expression) })
	}
	b.shots(t, "head")
	var done any
	s.call("POST", "/api/rooms/"+id+"/commands", `{"do":"stop","reason":"enough"}`, &done)
	b.until(t, `document.querySelector("#phase").textContent === "Stopped"`)
	b.until(t, `document.querySelector("#phase").dataset.tone === "calm"`)
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
	b.until(t, `document.querySelectorAll(".room-card").length === 2`)
	b.shots(t, "home")
	b.run(t, chromedp.SendKeys("input[type=search]", "attacker", chromedp.ByQuery))
	b.until(t, `document.querySelectorAll(".room-card").length === 1 && document.querySelector(".room-name").textContent === "api-security"`)
	b.run(t, chromedp.Evaluate(`document.querySelector("input[type=search]").value = ""`, nil), chromedp.SendKeys("input[type=search]", "review", chromedp.ByQuery))
	b.until(t, `document.querySelector(".room-name").textContent === "migration-review"`)
	b.run(t, chromedp.Click(".room-name", chromedp.ByQuery), chromedp.WaitVisible("moot-timeline", chromedp.ByQuery))
	b.until(t, `location.pathname === "/rooms/`+id+`"`)
}

// TestSignIn checks what a browser gets that opens a page without being signed in, or by
// a link on another site.
func TestSignIn(t *testing.T) {
	s := serve(t)
	id := s.room(reviewRoom)
	room := s.URL + "/rooms/" + id
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a href="%s#turn-1">the room</a>`, room)
	}))
	defer other.Close()
	link := strings.Replace(other.URL, "127.0.0.1", "localhost", 1) // another site
	b := start(t)
	b.run(t, chromedp.Navigate(room), chromedp.WaitVisible(".refused pre", chromedp.ByQuery))
	if text := b.value(t, `document.body.innerText`); !strings.Contains(text, "moot open "+id) || strings.Contains(text, "migration") {
		t.Errorf("without a cookie the page shows:\n%s", text)
	}
	b.axe(t, "the page that says how to sign in")
	b.shots(t, "signin")
	b.run(t, chromedp.Navigate(link), chromedp.Click("a", chromedp.ByQuery), chromedp.WaitVisible(".refused pre", chromedp.ByQuery))

	s.signIn(b, "admin")
	b.expect("403", "404") // of pages that are refused
	b.run(t, chromedp.Navigate(link), chromedp.Click("a", chromedp.ByQuery), chromedp.WaitReady("moot-timeline", chromedp.ByQuery))
	if at := b.value(t, `location.href`); at != room+"#turn-1" {
		t.Errorf("the link leads to %s", at)
	}
	b.run(t, chromedp.Navigate(s.URL+"/rooms/r_none"), chromedp.WaitVisible(".refused a", chromedp.ByQuery))
	if text := b.value(t, `document.body.innerText`); !strings.Contains(text, "cannot be shown") {
		t.Errorf("a room that is not there:\n%s", text)
	}
}

// serveWith is serve with that settings file.
func serveWith(t *testing.T, settings string) served {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MOOT_CONFIG", file)
	return serve(t)
}

// TestCreateRoom makes a room on the page of a profile's agent, and checks that the room
// is as it was chosen.
func TestCreateRoom(t *testing.T) {
	s := serveWith(t, "profiles:\n  - name: talker\n    endpoint: {kind: scripted, lines: [one, two]}\n")
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/"), chromedp.Click("#new-room", chromedp.ByQuery), chromedp.WaitVisible("dialog [name=agent]", chromedp.ByQuery))
	b.run(t, chromedp.Evaluate(`document.querySelectorAll("dialog details").forEach((x) => { x.open = true; })`, nil))
	b.axe(t, "the dialog of a new room")
	b.shots(t, "create")
	b.run(t, chromedp.Click("dialog .primary[type=submit]", chromedp.ByQuery)) // the objective is missing
	b.run(t, chromedp.SendKeys("dialog [name=objective]", "Review the plan ${HOME} of Friday", chromedp.ByQuery), chromedp.Click("dialog .primary[type=submit]", chromedp.ByQuery))
	b.until(t, `document.querySelector("dialog .problem").textContent.includes("No agent is chosen")`)
	b.run(t, chromedp.Click(`[value="profile talker"]`, chromedp.ByQuery), chromedp.SetValue("dialog [name=mode]", "full_auto", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelector("[name=policy]").value = "roundrobin"; document.querySelector("[name=policy]").dispatchEvent(new Event("change"));
			document.querySelector("[name=maxTurns]").value = 2`, nil),
		chromedp.Click("dialog .primary[type=submit]", chromedp.ByQuery), chromedp.WaitReady("[data-seat=talker]", chromedp.ByQuery))
	b.until(t, `document.querySelector(".head h1").textContent === "review-the-plan-home-of-friday"`)
	b.until(t, `document.querySelector("#objective").textContent === "Review the plan ${HOME} of Friday"`)
	b.until(t, `document.querySelector(".meters").textContent.includes("1 / 2") && document.querySelector("[data-seat=You] .tag").textContent === "You"`)
}

// TestDemo opens the page of `moot demo` with the address that it prints.
func TestDemo(t *testing.T) {
	o := newOwner(t)
	at := o.says(regexp.MustCompile(`page (\S+), once`), "demo", "--web")
	b := start(t)
	b.run(t, chromedp.Navigate(at), chromedp.WaitVisible(".tag-demo", chromedp.ByQuery))
	b.watch(t)
	b.until(t, `document.querySelector("moot-timeline").textContent.includes("Migration 0042 adds customer_email")`)
	b.until(t, `document.querySelector("[data-seat=Security] .tag").textContent === "shared · Sam"`)
	b.shots(t, "demo")
	b.run(t, chromedp.Click(".rail-home", chromedp.ByQuery), chromedp.WaitVisible(".room-card", chromedp.ByQuery))
	b.until(t, `document.querySelectorAll(".room-card").length === 1 && !document.querySelector("#new-room")`)
}
