package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// payloads are texts that try to run alert(1), which internal/page tests too.
func payloads(t *testing.T) (all []string) {
	t.Helper()
	b, err := os.ReadFile("../../internal/page/testdata/xss.json")
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// notes the calls of alert and everything that a click on a link would open.
const trap = `window.ran = []; window.alert = (...a) => ran.push("alert " + a); window.open = (...a) => ran.push("open " + a);`

// foreign finds what cannot be from the page itself: elements that load or run
// something, handlers as attributes, and links elsewhere.
const foreign = `[...document.querySelectorAll("*")].flatMap(e => {
	const own = e.matches("head *, html, head, moot-rail img");
	const found = [...e.attributes].filter(a => /^on/i.test(a.name) || a.name === "srcdoc" || a.name === "formaction" || a.name === "ping").map(a => e.tagName + " " + a.name);
	if (!own && e.matches("script, iframe, object, embed, img, video, audio, link, meta, base, style, portal, frame, frameset, marquee, math, applet")) found.push(e.tagName);
	if (e.matches("a[href], area[href]") && !/^(https?|mailto|blob):$/.test(e.protocol)) found.push(e.href);
	return found;
})`

func (b *browser) checkNothingRan(t *testing.T, where string) {
	t.Helper()
	var ran, found []string
	b.read(t, "window.ran", &ran)
	b.read(t, foreign, &found)
	if len(ran) > 0 || len(found) > 0 {
		t.Errorf("%s: ran %q, found %q", where, ran, found)
	}
}

// TestPageRunsNoText shows 250 attacks in every place of the page that shows text of
// agents: messages, live text, drafts, tools, permission requests, reasons, names and
// objectives. A text that the browser only refuses to run fails the test too, because
// the browser then complains.
func TestPageRunsNoText(t *testing.T) {
	all := payloads(t)
	if len(all) < 200 {
		t.Fatalf("only %d attacks", len(all))
	}
	s, a := serve(t), newAgents(t)
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(trap).Do(ctx)
		return err
	}))
	attackRequests(t, s, a, b, all)
	attackMessages(t, s, a, b, all)
	attackNames(t, s, b, all)
}

// asYAML is a text as YAML and JSON write it, without what these formats refuse.
func asYAML(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x202e {
			return -1
		}
		return r
	}, text)
	b, err := json.Marshal(string([]rune(text)[:min(len([]rune(text)), most)]))
	if err != nil {
		panic(err) // a text
	}
	return strings.ReplaceAll(string(b), "${", "$${")
}

// attackNames puts the texts into the names and roles of participants, into the
// objective and into reasons.
func attackNames(t *testing.T, s served, b *browser, all []string) {
	const seats = 30
	for from := 0; from < len(all); from += seats {
		var yaml strings.Builder
		fmt.Fprintf(&yaml, "version: room/v1\nobjective: %s\npolicy: {use: mention}\nlimits: {maxDeclines: 1000}\nparticipants:\n  - {id: ana, kind: human, name: %s}\n", asYAML(strings.Join(all[from:min(from+seats, len(all))], " "), 3000), asYAML(all[from], 60))
		for i, p := range all[from:min(from+seats, len(all))] {
			fmt.Fprintf(&yaml, "  - {id: a%d, name: %s, role: %s, owner: %s, endpoint: {kind: scripted, lines: [x]}}\n", i, asYAML(p, 60), asYAML(p, 200), asYAML(p, 60))
		}
		id := s.room(yaml.String())
		s.do(id, map[string]any{"do": "say", "as": "ana", "text": "hello"})
		for i, p := range all[from:min(from+seats, len(all))] {
			s.do(id, map[string]any{"do": "standing", "as": "ana", "seat": fmt.Sprint("a", i), "standing": "muted", "reason": p})
		}
		s.do(id, map[string]any{"do": "pause", "as": "ana", "reason": all[from]})
		s.show(b, id)
		b.checkNothingRan(t, "names")
		s.do(id, map[string]any{"do": "stop", "as": "ana", "reason": all[from]})
	}
	b.run(t, chromedp.Navigate(s.URL+"/"))
	b.until(t, `document.querySelector("moot-rooms a")`)
	b.checkNothingRan(t, "the list of rooms")
}

