package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// threeAgents is a room of three agents that speak in turn.
const threeAgents = `version: room/v1
name: migration-review
objective: Decide whether migration 0042 can be deployed on Friday.
policy: {use: roundrobin}
limits: {maxTurns: 12, sameText: 50, sameTextOf: 50}
participants:
  - {id: ana, name: Ana, kind: human}
  - {id: codebase, name: Codebase, mode: full_auto, endpoint: {kind: scripted, lines: ["@dba how long are writes blocked?", "Then it has to leave the transaction.", "@security is that a problem?", "One plan, with both points."]}}
  - {id: dba, name: DBA, mode: full_auto, endpoint: {kind: scripted, lines: ["About 40 seconds, at peak.", "@codebase the backfill has to go in batches.", "Yes.", "Fine."]}}
  - {id: security, name: Security, mode: full_auto, endpoint: {kind: scripted, lines: ["A keyed hash is enough.", "@dba erasure requests have to reach orders.", "No.", "Agreed."]}}
`

// stopped opens a room of three agents that its limit has stopped.
func stopped(t *testing.T) (served, *browser, string) {
	t.Helper()
	s := serve(t)
	id := s.room(threeAgents)
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+id))
	b.until(t, `document.querySelector(".roster moot-policy select")?.options.length >= 7`)
	b.until(t, `document.querySelector("moot-head").textContent.includes("Stopped")`)
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
	_, b, _ := stopped(t)
	b.shots(t, "policy-panel")
	b.choosePolicy(t, "mention")
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
	b.run(t, chromedp.Click(previewPolicy, chromedp.ByQuery))
	b.until(t, `document.querySelector("dialog.preview")?.textContent.includes("of 12 decisions would differ")`)
	b.shots(t, "policy-preview")
	if v := b.value(t, `String(document.querySelectorAll("dialog .pair-differs").length > 0 && document.querySelectorAll("dialog .differences tbody tr").length > 0 && document.querySelector("dialog .turns").textContent.includes("declined"))`); v != "true" {
		t.Error("the preview shows no differences")
	}
	b.run(t, chromedp.Click(`dialog .preview-actions .primary`, chromedp.ByQuery))
	b.until(t, `document.querySelector(".roster moot-policy [role=status]").textContent.includes("mention decides from the next round on")`)
	b.until(t, `document.querySelector("moot-head").textContent.includes("mention") && !document.querySelector("dialog")`)
	b.choosePolicy(t, "quiet")
	b.choosePolicy(t, "mention")
	if v := b.value(t, `document.querySelector('.roster [data-setting="settings/lookback"] input').value`); v != "2" {
		t.Errorf("the settings in force have a lookback of %s", v)
	}
}
