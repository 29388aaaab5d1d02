package setupcmd

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/room"
)

// compiled prints a schema as the command does and compiles it.
func compiled(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	var out bytes.Buffer
	a := &commands{&app.App{Stdout: &out}}
	if err := a.printSchema(kind); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&out)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(kind, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(kind)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, b []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// TestEventSchema: every type of event as it is stored is valid, and a wrong
// one is not.
func TestEventSchema(t *testing.T) {
	s := compiled(t, "event")
	var names []string
	for _, body := range room.Bodies() {
		names = append(names, body.Type())
		b, err := room.MarshalEvent(room.Event{V: room.FormatVersion, Seq: 1, ID: "e", Actor: "room", At: time.Unix(0, 0), Body: body})
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, b); err != nil {
			t.Errorf("%s: %v\n%s", body.Type(), err, b)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, room.Types()) {
		t.Errorf("bodies are %v, room has %v", names, room.Types())
	}
	for _, bad := range []string{
		`{}`,
		`{"v":1,"seq":0,"id":"e","type":"room.resumed","actor":"room","epoch":0,"at":"1970-01-01T00:00:00Z","clock_ns":0,"body":{}}`,
		`{"v":1,"seq":1,"id":"e","type":"room.reopened","actor":"room","epoch":0,"at":"1970-01-01T00:00:00Z","clock_ns":0,"body":{}}`,
		`{"v":1,"seq":1,"id":"e","type":"turn.rejected","actor":"room","epoch":0,"at":"1970-01-01T00:00:00Z","clock_ns":0,"body":{"turn":"one","draft":""}}`,
	} {
		if err := validate(t, s, []byte(bad)); err == nil {
			t.Errorf("valid: %s", bad)
		}
	}
}

func TestPolicySchema(t *testing.T) {
	s := compiled(t, "policy")
	for _, name := range policies.Names() {
		b, err := json.Marshal(policies.Manifest(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	compiled(t, "message")
	compiled(t, "room")
}
