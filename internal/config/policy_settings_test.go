package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// doubling returns 30 definitions, each two references to the one before, and
// the last of them as the schema: 2^30 steps for every value.
func doubling(keyword string) string {
	var b strings.Builder
	b.WriteString(`{"$defs":{"d0":{"type":"string"}`)
	for i := range 30 {
		fmt.Fprintf(&b, `,"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, keyword, i, i)
	}
	return b.String() + `},"$ref":"#/$defs/d30"}`
}

// nested returns v in so many objects.
func nested(n int, v string) string {
	return strings.Repeat(`{"a":`, n) + v + strings.Repeat("}", n)
}

// hostileSchemas are config_schema and default_config of a third party. None may
// be valid, and none may end this process or hold it up.
var hostileSchemas = []struct{ name, schema, settings string }{
	{"allOf", doubling("allOf"), `{}`},
	{"anyOf", doubling("anyOf"), `{}`},
	{"oneOf", doubling("oneOf"), `{}`},
	{"two-ways-down", `{"$defs":{"n":{"type":"object","allOf":[{"properties":{"a":{"$ref":"#/$defs/n"}}},{"properties":{"a":{"$ref":"#/$defs/n"}}}]}},"$ref":"#/$defs/n"}`, nested(60, `1`)},
	{"dynamic", `{"$dynamicAnchor":"n","type":"object","allOf":[{"properties":{"a":{"$dynamicRef":"#n"}}},{"properties":{"a":{"$dynamicRef":"#n"}}}]}`, nested(60, `1`)},
	{"unevaluated", `{"$defs":{"n":{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#/$defs/n"}}},{"properties":{"a":{"$ref":"#/$defs/n"}}}],"unevaluatedProperties":false}},"$ref":"#/$defs/n"}`, nested(60, `1`)},
	{"refers-to-itself", `{"$ref":"#"}`, `{}`},
	{"two-refer-to-each-other", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `{}`},
	{"large-maximum", `{"properties":{"x":{"type":"string","maximum":-1e1000000000}}}`, `{"x":1}`},
	{"small-multiple", `{"properties":{"x":{"multipleOf":1e-1000000000}}}`, `{"x":1.5}`},
	{"large-length", `{"properties":{"x":{"minLength":1e1000000000}}}`, `{"x":"1"}`},
	{"large-enum", `{"properties":{"x":{"enum":[1e1000000000]}}}`, `{"x":1}`},
	{"deep", strings.Repeat(`{"not":`, 9000) + `true` + strings.Repeat("}", 9000), `{}`},
	{"deeper", strings.Repeat(`{"not":`, 2_000_000) + `true` + strings.Repeat("}", 2_000_000), `{}`},
	{"pattern", `{"properties":{"x":{"pattern":"^(((((a{1,30}){1,30}){1,30}){1,30}){1,30})$"}}}`, `{"x":"b"}`},
	{"patterns", `{"properties":{"x":{"allOf":[` + strings.Repeat(`{"pattern":"(a?){999}(b?){999}"},`, 3000) + `{"pattern":"^c$"}]}}}`, `{"x":"` + strings.Repeat("ab", 100_000) + `"}`},
	{"remote", `{"$ref":"http://127.0.0.1:1/schema.json"}`, `{}`},
	{"remote-dialect", `{"$schema":"http://127.0.0.1:1/schema.json"}`, `{}`},
	{"file", `{"$ref":"file:///etc/passwd"}`, `{}`},
	{"relative", `{"$id":"file:///etc/","$ref":"passwd"}`, `{}`},
	{"many-values", `{"properties":{"x":{"enum":["` + strings.Repeat(`v","`, 80_000) + `w"]}}}`, `{"x":"b"}`},
	{"many-violations", `{"items":{"type":"string"}}`, `[` + strings.Repeat("1,", 100_000) + `1]`},
	{"unique", `{"properties":{"x":{"uniqueItems":true}}}`, `{"x":[` + numbers(60_000) + `0]}`},
	{"many-names", `{"properties":{"x":{"additionalProperties":false}}}`, `{"x":{` + names(50_000) + `"last":1}}`},
	{"not-a-schema", `[]`, `{}`},
	{"no-json", `{`, `{}`},
	{"settings-no-json", `{}`, `{`},
	{"large-number", `{"properties":{"x":{"type":"integer"}}}`, `{"x":1e1000000000}`},
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,", i)
	}
	return b.String()
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"n%d":1,`, i)
	}
	return b.String()
}

// TestHostileSchemas: every hostile schema is refused with a short message, for
// `policy check` and for a room.
func TestHostileSchemas(t *testing.T) {
	for _, c := range hostileSchemas {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := CheckSettings(t.Context(), []byte(c.schema), []byte(c.settings))
			if err == nil {
				t.Fatal("the settings are valid")
			}
			if len(err.Error()) > 100*maxText {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
			t.Logf("%.300s", err)
		})
	}
	o := testOptions
	o.SettingsSchema = func(string) ([]byte, bool, error) { return []byte(doubling("allOf")), false, nil }
	text := strings.Replace(head, "policy: {use: alternate}\n", "", 1) + "policy: {use: alternate}\n"
	_, ps := Load(write(t, map[string]string{"room.yaml": text}), o)
	if len(ps) != 1 || ps[0].Code != "ROOM-POLICY" || !strings.Contains(ps[0].What, "more than 1 s") {
		t.Error(ps)
	}
}

// TestBuiltInSchemas: settings of the built-in policies are checked alike in
// this process and in a worker process.
func TestBuiltInSchemas(t *testing.T) {
	paths, err := filepath.Glob("../../policies/*/policy.json")
	if err != nil || len(paths) < 7 {
		t.Fatal(err, paths)
	}
	for _, path := range paths {
		var m struct {
			Schema   json.RawMessage `json:"config_schema"`
			Defaults json.RawMessage `json:"default_config"`
		}
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Schema) == 0 {
			continue
		}
		if err := CheckSettings(t.Context(), m.Schema, m.Defaults); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		c := settingsCheck{Schema: m.Schema, Settings: json.RawMessage(`{"no such key": 1, "other": 2}`)}
		here, there := c.run(), c.runInWorker(t.Context())
		if a, b := fmt.Sprint(here), fmt.Sprint(there); a != b || len(here.Violations) == 0 {
			t.Errorf("%s: %s in this process, %s in a worker", path, a, b)
		}
	}
}

// TestRoomSettings: each error names its place, by a JSON pointer, and ids of
// participants are those of the room.
func TestRoomSettings(t *testing.T) {
	schema := []byte(`{"type":"object","required":["a/b"],"additionalProperties":false,"properties":{"a/b":{"type":"array","items":{"type":"string","format":"participant"}}}}`)
	for settings, want := range map[string]string{
		`{"a/b":["ann",""]}`:  "[]",
		`{"a/b":["ann","x"]}`: "[settings/a~1b/1]",
		`{"c":1}`:             "[settings settings]",
		`{"a/b":{}}`:          "[settings/a~1b]",
		``:                    "[settings]",
	} {
		err := CheckRoomSettings(t.Context(), schema, []byte(settings), []string{"ann"})
		var places []string
		if all, ok := errors.AsType[SettingsError](err); ok {
			for _, e := range all.Each() {
				places = append(places, e.Where)
				if e.Code != "ROOM-SETTINGS" || e.What == "" || e.Fix == "" || !strings.Contains(err.Error(), e.What) {
					t.Errorf("%s: %v", settings, e)
				}
			}
		}
		if got := fmt.Sprint(places); got != want || (err == nil) != (want == "[]") {
			t.Errorf("%s: errors at %s, want %s: %v", settings, got, want, err)
		}
	}
	if err := CheckRoomSettings(t.Context(), []byte(doubling("allOf")), []byte(`{}`), nil); err == nil || !strings.Contains(err.Error(), "more than 1 s") {
		t.Errorf("a hostile schema: %v", err)
	}
}

// TestNoSettings: without settings an empty object is checked, in this process
// and in a worker process.
func TestNoSettings(t *testing.T) {
	for _, builtIn := range []bool{true, false} {
		o := testOptions
		o.SettingsSchema = func(string) ([]byte, bool, error) { return []byte(`{"type":"object"}`), builtIn, nil }
		if _, ps := Load(write(t, map[string]string{"room.yaml": head}), o); len(ps) > 0 {
			t.Errorf("built in %v: %v", builtIn, ps)
		}
	}
	if err := CheckSettings(t.Context(), []byte(`{"type":"object"}`), nil); err != nil {
		t.Error(err)
	}
}

// TestCheckOfCallerGone: the check ends with its caller.
func TestCheckOfCallerGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := CheckSettings(ctx, []byte(doubling("allOf")), nil); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Error(err)
	}
}
