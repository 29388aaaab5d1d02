package calls_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room/calls"
)

// note is the example of the note about sub-agent calls.
const note = `{"agent_name":"coder","task":"Implement user_auth","context":{"last_messages":3,"roles":["user","assistant"],"include_workspace":true,"workspace_files":["src/auth/user.rs"],"max_age_seconds":600},
	"max_context_tokens":6000,"allowed_tools":["read","write","edit"],"allow_nested_calls":false}`

// TestParseNote: the arguments of the note are read as they are.
func TestParseNote(t *testing.T) {
	all, err := calls.Parse([]byte(note))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	a := all[0]
	if a.Agent != "coder" || a.ContextTokens() != 6000 || len(a.AllowedTools) != 3 || a.AllowNested || a.Timeout() != 300*time.Second || a.Wait(time.Minute) != time.Minute {
		t.Errorf("%+v", a)
	}
}

// TestParseRefuses: a request with another form is refused whole.
func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "null", "[]", "{}", `{"agent_name":"a"}`, `{"task":"x"}`, `{"agent_name":"a","task":"x"} {}`, `{"agent_name":"a","task":"x","Task":"y"}`,
		`{"agent_name":"a","agent_name":"b","task":"x"}`, `{"agent_name":5,"task":"x"}`, `{"agent_name":"a","task":"x","max_tokens":-1}`, `{"agent_name":"a","task":"x","max_tokens":1.5}`,
		`{"agent_name":"a","task":"x","wait_ms":-1}`, `{"agent_name":"a","task":"x","timeout_ms":86400001}`, `{"agent_name":"a","task":"x","depth":9}`, `{"agent_name":"a","task":"\xff"}`,
		`{"calls":[]}`, `{"calls":{}}`, `{"calls":[{"agent_name":"a","task":"x"}],"task":"y"}`, `{"calls":[{"agent_name":"a"}]}`,
		`{"calls":[` + strings.Repeat(`{"agent_name":"a","task":"x"},`, 16) + `{"agent_name":"a","task":"x"}]}`, `{"agent_name":"` + strings.Repeat("a", 33) + `","task":"x"}`,
	} {
		if all, err := calls.Parse([]byte(text)); err == nil {
			t.Errorf("%.60s is %+v", text, all)
		}
	}
}

// FuzzParse: what is read can be stored and is read again as the same.
func FuzzParse(f *testing.F) {
	f.Add(note)
	f.Add(`{"calls":[{"agent_name":"a","task":"x","wait_ms":0,"allowed_tools":[]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := calls.Parse([]byte(text))
		if err != nil {
			return
		}
		for _, a := range all {
			b, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			again, err := calls.Parse(b)
			if err != nil {
				t.Fatalf("%s: %v", b, err)
			}
			c, _ := json.Marshal(again[0])
			if !reflect.DeepEqual(b, c) {
				t.Fatalf("%s is read as %s", b, c)
			}
		}
	})
}

// TestBounded: a log can hold any result.
func TestBounded(t *testing.T) {
	r := calls.Result{Output: strings.Repeat("ü", 30) + "\xff", Tokens: -1, Cost: 1 << 60, Duration: -1, Errors: make([]string, 100)}.Bounded(20)
	if r.Output != strings.Repeat("ü", 20) || r.Tokens != 0 || r.Cost != 1<<52 || r.Duration != 0 || len(r.Errors) != 8 || r.Tools == nil {
		t.Errorf("%+v", r)
	}
}

// TestRoomID: the id of a child room has the form of other ids and is the same each time.
func TestRoomID(t *testing.T) {
	at := time.UnixMilli(1_800_000_000_000)
	id := calls.RoomID("r1", "s", "c1", at)
	if len(id) != 28 || id != calls.RoomID("r1", "s", "c1", at) || id == calls.RoomID("r1", "s", "c2", at) || id >= calls.RoomID("r1", "s", "c1", at.Add(time.Second)) {
		t.Error(id)
	}
}

// TestShares: a call without a budget gets one fourth of what is left, and the same part
// of the cost.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		rest   calls.Rest
		tokens int64
		want   calls.Budget
		limit  string
	}{
		{calls.Rest{Tokens: -1, Cost: -1, Calls: 5}, 0, calls.Budget{Tokens: calls.Unlimited, Calls: 1}, ""},
		{calls.Rest{Tokens: 8000, Cost: 100, Calls: 5}, 0, calls.Budget{Tokens: 2000, Cost: 25, Calls: 1}, ""},
		{calls.Rest{Tokens: 8000, Cost: 100, Calls: 5}, 8000, calls.Budget{Tokens: 8000, Cost: 100, Calls: 1}, ""},
		{calls.Rest{Tokens: 8000, Cost: 100, Calls: 5}, 8001, calls.Budget{}, "maxTokens"},
		{calls.Rest{Tokens: 1999, Cost: -1, Calls: 5}, 0, calls.Budget{}, "maxTokens"},
		{calls.Rest{Tokens: -1, Cost: 0, Calls: 5}, 10, calls.Budget{}, "maxCost"},
		{calls.Rest{Tokens: -1, Cost: -1, Calls: 0}, 10, calls.Budget{}, "maxCalls"},
	} {
		if got, limit := c.rest.Reserve(c.tokens, false); limit != c.limit || limit == "" && got != c.want {
			t.Errorf("%+v for %d: %+v, %s", c.rest, c.tokens, got, limit)
		}
	}
}
