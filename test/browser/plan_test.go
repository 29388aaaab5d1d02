package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// managed is a room with a manager and two workers, which have no turns of their own:
// the test posts as them.
const managed = `version: room/v1
name: managed
objective: Make migration 0042 ready for Friday.
policy: {use: mention}
limits: {maxDeclines: 1000, maxInternal: 1000, MAIL}
participants:
  - {id: ana, name: Ana, kind: human}
  - {id: lead, name: Lead, role: manager, mode: full_auto, endpoint: LEAD}
  - {id: coder, name: Coder, role: worker, mode: full_auto, endpoint: CODER}
  - {id: dba, name: DBA, role: "specialist:db", mode: full_auto, endpoint: DBA}
`

// noHolds lets agents send each other as many messages as they want.
const noHolds = "pairBurst: 1000"

// managedOf opens the page of the managed room with more limits.
func managedOf(t *testing.T, limits string) (s served, b *browser, id string) {
	t.Helper()
	s, a := serve(t), newAgents(t)
	b = start(t)
	id = s.room(strings.NewReplacer("MAIL", limits, "LEAD", a.endpoint("lead"), "CODER", a.endpoint("coder"), "DBA}", a.endpoint("dba")+"}").Replace(managed))
	s.signIn(b, "admin")
	s.show(b, id)
	return s, b, id
}

// post posts a message of a seat, whose fields are JSON, and returns its state
// with the reason.
func (s served) post(room, seat string, message map[string]any) string {
	s.t.Helper()
	var receipt struct{ State, Reason, Detail string }
	s.call(http.MethodPost, "/api/rooms/"+room+"/seats/"+seat+"/post", asJSON(s.t, message), &receipt)
	if receipt.State == "" {
		return "refused: " + receipt.Detail // with a status that says so
	}
	return strings.TrimSpace(receipt.State + " " + receipt.Reason)
}

// planned gives the managed room a plan.
func (s served) planned(room string) {
	s.t.Helper()
	for _, m := range []struct {
		seat    string
		message map[string]any
	}{
		{"lead", map[string]any{"message_id": "brief", "kind": "intent_brief", "to": "coder", "text": "The plan.", "payload": map[string]any{
			"intent": map[string]any{"objective": "Migration 0042 can be deployed on Friday", "constraints": []string{"Writes are never blocked for more than a second"}, "acceptance_criteria": []string{"The index is built concurrently", "Rows are filled in batches", "The old column is gone"}},
			"tasks":  []map[string]any{{"id": "t1", "title": "Split the migration", "owner": "coder"}, {"id": "t2", "title": "Measure the locks", "owner": "dba", "after": []string{"t1"}}, {"id": "t3", "title": "Write the runbook"}},
		}}},
		{"coder", map[string]any{"message_id": "update", "kind": "plan_update", "to": "lead", "text": "One more task.", "payload": map[string]any{"tasks": []map[string]any{{"id": "t4", "title": "Drop the old column", "after": []string{"t2"}}}}}},
	} {
		if got := s.post(room, m.seat, m.message); strings.HasPrefix(got, "refused") {
			s.t.Fatalf("%v: %s", m.message["kind"], got)
		}
	}
}

