package browser

import (
	"encoding/json"
	"net/http"
	"reflect"
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

// forms are settings in the forms that the page draws, and what the person changes: an
// expression with f, which finds the field of a pointer. want are the settings then.
var forms = []struct{ name, schema, value, change, want string }{
	{"no settings", `{"additionalProperties":false}`, `{}`, ``, `{}`},
	{"any settings", `null`, `{"a":1}`, `f("").value = '{"b":[2]}'`, `{"b":[2]}`},
	{"defaults are left out", `{"properties":{"a":{"type":"integer","default":4},"b":{"type":"boolean","default":true}}}`, `{}`, ``, `{}`},
	{"a number", `{"properties":{"a":{"type":"integer","default":4}}}`, `{}`, `f("/a").value = "7"`, `{"a":7}`},
	{"a number again", `{"properties":{"a":{"type":"number","default":0.5}}}`, `{"a":0.25}`, `f("/a").value = "0.5"`, `{}`},
	{"no number", `{"properties":{"a":{"type":"number"}}}`, `{"a":1}`, `f("/a").value = ""`, `{}`},
	{"a switch", `{"properties":{"a":{"type":"boolean","default":true},"b":{"type":"boolean"}}}`, `{}`, `f("/a").checked = false; f("/b").checked = true`, `{"a":false,"b":true}`},
	{"a choice", `{"properties":{"a":{"enum":["x","y",3],"default":"x"}}}`, `{}`, `f("/a").value = "2"`, `{"a":3}`},
	{"a titled choice", `{"properties":{"a":{"oneOf":[{"const":"x","title":"One"},{"const":"y","title":"Two"}]}}}`, `{}`, `f("/a").value = [...f("/a").options].find((o) => o.text === "Two").value`, `{"a":"y"}`},
	{"a participant", `{"properties":{"a":{"type":"string","format":"participant","default":""}}}`, `{}`, `f("/a").value = [...f("/a").options].find((o) => o.text === "DBA").value`, `{"a":"dba"}`},
	{"no participant", `{"properties":{"a":{"type":"string","format":"participant","default":""}}}`, `{}`, ``, `{}`},
	{"participants", `{"properties":{"a":{"type":"array","items":{"type":"string","format":"participant"}}}}`, `{"a":["dba"]}`, `f("/a").querySelector("input").checked = true`, `{"a":["codebase","dba"]}`},
	{"someone who is not here", `{"properties":{"a":{"type":"array","items":{"type":"string","format":"participant"}}}}`, `{"a":["gone"]}`, ``, `{"a":["gone"]}`},
	{"a list", `{"properties":{"a":{"type":"array","items":{"type":"string"}}}}`, `{"a":["x"]}`, `f("/a").value = " y\n\nz "`, `{"a":["y","z"]}`},
	{"a list of numbers", `{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, `{}`, `f("/a").value = "1\n2"`, `{"a":[1,2]}`},
	{"an object", `{"properties":{"a":{"type":"object","properties":{"b":{"type":"string","default":"x"}}}}}`, `{"a":{"c":1}}`, `f("/a/b").value = "y"`, `{"a":{"c":1,"b":"y"}}`},
	{"an object of the defaults", `{"properties":{"a":{"type":"object","default":{"b":1,"c":2},"properties":{"b":{"type":"integer"},"c":{"type":"integer"}}}}}`, `{}`, `f("/a/b").value = "3"`, `{"a":{"b":3,"c":2}}`},
	{"a reference", `{"$defs":{"n":{"type":"integer","minimum":1}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{}`, `f("/a").value = "2"`, `{"a":2}`},
	{"a loop", `{"$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}}},"properties":{"n":{"$ref":"#/$defs/n"}}}`, `{}`, ``, `{}`},
	{"itself", `{"$ref":"#"}`, `{}`, ``, `{}`},
	{"another file", `{"properties":{"a":{"$ref":"https://example.org/x"}}}`, `{"a":1}`, ``, `{"a":1}`},
	{"unknown settings stay", `{"properties":{"a":{"type":"integer"}}}`, `{"a":1,"z":{"y":2}}`, ``, `{"a":1,"z":{"y":2}}`},
	{"an odd name", `{"properties":{"a/b~c":{"type":"string"}}}`, `{}`, `f("/a~1b~0c").value = "x"`, `{"a/b~c":"x"}`},
	{"a name of JavaScript", `{"properties":{"__proto__":{"type":"string"},"toString":{"type":"string"}}}`, `{}`, `f("/__proto__").value = "x"`, `{"__proto__":"x"}`},
	{"other types", `{"properties":{"a":{"type":["string","null"]},"b":{}}}`, `{"a":null}`, `f("/b").value = "[1]"`, `{"a":null,"b":[1]}`},
	{"not of its type", `{"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"object","properties":{"c":{}}}}}`, `{"a":7,"b":8}`, ``, `{"a":7,"b":8}`},
	{"markup", `{"properties":{"<img src=x onerror=window.hacked=1>":{"type":"string","title":"<img src=x onerror=window.hacked=1>","description":"<script>window.hacked=1</script>"}}}`, `{}`, ``, `{}`},
}

// TestSettingsForm draws forms of settings and reads them.
func TestSettingsForm(t *testing.T) {
	_, b, _ := settled(t)
	b.value(t, `import(document.querySelector("script[src*='room.js']").src.replace("room.js", "schemaform.js")).then((m) => { window.SchemaForm = m.SchemaForm; return ""; })`)
	for _, c := range forms {
		got := b.value(t, `(() => {
			const seats = [{ id: "ana", badge: "human" }, { id: "codebase", badge: "local" }, { id: "dba", name: "DBA", badge: "local" }];
			const schema = JSON.parse(`+"`"+strings.ReplaceAll(c.schema, "$", "\\$")+"`"+`);
			const form = new SchemaForm({ schema, value: JSON.parse(`+"`"+c.value+"`"+`), seats });
			document.body.append(form.element);
			const f = (pointer) => {
				const setting = [...form.element.querySelectorAll("[data-setting]")].find((e) => e.dataset.setting === "settings" + pointer);
				return setting.querySelector("[role=group], input, select, textarea");
			};
			`+c.change+`;
			const unnamed = [...form.element.querySelectorAll("input, select, textarea")].filter((e) => e.labels.length === 0).length;
			const result = JSON.stringify(form.value());
			form.element.remove();
			return unnamed ? unnamed + " fields have no label" : result;
		})()`)
		if !sameJSON(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if v := b.value(t, `String(window.hacked)`); v != "undefined" {
		t.Error("markup of a schema was run")
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// TestPolicyOfReader shows the name of the policy to a browser that may only read.
func TestPolicyOfReader(t *testing.T) {
	s := serve(t)
	id := s.room(threeAgents)
	b := start(t)
	s.signIn(b, "read")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+id))
	b.until(t, `document.querySelector(".roster moot-policy").textContent.includes("mention 1.0.0 decides who speaks next.")`)
	if v := b.value(t, `String(document.querySelectorAll(".roster moot-policy select, .roster moot-policy button").length)`); v != "0" {
		t.Errorf("it has %s controls", v)
	}
}
