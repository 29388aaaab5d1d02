package browser

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// callRoom has an agent that calls DBA, which calls Auditor.
const callRoom = `version: room/v1
name: calls
objective: Decide whether migration 0042 can be deployed on Friday.
policy: {use: mention}
limits: {maxTokens: 400000, permissionTimeout: 10m}
participants:
  - {id: ana, name: Ana, kind: human}
  - {id: codebase, name: Codebase, mode: full_auto, calls: CALLS, endpoint: CODEBASE}
agents:
  - {id: dba, name: DBA, calls: allow, endpoint: DBA}
  - {id: auditor, name: Auditor, endpoint: AUDITOR}
`

// callsOf opens the page of callRoom, in which Codebase has the turn until end is
// closed.
func callsOf(t *testing.T, rule string) (s served, a *agents, b *browser, id string, end chan struct{}) {
	t.Helper()
	s, a = serve(t), newAgents(t)
	b = start(t)
	id = s.room(strings.NewReplacer("CALLS", rule, "CODEBASE", a.endpoint("codebase"), "endpoint: DBA", "endpoint: "+a.endpoint("dba"), "AUDITOR", a.endpoint("auditor")).Replace(callRoom))
	s.signIn(b, "admin")
	s.show(b, id)
	end = make(chan struct{})
	a.on("codebase", func(t *turn) {
		t.say("I ask the database's agent.")
		t.waits(end)
	})
	s.do(id, map[string]any{"do": "say", "as": "ana", "text": "@Codebase, is it safe?"})
	s.until(id, func(v view) bool { return v.phase("codebase") == "thinking" })
	return s, a, b, id, end
}

// called is what an agent is told of a call.
type called struct {
	ID, Room string
}

// makeCall calls an agent as a seat that has the turn, and does not wait for its result.
func (s served) makeCall(room, seat, agent, task string, more map[string]any) called {
	s.t.Helper()
	args := map[string]any{"agent_name": agent, "task": task, "wait_ms": 0}
	for k, v := range more {
		args[k] = v
	}
	body, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	var out struct {
		Calls []struct {
			ID   string `json:"call_id"`
			Room string
		}
		Detail string
	}
	s.call(http.MethodPost, "/api/rooms/"+room+"/seats/"+seat+"/calls", string(body), &out)
	if len(out.Calls) != 1 {
		s.t.Fatalf("the call was refused: %s", out.Detail)
	}
	return called{out.Calls[0].ID, out.Calls[0].Room}
}

// callCard is the card of the first call in the timeline.
const callCard = `document.querySelector(".row-call[data-call=c1]")`