// TestPlanCard shows the plan of a room, changes it, and opens it with the keyboard. A
// reader without control gets none of it.
func TestPlanCard(t *testing.T) {
	s, b, id := managedOf(t, noHolds)
	b.until(t, `document.querySelector("moot-plan").hidden`)
	s.planned(id)
	b.until(t, `document.querySelector(".plan-line").textContent === "0 of 3 criteria · 0 of 3 tasks · 1 proposal" && document.querySelector(".plan-button").ariaExpanded === "false" && document.querySelector(".plan-body").hidden`)
	b.press(t, "o")
	b.until(t, `document.activeElement.id === "plan-body" && document.querySelector(".plan-objective").textContent === "Migration 0042 can be deployed on Friday"`)
	lines := `[...document.querySelectorAll(".plan-lines > li")].map(e => [...e.children].map(c => c.textContent.replace(/\s+/g, " ").trim()).join("|")).join("\n")`
	want := "○ open|The index is built concurrently\n○ open|Rows are filled in batches\n○ open|The old column is gone\n" +
		"○ to do|t1 Split the migration Coder\n○ to do|t2 Measure the locks DBA|waits for t1\n○ to do|t3 Write the runbook free\n" +
		"? proposed|t4 Drop the old column|by Coder|after t2"
	if got := b.value(t, lines); got != want {
		t.Errorf("the plan is\n%s\nwant\n%s", got, want)
	}
	height := b.value(t, `String(document.querySelector(".plan-button").offsetHeight)`)
	if got := s.post(id, "coder", map[string]any{"kind": "result_bundle", "to": "lead", "text": "Done.", "payload": map[string]any{"task": "t1", "results": []map[string]any{{"criterion": "The index is built concurrently", "met": true, "evidence": "0042b.sql, line 3"}}}}); strings.HasPrefix(got, "refused") {
		t.Fatal(got)
	}
	if got := s.post(id, "lead", map[string]any{"kind": "decision", "to": "dba", "text": "Go on.", "payload": map[string]any{"accept": []string{"update"}, "waive": []string{"The old column is gone"}}}); strings.HasPrefix(got, "refused") {
		t.Fatal(got)
	}
	b.until(t, `document.querySelector(".plan-line").textContent === "2 of 3 criteria · 1 of 4 tasks"`)
	want = "✓ met|The index is built concurrently|0042b.sql, line 3|said by Coder\n○ open|Rows are filled in batches\n– waived|The old column is gone|said by Lead\n" +
		"✓ completed|t1 Split the migration Coder\n○ to do|t2 Measure the locks DBA\n○ to do|t3 Write the runbook free\n○ to do|t4 Drop the old column free|waits for t2"
	if got := b.value(t, lines); got != want {
		t.Errorf("the plan is\n%s\nwant\n%s", got, want)
	}
	if got := b.value(t, `String(document.querySelector(".plan-button").offsetHeight)`); got != height {
		t.Errorf("the line of the plan is %s high, and was %s", got, height)
	}
	s.show(b, id)
	b.until(t, `!document.querySelector("moot-plan").hidden && !document.querySelector(".plan-body").hidden`)
	for _, size := range []int{0, 2} {
		b.size(t, sizes[size].width, sizes[size].height)
		b.notCut(t, "the plan, "+sizes[size].name, ".plan")
		for _, scheme := range []string{"light", "dark"} {
			b.colours(t, scheme, false)
			b.axe(t, "the plan, "+sizes[size].name+", "+scheme)
			b.screenshot(t, "plan-"+sizes[size].name+"-"+scheme)
		}
	}
	b.size(t, sizes[0].width, sizes[0].height)
	b.run(t, chromedp.Click(".plan-button", chromedp.ByQuery))
	b.until(t, `document.querySelector(".plan-body").hidden`)
	b.run(t, emulation.SetEmulatedMedia().WithMedia("print"))
	b.until(t, `document.querySelector(".plan-body").checkVisibility()`)
	spectator := start(t)
	s.signIn(spectator, "read")
	s.show(spectator, id)
	spectator.until(t, `document.querySelector("moot-plan").hidden && !document.body.textContent.includes("Split the migration")`)
}

// notCut checks that nothing of an element is outside the page or cut off.
func (b *browser) notCut(t *testing.T, where, selector string) {
	t.Helper()
	var cut []string
	b.read(t, `[...document.querySelectorAll(`+asJSON(t, selector+" *")+`)].filter(e => {
		const r = e.getBoundingClientRect(), s = getComputedStyle(e);
		return e.checkVisibility() && !e.closest(".sr") && (r.right > innerWidth + 1 || r.left < -1 || s.overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1);
	}).map(e => e.tagName + "." + e.className + ": " + e.textContent.slice(0, 60)).slice(0, 5)`, &cut)
	if len(cut) > 0 {
		t.Errorf("%s: cut off: %q", where, cut)
	}
}
