package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// threeAgents is a room of three agents that address each other until all is said.
const threeAgents = `version: room/v1
name: migration-review
objective: Decide whether migration 0042 can be deployed on Friday.
opening: "@codebase please walk us through migration 0042."
policy: {use: mention}
limits: {declineRetry: 100ms}
participants:
  - {id: ana, name: Ana, kind: human}
  - {id: codebase, name: Codebase, mode: full_auto, endpoint: {kind: scripted, lines: ["It adds an index. @dba how long are writes blocked?", "@security is a second copy a problem?", "@dba one plan, both points in it?"]}}
  - {id: dba, name: DBA, mode: full_auto, endpoint: {kind: scripted, lines: ["About 40 seconds. @codebase it has to leave the transaction.", "@codebase the backfill goes in batches. Is that a problem?", "Agreed."]}}
  - {id: security, name: Security, mode: full_auto, endpoint: {kind: scripted, lines: ["Keep a keyed hash. @dba does a lookup stay exact?", "Yes."]}}
`

// settled opens a room of three agents that have said everything.
func settled(t *testing.T) (served, *browser, string) {
	t.Helper()
	s := serve(t)
	id := s.room(threeAgents)
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+id))
	b.until(t, `document.querySelector(".roster moot-policy select")?.options.length >= 7`)
	b.until(t, `document.querySelector("moot-head").textContent.includes("Completed")`)
	return s, b, id
}

// choosePolicy chooses the policy of that name on the page.
func (b *browser) choosePolicy(t *testing.T, name string) {
	t.Helper()
	if v := b.value(t, `(() => {
		const choice = document.querySelector(".roster moot-policy select");
		const option = [...choice.options].find((o) => o.text.split(" ")[0] === "`+name+`");
		if (!option) return "no such policy";
		choice.focus();
		choice.value = option.value;
		choice.dispatchEvent(new Event("change"));
		return "";
	})()`); v != "" {
		t.Fatalf("%s: %s", name, v)
	}
}

// set fills in a setting of the policy on the page.
func (b *browser) set(t *testing.T, name, value string) {
	t.Helper()
	b.value(t, `(() => {
		const input = document.querySelector('.roster [data-setting="settings/`+name+`"]').querySelector("input, select, textarea");
		input.focus();
		if (input.type === "checkbox") input.checked = "`+value+`" === "true";
		else if (input.options) input.value = [...input.options].find((o) => o.text === "`+value+`").value;
		else input.value = "`+value+`";
		input.dispatchEvent(new Event("input", { bubbles: true }));
		return "";
	})()`)
}

const (
	usePolicy     = `.roster moot-policy button[type=submit]`
	previewPolicy = `.roster moot-policy button.link`
)

// TestPolicyPanel changes the policy of a room and its settings on the page, after a
// preview.
func TestPolicyPanel(t *testing.T) {
	_, b, _ := settled(t)
	b.shots(t, "policy-panel")
	b.set(t, "lookback", "0")
	b.run(t, chromedp.Click(usePolicy, chromedp.ByQuery))
	if v := b.value(t, `document.activeElement.parentElement.dataset.setting`); v != "settings/lookback" {
		t.Errorf("a number below the least one: the focus is in %q", v)
	}
	b.set(t, "lookback", "2")
	b.set(t, "fallbackSettings", "{")
	b.run(t, chromedp.Click(usePolicy, chromedp.ByQuery))
	b.until(t, `document.querySelector('[data-setting="settings/fallbackSettings"] .error').textContent === "this is not valid JSON"`)
	b.set(t, "fallbackSettings", "{}")
	b.run(t, chromedp.Click(usePolicy, chromedp.ByQuery))
	b.until(t, said("mention decides from the next round on"))

	b.choosePolicy(t, "roundrobin")
	b.run(t, chromedp.Click(`//*[contains(@class,"roster")]//label[contains(.,"Security")]/input`, chromedp.BySearch))
	b.run(t, chromedp.Click(previewPolicy, chromedp.ByQuery))
	b.until(t, `document.querySelector("dialog.preview")?.textContent.includes("decisions would differ")`)
	b.shots(t, "policy-preview")
	var shown struct{ Differ, Rows, Turns, Report string }
	b.read(t, `({
		Differ: String(document.querySelectorAll("dialog .strip .pair-differs").length), Rows: String(document.querySelectorAll("dialog .differences tbody tr").length),
		Turns: document.querySelector("dialog .turns tbody").textContent, Report: document.querySelector("dialog .report a").href,
	})`, &shown)
	if shown.Differ == "0" || shown.Rows != shown.Differ || !strings.Contains(shown.Turns, "Codebase") || !strings.Contains(shown.Turns, "declined") {
		t.Errorf("the preview shows %+v", shown)
	}
	if v := b.value(t, `fetch("`+shown.Report+`").then((r) => r.text()).then((x) => x.includes("Replay of mention") && x.includes("roundrobin{") ? "" : x.slice(0, 500))`); v != "" {
		t.Errorf("the report: %s", v)
	}
	b.run(t, chromedp.Click(`dialog .preview-actions .primary`, chromedp.ByQuery))
	b.until(t, said("roundrobin decides from the next round on"))
	b.until(t, `document.querySelector("moot-head").textContent.includes("roundrobin") && !document.querySelector("dialog")`)
	b.choosePolicy(t, "quiet")
	b.choosePolicy(t, "roundrobin")
	if v := b.value(t, `document.querySelector(".roster .boxes label:has(:checked)").textContent`); v != "Security" {
		t.Errorf("the settings in force skip %q", v)
	}
}