// attackMessages puts the texts into messages of a person and of an agent, and into
// the live text of a turn.
func attackMessages(t *testing.T, s served, a *agents, b *browser, all []string) {
	id := s.room("version: room/v1\nobjective: attack\npolicy: {use: mention}\nlimits: {maxDeclines: 1000, maxOutputChars: 100000}\nparticipants:\n  - {id: ana, kind: human}\n  - {id: bot, mode: full_auto, endpoint: " + a.endpoint("bot") + "}\n")
	s.do(id, map[string]any{"do": "say", "as": "ana", "text": "hello"})
	s.show(b, id)
	for _, p := range all {
		s.do(id, map[string]any{"do": "say", "as": "ana", "text": p})
	}
	b.until(t, `document.querySelector("moot-timeline").textContent.includes("constructor.constructor")`)
	b.checkNothingRan(t, "messages")
	more := make(chan struct{})
	a.on("bot", func(turn *turn) {
		for _, p := range all {
			turn.use("execute", p, map[string]any{"locations": []map[string]string{{"path": p}}})
			turn.say(p + "\n\n")
		}
		turn.say("\n\nlast words")
		turn.waits(more)
	})
	s.do(id, map[string]any{"do": "say", "as": "ana", "text": "@bot, please"})
	b.until(t, `document.querySelector("moot-timeline").textContent.includes("last words")`)
	b.checkNothingRan(t, "live text")
	close(more)
	s.until(id, func(v view) bool { return v.Tally["turns"] == 1.0 && v.phase("bot") != "thinking" })
	b.until(t, `!document.querySelector(".is-live, .streaming")`)
	b.checkNothingRan(t, "an answer")
	s.show(b, id)
	b.checkNothingRan(t, "the history")
}

// attackRequests puts the texts into permission requests, drafts, reasons and errors.
func attackRequests(t *testing.T, s served, a *agents, b *browser, all []string) {
	const most = 20 // in one room
	for from := 0; from < len(all); from += most {
		part := all[from:min(from+most, len(all))]
		joined := strings.Join(part, " ")
		bot := fmt.Sprint("bot-", from)
		id := s.room("version: room/v1\nobjective: attack\npolicy: {use: roundrobin}\nparticipants:\n  - {id: ana, kind: human}\n  - {id: bot, endpoint: " + a.endpoint(bot) + "}\n  - {id: eve, mode: full_auto, endpoint: " + a.endpoint(bot+"-eve") + "}\n")
		a.on(bot, func(turn *turn) {
			turn.ask("execute", joined, map[string]any{
				"rawInput": map[string]any{"command": joined}, "locations": []map[string]string{{"path": part[0]}},
				"content": []map[string]any{{"type": "diff", "path": part[0], "oldText": joined, "newText": joined + "!"}},
			})
			turn.say(joined)
		})
		a.on(bot+"-eve", func(turn *turn) { turn.fail(joined) })
		s.do(id, map[string]any{"do": "say", "as": "ana", "text": "hello"})
		s.show(b, id)
		v := s.until(id, func(v view) bool { return len(v.Ask) > 0 })
		b.until(t, `document.querySelector("moot-dock .item")`)
		b.checkNothingRan(t, "a permission request")
		s.do(id, map[string]any{"do": "permit", "as": "ana", "request": v.Ask[0].ID, "allowed": true, "reason": part[0]})
		v = s.until(id, func(v view) bool { return v.Draft != nil })
		b.checkNothingRan(t, "a draft")
		s.do(id, map[string]any{"do": "reject", "as": "ana", "draft": v.Draft.Hash, "reason": joined})
		b.until(t, `document.querySelector("moot-timeline").textContent.includes("the agent reports an error")`)
		b.checkNothingRan(t, "an error")
		s.do(id, map[string]any{"do": "stop", "as": "ana", "reason": joined})
	}
}