// TestCallCards follows a call and the call below it from their beginning to their
// results: who calls whom, the state, whom they wait for with the whole chain, the answer
// in the room of the first caller, and what was used. Nothing moves while states change.
func TestCallCards(t *testing.T) {
	s, a, b, id, end := callsOf(t, "allow")
	work, nested, ends := make(chan struct{}), make(chan struct{}), make(chan struct{})
	a.on("dba", func(t *turn) {
		close(work)
		t.waits(nested)
		t.waits(ends)
		t.use("read", "read schema.sql", nil)
		t.say("Safe, if the index is built concurrently.")
	})
	a.says("dba", "Safe, and nobody else reads that column.") // after the result of its own call
	first := s.makeCall(id, "codebase", "dba", "How long are writes blocked by migration 0042?", map[string]any{"allow_nested_calls": true})
	<-work
	b.until(t, callCard+`?.dataset.state === "working" && `+callCard+`.querySelector("header strong").textContent === "Codebase calling dba"`)
	b.until(t, callCard+`.querySelector(".call-task").textContent === "How long are writes blocked by migration 0042?" && `+callCard+`.querySelector(".card-state").textContent === "… working"`)
	a.on("auditor", func(t *turn) {
		t.ask("execute", "git log --oneline", map[string]any{"rawInput": map[string]any{"command": "git log --oneline"}})
		t.say("No one reads that column.")
	})
	second := s.makeCall(first.Room, "dba", "auditor", "Is the column read?", nil)
	close(nested)
	below := callCard + `.querySelector(".call-below > li")`
	b.until(t, below+`?.dataset.state === "input_required" && `+below+`.querySelector("header strong").textContent === "dba calling auditor"`)
	b.until(t, callCard+`.dataset.state === "input_required" && /^It waits for you: git log/.test(`+callCard+`.querySelector(".call-now").textContent)`)
	b.until(t, `document.querySelector("moot-dock .item .chain")?.textContent === "Codebase called dba, dba called auditor"`)
	b.until(t, below+`.querySelector(".call-acts a").getAttribute("href") === "/rooms/`+second.Room+`"`)
	b.shots(t, "calls-waiting")
	b.axe(t, "calls that wait")
	b.run(t, chromedp.Click(callCard+`.querySelector(".call-answer")`, chromedp.ByJSPath))
	b.until(t, `document.activeElement.closest("moot-dock .item") !== null`)
	b.run(t, chromedp.Click("moot-dock .item .allow", chromedp.ByQuery))
	b.until(t, below+`.dataset.state === "completed" && /^auditor returned: SUCCESS \(~?\d.* tokens, .* s\)/.test(`+below+`.querySelector(".call-now").textContent)`)
	close(ends)
	b.until(t, callCard+`.dataset.state === "completed" && /^dba returned: SUCCESS \(~\d.* tokens, .* s\), used read, made 1 call$/.test(`+callCard+`.querySelector(".call-now").textContent)`)
	close(end)
	b.shots(t, "calls-done")
	s.show(b, second.Room)
	b.until(t, `document.querySelector(".call-of").textContent === "codebase called DBA, DBA called Auditor · Room of the caller" && document.querySelector(".call-of a").getAttribute("href") === "/rooms/`+first.Room+`"`)
	b.until(t, `document.querySelector(".row-message .text").textContent.includes("Is the column read?")`)
	b.shots(t, "calls-child")
}

