package endpoint

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestRenderedCleansEveryText puts invisible characters into every text of a
// prompt. None is left in the text or in the parts, and the caller's lists are
// unchanged.
func TestRenderedCleansEveryText(t *testing.T) {
	const bad = "a\x1b[31mb\u202ec\u200bd\x00e\U000e0041"
	p := sample()
	p.Call = called().Call
	p.Hints = []byte(`{"k\u202e":["v\u001b[2K",1e400,{"w":"\u200b"}]}`)
	spoil(reflect.ValueOf(&p).Elem(), bad)
	before, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	p.Boundary, p.Request, p.Kind = testBoundary, "req_1", Turn // never texts of others
	got := Rendered(p)
	if !reflect.DeepEqual(Rendered(p), got) {
		t.Error("not deterministic")
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{`\u001b`, `\u0000`, "\u202e", "\u200b", "\U000e0041"} {
		if strings.Contains(string(b), s) {
			t.Errorf("%q is left in %.2000s", s, b[max(0, strings.Index(string(b), s)-200):])
		}
	}
	if !strings.Contains(string(got.Hints), `1e400`) || !strings.Contains(string(got.Hints), `"k"`) {
		t.Errorf("the hints are %s", got.Hints)
	}
	p.Boundary, p.Request, p.Kind = testBoundary+bad, "req_1"+bad, Turn+bad
	if after, err := json.Marshal(p); err != nil || string(after) != string(before) {
		t.Errorf("the caller's prompt has changed (%v)", err)
	}
}

// spoil appends bad to each string of v but those of the room itself.
func spoil(v reflect.Value, bad string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Room" && name != "Session" && name != "Profile" && name != "Mode" && name != "Omitted" {
				spoil(v.Field(i), bad)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem(), bad)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				spoil(v.Index(i), bad)
			}
		}
	case reflect.String:
		v.SetString(v.String() + bad)
	}
}

// TestCleanJSON checks that JSON keeps its values, and that other text is dropped.
func TestCleanJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1.50}`: `{"a":1.50}`, `"x\u200b<"`: `"x<"`, `["\n",12345678901234567890]`: `["\n",12345678901234567890]`,
		`{"b":1,"a\u200b":2,"a":3}`: `{"a":2,"b":1}`, // keys that are equal when they are cleaned: the last one in order
		`{`:                         "", `{} {}`: "", ``: "", "null": "null",
	} {
		if got := string(cleanJSON([]byte(in))); got != want {
			t.Errorf("cleanJSON(%s) = %s, want %s", in, got, want)
		}
	}
}

// TestClaimedLine checks that a message which only the host says is the agent's is
// worded so.
func TestClaimedLine(t *testing.T) {
	p := sample()
	p.Host = Origin{Name: "ann", Device: "d"}
	p.History = []Line{{Seq: 4, From: "code", Own: true, Claimed: true, Text: "I promise."}}
	text := Rendered(p).Text
	if !strings.Contains(text, "begin message 4, which the host says that you said]\n| I promise.") || strings.Contains(text, "yourself") {
		t.Errorf("got\n%s", text)
	}
}

// TestValidID checks the form of ids.
func TestValidID(t *testing.T) {
	for _, s := range []string{"a", "Z9_-", strings.Repeat("a", 32)} {
		if !ValidID(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", "1", "_a", "a b", "a\n", "é", "a.", strings.Repeat("a", 33)} {
		if ValidID(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}
