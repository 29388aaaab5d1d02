package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// typedScript makes rows of typed messages and returns them as lines: key, kind,
// numbers of the parts, and what a row became.
const typedScript = `import("/assets/test/rowmodel.js").then(({ RowModel }) => {
	const model = new RowModel();
	let seq = 0;
	const add = (type, body, actor = "room", html = "") => model.add({ html, event: { type, body, actor, seq: ++seq, at: "2026-11-23T10:00:00Z" } });
	const visible = ["tool_intent", "tool_result", "build_update", "blocker", "request", "final_response"];
	const post = (kind, from_agent, to_agent, more = {}) => add("message.posted", { turn: more.turn, message: { message_id: "m" + (seq + 1), kind, from_agent, to_agent, text: "text", visibility: visible.includes(kind) ? "user_visible" : "internal", ...more } });
	EVENTS;
	return model.rows.slice(1).map((r) => [r.key, r.state ?? r.kind, (r.parts ?? []).map((p) => p.seq).join("+"), (r.became ?? []).map((b) => b.kind).join("+")].filter(Boolean).join(" ")).join("\n");
})`

// TestTypedRows checks which rows typed messages become.
func TestTypedRows(t *testing.T) {
	s, b := serve(t), start(t)
	s.signIn(b, "admin")
	for _, c := range []struct{ name, events, want string }{
		{"a tool by its parent", `post("tool_intent", "w", "m"); post("tool_intent", "w", "m"); post("tool_result", "w", "m", { parent_id: "m1" }); post("tool_result", "w", "m", { correlation_id: "m2" })`, "event-1 tool 1+3\nevent-2 tool 2+4"},
		{"a tool by its name", `post("tool_intent", "w", "m", { payload: { tool: "a" } }); post("tool_intent", "w", "m", { payload: { tool: "b" } }); post("tool_result", "w", "m", { payload: { tool: "b" } })`, "event-1 tool 1\nevent-2 tool 2+3"},
		{"a result without an intent", `post("tool_result", "w", "m")`, "event-1 tool 1"},
		{"the tools of another", `post("tool_intent", "w", "m"); post("tool_result", "v", "m")`, "event-1 tool 1\nevent-2 tool 2"},
		{"builds until they end", `post("build_update", "w", "m"); post("build_update", "w", "m", { payload: { status: "passed" } }); post("build_update", "w", "m")`, "event-1 build 1+2\nevent-3 build 3"},
		{"a check and its reply, and nothing else inside", `post("intent_brief", "m", "w"); post("status_check", "m", "w"); post("plan_update", "w", "m"); post("status_reply", "w", "m")`, "event-2 check 2+4"},
		{"no card while the worker has nothing to do", `post("result_bundle", "w", "m"); post("status_check", "m", "w"); post("status_reply", "w", "m"); post("intent_brief", "m", "w"); post("status_check", "m", "w")`, "event-5 check 5"},
		{"a request that becomes a decision", `post("request", "ana", "broadcast"); post("decision", "m", "w", { parent_id: "m1" })`, "event-1 message decision"},
		{"a blocker that is answered", `post("blocker", "w", "m"); post("clarification_reply", "m", "w", { correlation_id: "m1" })`, "event-1 blocker 1 clarification_reply"},
		{"a turn with an internal message has no row", `add("turn.granted", { turn: 1, participant: "w" }); post("result_bundle", "w", "m", { turn: 1 }); add("turn.granted", { turn: 2, participant: "m" })`, "turn-2 speaking"},
		{"but the tools of the turn have one", `add("turn.granted", { turn: 1, participant: "w" }); post("result_bundle", "w", "m", { turn: 1, tools: [{ kind: "read" }] })`, "turn-1 inside"},
		{"a text that is removed", `post("tool_intent", "w", "m"); post("tool_result", "w", "m", { parent_id: "m1" }); add("message.redacted", { target: 2 });
			if (!model.rows[1].parts[1].removed || model.rows[1].parts[0].removed) throw new Error("another part")`, "event-1 tool 1+2\nevent-3 note"},
		{"hostile kinds and payloads", `post("__proto__", "w", "m", { visibility: "user_visible" }); post("tool_intent", "w", "m", { payload: { tool: { toString: 1 }, __proto__: [] } }); post("build_update", "w", "m", { payload: null }); post("build_update", "w", "m", { payload: [[]] })`, "event-1 message\nevent-2 tool 2\nevent-3 build 3+4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := b.value(t, strings.Replace(typedScript, "EVENTS", c.events, 1)); got != c.want {
				t.Errorf("the rows are\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestThread opens and closes the thread of internal messages. The number of messages
// is live, the state of each delivery is a word, the page remembers what was open, and
// cards of the timeline stay as they are.
func TestThread(t *testing.T) {
	s, _, b, id := timelineOf(t)
	say := func(text string) {
		s.do(id, map[string]any{"do": "say", "as": "Ana", "to": "DBA", "visibility": "internal", "text": text})
	}
	b.until(t, `document.querySelector("moot-thread").hidden`)
	say("which index?")
	b.until(t, `document.querySelector(".thread-pill").textContent === "Internal agent messages (1)" && document.querySelector(".thread-pill").ariaExpanded === "false" && document.querySelector("#thread-body").hidden`)
	b.until(t, `!document.body.textContent.includes("which index?")`)
	b.press(t, "i")
	b.until(t, `document.activeElement.id === "thread-body" && document.querySelector(".letter .text")?.textContent.trim() === "which index?"`)
	b.until(t, `document.querySelector(".letter .who").textContent === "Ana → DBA"`)
	b.until(t, `/^DBA: queued \d/.test(document.querySelector(".letter .deliveries li > :last-child")?.textContent) && document.querySelector(".letter .deliveries li").dataset.state === "queued"`)
	for n := range 20 {
		say(fmt.Sprintf("message %d", n))
	}
	b.until(t, `document.querySelector(".thread-pill").textContent.endsWith("(21)") && document.querySelectorAll(".letter").length === 21`)
	b.until(t, `(({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - scrollTop - clientHeight < 8)(document.querySelector("#thread-body"))`)
	b.press(t, "k")
	b.until(t, `document.activeElement === [...document.querySelectorAll(".letter")].at(-1)`)
	b.press(t, "\r")
	b.until(t, `document.querySelector("moot-inspector").textContent.includes("message.posted")`)
	s.show(b, id)
	b.until(t, `document.querySelectorAll(".letter").length === 21`)
	for _, size := range []int{0, 2} {
		b.size(t, sizes[size].width, sizes[size].height)
		for _, scheme := range []string{"light", "dark"} {
			b.colours(t, scheme, false)
			b.axe(t, "the thread, "+sizes[size].name+", "+scheme)
			b.screenshot(t, "thread-"+sizes[size].name+"-"+scheme)
		}
	}
	b.run(t, chromedp.Click(".thread-pill", chromedp.ByQuery))
	b.until(t, `document.querySelector("#thread-body").hidden`)
	s.show(b, id)
	b.until(t, `!document.querySelector("moot-thread").hidden && document.querySelector("#thread-body").hidden`)
}

// drawn draws cards of typed messages into the page of a room.
const drawn = `Promise.all(["rowmodel", "rows"].map(n => import(document.querySelector("script[type=module]").src.replace("room.js", n + ".js")))).then(([{ RowModel }, { draw }]) => {
	const model = new RowModel(), all = PAYLOADS;
	let seq = 1000;
	const post = (kind, from, to, text, more = {}) => model.add({ html: "", event: { type: "message.posted", seq: ++seq, at: "2026-11-23T10:00:00Z", actor: from, body: { message: { message_id: "m" + seq, kind, from_agent: from, to_agent: to, text, summary: text, visibility: kind.startsWith("status") || kind === "decision" ? "internal" : "user_visible", ...more } } } });
	for (const text of all) {
		post("request", text, "broadcast", text);
		post("decision", text, text, text, { parent_id: "m" + seq });
		post("tool_intent", text, "m", text, { payload: { tool: text, [text]: text } });
		post("tool_result", text, "m", text, { payload: { tool: text, status: text, error: text } });
		post("build_update", text, "m", text, { payload: { status: text, target: text } });
		post("blocker", text, text, text, { payload: text });
		post("status_check", text, text, text);
		post("status_reply", text, text, text, { payload: [text] });
		post(text, text, text, text);
	}
	const name = (id) => id, page = { name, called: name, seat: () => undefined, mark() {}, isPerson: () => false, revealed: new Map(), mayReveal: true, room: {}, reveal() {},
		deliveries: (id) => new Map([["posted", "queued", "held", "delivered", "acked", "refused", "expired", all[0]][id.slice(1) % 8]].map((state) => ["x", { message_id: id, to_agent: all[0], state, reason: all[0], at: "2026-11-23T10:00:00Z", turn: 2 }])) };
	const box = document.querySelector(".rows");
	box.replaceChildren(...model.rows.map((row) => draw(row, page)));
	for (const e of box.querySelectorAll("details")) e.open = true;
	return new Promise((done) => setTimeout(() => done(box.querySelectorAll("article").length), 50));
})`

// TestCards draws every kind of card and every state of a delivery: each state is
// another word with another sign, nothing of a payload runs, and axe-core finds nothing.
func TestCards(t *testing.T) {
	_, _, b, _ := timelineOf(t)
	var n int
	b.read(t, `(window.ran = [], 0)`, &n)
	b.read(t, strings.Replace(drawn, "PAYLOADS", `["one", "two"]`, 1), &n)
	if n == 0 {
		t.Fatal("no card was drawn")
	}
	b.until(t, `(() => { const said = new Map([...document.querySelectorAll(".deliveries li")].map(e => [e.dataset.state, e.textContent.replace(/one: (\w+).*/, "$1")])); return said.size === 7 && new Set(said.values()).size === 7 })()`)
	b.until(t, `[...document.querySelectorAll(".deliveries li")].every(e => e.title.includes("10") && e.textContent.includes("one") && e.textContent.includes("turn 2"))`)
	for kind, text := range map[string]string{"tool": "Tool", "build": "Build", "blocker": "Blocker", "check": "Status check"} {
		b.until(t, `document.querySelector(".row-`+kind+` > header > strong").textContent === "`+text+`"`)
	}
	b.until(t, `document.querySelector(".row-check .card-state").textContent === "✓ answered" && document.querySelector(".row-message .became").textContent === "decision of one to one"`)
	for _, scheme := range []string{"light", "dark"} {
		b.colours(t, scheme, false)
		b.axe(t, "cards, "+scheme)
		b.screenshot(t, "cards-1440-"+scheme)
	}
	all := payloads(t)
	b.read(t, trap+`0`, &n)
	b.read(t, strings.Replace(drawn, "PAYLOADS", asJSON(t, all), 1), &n)
	b.checkNothingRan(t, "cards")
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// posts posts messages of seats, each SEAT KIND TO TEXT, and fails the test for one that
// is refused.
func (s served) posts(room string, messages ...string) {
	s.t.Helper()
	for _, m := range messages {
		part := strings.SplitN(m, " ", 4)
		if got := s.post(room, part[0], map[string]any{"kind": part[1], "to": part[2], "text": part[3]}); strings.HasPrefix(got, "refused") {
			s.t.Fatalf("%s: %s", m, got)
		}
	}
}

// TestStreams has both streams of a room with a manager: the thread of internal messages
// changes nothing of the cards of tools, builds and status checks in the timeline.
func TestStreams(t *testing.T) {
	s, b, id := managedOf(t, noHolds)
	s.planned(id)
	b.until(t, `document.querySelector(".thread-pill").textContent === "Internal agent messages (2)"`)
	long := strings.Repeat("orders_email_", 12)
	for _, m := range []map[string]any{
		{"kind": "tool_intent", "message_id": "i1", "text": "I read " + long, "payload": map[string]any{"tool": "read"}},
		{"kind": "tool_result", "parent_id": "i1", "text": "The table has 80 million rows.", "payload": map[string]any{"tool": "read", "status": "ok"}},
		{"kind": "build_update", "text": "The build has begun.", "payload": map[string]any{"target": "migration", "status": "running"}},
	} {
		m["to"] = "lead"
		if got := s.post(id, "coder", m); strings.HasPrefix(got, "refused") {
			t.Fatal(got)
		}
	}
	s.posts(id, "lead status_check coder How far is it?", "coder status_reply lead Half of it.")
	const cards = `[...document.querySelectorAll(".row-tool, .row-build, .row-check")]`
	b.until(t, cards+`.map(e => e.querySelector("strong").textContent + " " + e.querySelector(".card-state").textContent).join() === "Tool ✓ done,Build … running,Status check ✓ answered"`)
	b.until(t, `document.querySelector(".thread-pill").textContent === "Internal agent messages (4)"`)
	b.until(t, cards+`.every(e => [...e.querySelectorAll(".deliveries li")].every(l => l.dataset.state === "queued"))`) // as it stays: the manager's turn is open
	const stands = cards + `.map(e => e.offsetTop + " " + e.offsetHeight + " " + e.outerHTML).join("\n")`
	before := b.value(t, stands)
	b.press(t, "i")
	b.until(t, `document.querySelectorAll(".letter").length === 4`)
	if open := b.value(t, stands); open != before {
		t.Errorf("with the thread open the cards are\n%s\nand were\n%s", open, before)
	}
	for _, size := range []int{0, 2} {
		b.size(t, sizes[size].width, sizes[size].height)
		b.notCut(t, sizes[size].name, ".main")
		b.axe(t, "the streams, "+sizes[size].name)
		for _, scheme := range []string{"light", "dark"} {
			b.colours(t, scheme, false)
			b.screenshot(t, "streams-"+sizes[size].name+"-"+scheme)
		}
	}
	b.size(t, sizes[0].width, sizes[0].height)
	b.press(t, "i")
	b.until(t, `document.querySelector("#thread-body").hidden`)
	if closed := b.value(t, stands); closed != before {
		t.Errorf("after the thread was closed the cards are\n%s\nand were\n%s", closed, before)
	}
	height := b.value(t, `String(document.querySelector(".row-build").offsetHeight)`)
	b.until(t, `document.querySelector(".row-check .deliveries li") !== null`)
	s.do(id, map[string]any{"do": "say", "as": "ana", "text": "Thank you."})
	if got := b.value(t, `String(document.querySelector(".row-build").offsetHeight)`); got != height {
		t.Errorf("the card of the build is %s high, and was %s", got, height)
	}
}

// TestLetters lists what was not delivered: a dead letter with its reason, a message that
// is held, and one that was not acknowledged in time. The roster says which tools an
// agent may not use and could.
func TestLetters(t *testing.T) {
	s, b, id := managedOf(t, "pairRate: 1, pairBurst: 3, ackTimeout: 1s, maxAckAttempts: 1000")
	b.until(t, `document.querySelector("moot-letters").hidden && document.querySelector("[data-seat=lead] .seat-free").textContent.startsWith("not enforced: edit")`)
	if got := s.post(id, "coder", map[string]any{"kind": "final_response", "text": "All done."}); !strings.HasPrefix(got, "refused") {
		t.Fatalf("a final response of a worker is %s", got)
	}
	b.until(t, `document.querySelector(".letters-pill").textContent === "Undelivered (1 dead)" && document.querySelector("#letters-body").hidden`)
	b.until(t, `[...document.querySelectorAll(".row-note")].some(e => e.textContent.startsWith("The final response of Coder was refused: "))`)
	if got := s.post(id, "lead", map[string]any{"kind": "decision", "to": "dba", "text": "Use the index.", "requires_ack": true}); !strings.HasPrefix(got, "queued") {
		t.Fatalf("a decision is %s", got)
	}
	b.until(t, `document.querySelector(".letters-pill").textContent === "Undelivered (1 dead, 1 not acknowledged)"`)
	s.posts(id, "lead decision coder One.", "lead decision coder Two.", "lead decision coder Three.", "lead decision coder Four.")
	s.do(id, map[string]any{"do": "pause", "as": "ana"}) // so that nothing becomes of them
	b.until(t, `document.querySelector(".letters-pill").textContent === "Undelivered (1 dead, 1 held, 1 not acknowledged)"`)
	b.run(t, chromedp.Click(".letters-pill", chromedp.ByQuery))
	b.until(t, `document.querySelectorAll("moot-letters .letter").length === 3 && document.querySelector("moot-letters .letter-copy").textContent === "All done."`)
	b.until(t, `[...document.querySelectorAll("moot-letters .letter")].some(e => e.querySelector(".letter-state").textContent === "‖ held" && e.querySelector(".letter-why").textContent.includes("over 1 message a minute from lead to coder"))`)
	b.until(t, `[...document.querySelectorAll("moot-letters .letter-why")].some(e => /^not acknowledged in time, (once|\d+ times)/.test(e.textContent))`)
	for _, size := range []int{0, 2} {
		b.size(t, sizes[size].width, sizes[size].height)
		b.notCut(t, sizes[size].name, ".mail")
		for _, scheme := range []string{"light", "dark"} {
			b.colours(t, scheme, false)
			b.axe(t, "undelivered messages, "+sizes[size].name+", "+scheme)
			b.screenshot(t, "letters-"+sizes[size].name+"-"+scheme)
		}
	}
	b.size(t, sizes[0].width, sizes[0].height)
	spectator := start(t)
	s.signIn(spectator, "read")
	s.show(spectator, id)
	spectator.until(t, `document.querySelector("moot-letters").hidden && document.querySelector("moot-thread").hidden && document.querySelector("[data-seat=lead] .seat-free").hidden`)
}