// TestCallAsk: a call that needs a permission waits in the room and in the inbox. The
// request says how many rooms are opened, which agents are called, and what is reserved.
func TestCallAsk(t *testing.T) {
	s, a, b, id, end := callsOf(t, "ask")
	defer close(end)
	a.on("auditor", func(t *turn) { <-t.ctx.Done() })
	a.on("dba", func(t *turn) { <-t.ctx.Done() })
	made := make(chan error, 1)
	go func() {
		body := `{"calls":[{"agent_name":"dba","task":"Measure the locks.","wait_ms":0,"max_tokens":20000},{"agent_name":"auditor","task":"Read the schema.","wait_ms":0,"max_tokens":10000}]}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/rooms/"+id+"/seats/codebase/calls", strings.NewReader(body))
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+s.Token)
			req.Header.Set("Content-Type", "application/json")
			var resp *http.Response
			if resp, err = http.DefaultClient.Do(req); err == nil {
				err = resp.Body.Close()
			}
		}
		made <- err
	}()
	b.shows(t, "moot-dock .item h3", "Codebase asks whether it may call other agents")
	b.shows(t, "moot-dock .item", "start 2 children: dba, auditor")
	b.shows(t, "moot-dock .item", "reserved 30000 tokens")
	b.shows(t, "moot-dock .item", "dba, 20000 tokens, at most 5 min: Measure the locks.")
	b.shots(t, "calls-ask")
	b.run(t, chromedp.Click("moot-dock .item .allow", chromedp.ByQuery))
	b.until(t, `document.querySelectorAll(".row-call[data-state=working]").length === 2`)
	if err := <-made; err != nil {
		t.Error(err)
	}
}

// TestCallCancel: a person cancels a call on its card. It says who did it.
func TestCallCancel(t *testing.T) {
	s, a, b, id, end := callsOf(t, "allow")
	defer close(end)
	a.on("dba", func(t *turn) { <-t.ctx.Done() })
	s.makeCall(id, "codebase", "dba", "How long are writes blocked?", nil)
	b.until(t, callCard+`?.dataset.state === "working"`)
	b.run(t, chromedp.Click(callCard+`.querySelector(".call-cancel")`, chromedp.ByJSPath), chromedp.SendKeys("dialog.ask input", "not needed\r", chromedp.ByQuery))
	b.until(t, callCard+`.dataset.state === "canceled" && /FAILED .*: cancelled by ana: not needed$/.test(`+callCard+`.querySelector(".call-now").textContent)`)
}

// callStates draws a call and lets it go through its states. It returns the states with
// the height of the card and what it says, as lines.
const callStates = `Promise.all(["rowmodel", "rows"].map(n => import(document.querySelector("script[type=module]").src.replace("room.js", n + ".js")))).then(([{ RowModel }, { draw }]) => {
	const model = new RowModel(), page = { name: (id) => id, called: (id) => id, mayCall: true, calls: () => Object.assign(new EventTarget(), { calls: new Map(), show() {} }), cancelCall() {}, answerCall() {} };
	let seq = 0, out = [], row;
	const add = (type, body) => model.add({ event: { type, body: { call_id: "c1", ...body }, seq: ++seq, at: "2026-11-23T10:00:00Z" } });
	add("call.started", { caller: "a", agent_name: "b", room: "r_b", chain: [{ agent: "a", room: "r" }], depth: 1, task: "a task", state: "submitted", reserved: { tokens: 1000 }, timeout_ns: 3e11 });
	row = draw(model.rows[1], page);
	document.querySelector(".rows").replaceChildren(row);
	const note = (name) => { row.patch(model.rows[1], page); out.push([name, row.offsetHeight, row.dataset.state, row.querySelector(".call-now").textContent, [...row.querySelectorAll(".call-acts > *")].filter(e => getComputedStyle(e).visibility === "visible").map(e => e.firstChild.data).join("+")].join("|")); };
	note("submitted");
	add("call.changed", { state: "working", wait_until_ns: 1e9 });
	note("working");
	add("call.changed", { state: "input_required", asked: "owner", text: "run make" });
	note("owner");
	add("call.changed", { state: "input_required", asked: "a", text: "which one?" });
	note("caller");
	add("call.changed", { state: "auth_required", asked: "owner", text: "sign in" });
	note("auth");
	add("call.changed", { state: "working" });
	note("again");
	add("call.changed", { state: "working", canceling: "enough" });
	note("canceling");
	add("call.ended", { state: ENDED, result: { success: ENDED === "completed", output: "done", tool_calls: ["read"], tokens_used: 1234, duration_seconds: 2.5, errors: ENDED === "completed" ? [] : ["enough"], calls: 2 } });
	note("ended");
	return out.join("\n");
})`

// TestCallStates: a card says each state of a call in words, offers what is possible in
// it, and has the same height in each, on a desk and on a phone.
func TestCallStates(t *testing.T) {
	_, _, b, _ := timelineOf(t)
	for _, size := range []int{0, 2} {
		b.size(t, sizes[size].width, sizes[size].height)
		for ended, returned := range map[string]string{
			"completed": "b returned: SUCCESS (1.2k tokens, 2.5 s), used read, made 2 calls",
			"canceled":  "b returned: FAILED (1.2k tokens, 2.5 s), used read, made 2 calls: enough",
		} {
			want := []string{
				"submitted|submitted|Its room is being opened|Open its room+Cancel…",
				"working|working|a waits for its result|Open its room+Cancel…",
				"owner|input_required|It waits for you: run make|Open its room+Cancel…+Answer",
				"caller|input_required|It asks a: which one?|Open its room+Cancel…",
				"auth|auth_required|It waits for a sign-in: sign in|Open its room+Cancel…+Answer",
				"again|working|Its result will be a message|Open its room+Cancel…",
				"canceling|canceling|It is being cancelled: enough|Open its room",
				"ended|" + ended + "|" + returned + "|Open its room",
			}
			height := ""
			for i, line := range strings.Split(b.value(t, strings.ReplaceAll(callStates, "ENDED", asJSON(t, ended))), "\n") {
				name, rest, _ := strings.Cut(line, "|")
				tall, said, _ := strings.Cut(rest, "|")
				if i == 0 {
					height = tall
				}
				if got := name + "|" + said; got != want[i] {
					t.Errorf("%s: the card says\n%s, want\n%s", sizes[size].name, got, want[i])
				}
				if tall != height {
					t.Errorf("%s: in the state %s the card is %s high, and was %s", sizes[size].name, name, tall, height)
				}
			}
		}
	}
}
