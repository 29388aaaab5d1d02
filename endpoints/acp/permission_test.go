package acp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// TestPermissionQuestion checks what the room is asked. A request that a person could not
// see whole is none.
func TestPermissionQuestion(t *testing.T) {
	long := strings.Repeat("x", maxCommand)
	for name, c := range map[string]struct {
		call string
		want endpoint.Permission
		ok   bool
	}{
		"kinds that are not known":  {`{"toolCallId":"t","kind":"teleport"}`, endpoint.Permission{ID: "t", Kind: "other"}, true},
		"a line":                    {`{"toolCallId":"t","kind":"execute","rawInput":{"command":"go test"}}`, endpoint.Permission{ID: "t", Kind: "execute", Command: "go test", Detail: `{"command":"go test"}`}, true},
		"arguments of a wrong type": {`{"toolCallId":"t","kind":"execute","rawInput":{"command":["go",5]}}`, endpoint.Permission{ID: "t", Kind: "execute", Detail: `{"command":["go",5]}`}, true},
		"no input":                  {`{"toolCallId":"t","rawInput":{}}`, endpoint.Permission{ID: "t", Kind: "other"}, true},
		"a large file":              {`{"toolCallId":"t","kind":"edit","rawInput":{"content":"` + long + long + `"}}`, endpoint.Permission{ID: "t", Kind: "edit", Detail: endpoint.CleanLine(`{"content":"`+long, maxDetail)}, true},
		"a long command":            {`{"toolCallId":"t","kind":"execute","rawInput":{"command":"` + long + `"}}`, endpoint.Permission{}, false},
		"a long path":               {`{"toolCallId":"t","locations":[{"path":"` + long + `"}]}`, endpoint.Permission{}, false},
		"many files":                {`{"toolCallId":"t","locations":[` + strings.Repeat(`{"path":"a"},`, maxPaths) + `{"path":"b"}]}`, endpoint.Permission{}, false},
	} {
		var call toolCall
		if err := decodeLenient(json.RawMessage(c.call), &call); err != nil {
			t.Fatal(name, err)
		}
		got, ok := toolCall{}.merged(call).permission("", nil)
		have, _ := json.Marshal(got)
		want, _ := json.Marshal(c.want)
		if ok != c.ok || ok && string(have) != string(want) {
			t.Errorf("%s: %.300s (%t), want %.300s", name, have, ok, want)
		}
	}
}

// TestPresetEnvironment checks which variables of this process an agent gets.
func TestPresetEnvironment(t *testing.T) {
	p, _ := PresetOf("claude")
	lookup := func(name string) (string, bool) {
		return "x", name == "ANTHROPIC_API_KEY" || name == "HTTPS_PROXY" || name == "AWS_SECRET_ACCESS_KEY"
	}
	for root, want := range map[bool]string{
		false: "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=false ANTHROPIC_API_KEY=x HTTPS_PROXY=x",
		true:  "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=false IS_SANDBOX=1 ANTHROPIC_API_KEY=x HTTPS_PROXY=x",
	} {
		if got := strings.Join(p.environ(lookup, root), " "); got != want {
			t.Errorf("root %t: %s, want %s", root, got, want)
		}
	}
	if env := (Preset{}).environ(lookup, true); len(env) > 0 {
		t.Errorf("an agent that is not known gets %q", env)
	}
}

// TestPresetConfiguration checks that an owner's variable cannot replace the
// configuration in which an agent asks.
func TestPresetConfiguration(t *testing.T) {
	p, _ := PresetOf("opencode")
	cfg := Config{Preset: p, Env: []string{"OPENCODE_CONFIG_CONTENT={}"}}.withDefaults()
	if last := cfg.Env[len(cfg.Env)-1]; last != "OPENCODE_CONFIG_CONTENT="+askAll {
		t.Errorf("the last variable is %s", last)
	}
}

// TestDiffs checks what an agent says that it writes. Content of another form has no
// diffs, and is no fault of the request.
func TestDiffs(t *testing.T) {
	for content, want := range map[string][]endpoint.Diff{
		`[{"type":"diff","path":"a.go","oldText":"x","newText":"y"},{"type":"content","content":{"type":"text","text":"z"}},{"type":"diff","path":"b.go","oldText":null,"newText":"new"}]`: {
			{Path: "a.go", Old: "x", New: "y"}, {Path: "b.go", New: "new"},
		},
		`null`: nil, ``: nil, `{"type":"diff"}`: nil, `[1,"x",null]`: nil, `[{"type":"diff","path":5}]`: nil,
	} {
		if got := diffsOf(json.RawMessage(content)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", content, got)
		}
	}
}