// said is true when the panel says a text.
func said(text string) string {
	return `document.querySelector(".roster moot-policy [role=status]").textContent.includes("` + text + `")`
}

// TestPolicyKeyboard previews a policy by keyboard alone, and leaves the preview.
func TestPolicyKeyboard(t *testing.T) {
	_, b, _ := settled(t)
	b.run(t, chromedp.Focus(`.roster moot-policy select`, chromedp.ByQuery), chromedp.KeyEvent("r"))
	b.until(t, `document.querySelector(".roster moot-policy select").selectedOptions[0].text === "roundrobin"`)
	b.run(t, chromedp.Focus(previewPolicy, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	b.until(t, `document.querySelector("dialog.preview .differences")`)
	b.run(t, chromedp.KeyEvent(kb.Escape))
	b.until(t, `!document.querySelector("dialog") && document.activeElement.textContent === "Preview on this transcript"`)
}

// TestLimitsForm changes limits on the page.
func TestLimitsForm(t *testing.T) {
	s, b, id := settled(t)
	b.run(t, chromedp.Click("#tab-room", chromedp.ByQuery))
	if v := b.value(t, `[...document.querySelectorAll("moot-limits input")].slice(0, 3).map((x) => x.value).join()`); v != "40,30m," {
		t.Errorf("the form has %s", v)
	}
	fill := func(label, value string) {
		t.Helper()
		b.value(t, `(() => {
			const input = [...document.querySelectorAll("moot-limits label")].find((x) => x.textContent === "`+label+`").querySelector("input");
			input.value = "`+value+`";
			input.dispatchEvent(new Event("input", { bubbles: true }));
			return "";
		})()`)
	}
	fill("Running time", "soon")
	b.run(t, chromedp.Click("moot-limits button[type=submit]", chromedp.ByQuery))
	b.until(t, `document.activeElement.getAttribute("aria-invalid") === "true" && document.querySelector("moot-limits .error:not(:empty)").textContent.includes("15m")`)
	fill("Running time", "1h30m")
	fill("Turns", "60")
	fill("Cost", "2.50")
	b.shots(t, "limits")
	b.run(t, chromedp.Click("moot-limits button[type=submit]", chromedp.ByQuery))
	b.until(t, `document.querySelector("moot-limits [role=status]").textContent === "The limits have changed."`)
	var shown struct {
		Limits struct {
			Turns    int   `json:"max_turns"`
			Duration int64 `json:"max_duration_ns"`
			Cost     int64 `json:"max_cost"`
		}
	}
	if s.call(http.MethodGet, "/api/rooms/"+id, "", &shown); shown.Limits.Turns != 60 || shown.Limits.Duration != int64(90*time.Minute) || shown.Limits.Cost != 2_500_000 {
		t.Errorf("the room has %+v", shown.Limits)
	}
}
