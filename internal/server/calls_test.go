package server_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/log"
)

// calling is a room in which a session calls agents with scripts: one that answers, one
// that takes its time, and one that first asks its caller.
const calling = `version: room/v1
objective: Check the index.
policy: {use: inbox}
limits: {maxDeclines: 100000, declineRetry: 1m}
participants:
  - {id: me, kind: human}
  - {id: lead, mode: full_auto, calls: allow, endpoint: {kind: session}}
  - {id: other, mode: full_auto, endpoint: {kind: session}}
agents:
  - {id: dba, endpoint: {kind: scripted, script: dba.jsonl}}
  - {id: slow, endpoint: {kind: scripted, script: slow.jsonl}}
  - {id: asks, endpoint: {kind: scripted, script: asks.jsonl}}
`

var callingScripts = map[string]string{
	"dba.jsonl":  `{"say":"The index is safe. token=abcdef0123456789"}`,
	"slow.jsonl": `{"delay":"1h","say":"late"}`,
	"asks.jsonl": `{"post":[{"message_id":"q1","to":"lead","kind":"clarification_request","text":"Which table?"}],"pass":"I have asked."}` + "\n" + `{"say":"It is the table of orders."}`,
}

// A callRoom is a room whose calls are made over HTTP.
type callRoom struct {
	*fixture
	path string
}

func newCallRoom(t *testing.T) callRoom {
	dir := t.TempDir()
	for name, text := range callingScripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := newFixture(t, t.TempDir())
	return callRoom{x, "/api/rooms/" + x.create(api.Create{YAML: calling, Dir: dir})}
}

// make makes the calls of lead.
func (x callRoom) make(body string) []calls.Answer {
	x.t.Helper()
	var out api.CallAnswers
	x.call("", http.MethodPost, x.path+"/seats/lead/calls", body, &out)
	return out.Calls
}

// get shows how a call stands after a wait.
func (x callRoom) get(id, wait string) calls.Answer {
	x.t.Helper()
	var out api.CallAnswers
	x.call("", http.MethodGet, x.path+"/seats/lead/calls/"+id+wait, nil, &out)
	if len(out.Calls) != 1 || out.Calls[0].ID != id {
		x.t.Fatalf("%+v", out)
	}
	return out.Calls[0]
}

// until waits until the call stands as want says.
func (x callRoom) until(id string, want calls.State) calls.Answer {
	x.t.Helper()
	for {
		a := x.get(id, "?wait=20s")
		if a.State == want || !a.State.Open() || x.t.Context().Err() != nil {
			return a
		}
	}
}

// do sends a request that has no answer.
func (x callRoom) do(path, body string) {
	x.t.Helper()
	if status, _, b := x.send(http.MethodPost, x.path+path, body); status != http.StatusNoContent {
		x.t.Errorf("%s: %d %s", path, status, b)
	}
}

// TestCalls makes calls over HTTP: with a wait, without one, and several at once; it
// answers the question of a called agent, cancels a call, and lists all of them.
func TestCalls(t *testing.T) {
	x := newCallRoom(t)
	var list api.Calls
	if x.call("control", http.MethodGet, x.path+"/calls", nil, &list); list.Calls == nil || len(list.Calls) != 0 {
		t.Errorf("%+v", list)
	}
	one := x.make(`{"agent_name":"dba","task":"Check it, password=hunter2hunter2","max_tokens":9000}`)
	if len(one) != 1 || one[0].State != calls.Completed || !one[0].Success || !strings.HasPrefix(one[0].Output, "The index is safe.") || one[0].Agent != "dba" || one[0].Tokens == 0 {
		t.Errorf("%+v", one)
	}
	both := x.make(`{"calls":[{"agent_name":"dba","task":"a"},{"agent_name":"dba","task":"b"}]}`)
	if len(both) != 2 || both[0].State != calls.Completed || both[1].State != calls.Completed || both[0].ID == both[1].ID {
		t.Errorf("%+v", both)
	}
	slow := x.make(`{"agent_name":"slow","task":"Take your time","wait_ms":0}`)[0]
	if !slow.State.Open() || slow.Room == "" || slow.ID != "c4" {
		t.Errorf("%+v", slow)
	}
	for _, wait := range []string{"", "?wait=0s", "?wait=1ms"} {
		if a := x.get(slow.ID, wait); !a.State.Open() || a.Success {
			t.Errorf("%q: %+v", wait, a)
		}
	}
	x.do("/seats/lead/calls/"+slow.ID+"/cancel", `{"reason":"too slow"}`)
	if a := x.until(slow.ID, calls.Canceled); a.State != calls.Canceled || a.Success || len(a.Errors) == 0 || a.Errors[0] != "too slow" {
		t.Errorf("%+v", a)
	}
	asks := x.make(`{"agent_name":"asks","task":"Which table?","wait_ms":0}`)[0]
	if a := x.until(asks.ID, calls.InputRequired); a.State != calls.InputRequired || a.Asked != "lead" || a.Text != "Which table?" {
		t.Errorf("%+v", a)
	}
	x.do("/seats/lead/calls/"+asks.ID+"/reply", `{"text":"The big one."}`)
	if a := x.until(asks.ID, calls.Completed); a.State != calls.Completed || a.Output != "It is the table of orders." {
		t.Errorf("%+v", a)
	}
	if p := x.refused(http.MethodPost, x.path+"/seats/lead/calls/"+asks.ID+"/reply", `{"text":"Again."}`); p.Code != "ROOM-CALL-ASKED" || p.Status != http.StatusConflict {
		t.Errorf("a second reply: %+v", p)
	}
	x.listed([]calls.State{calls.Completed, calls.Completed, calls.Completed, calls.Canceled, calls.Completed})
}

// listed checks the list of calls: oldest first, in these states, and with previews.
func (x callRoom) listed(want []calls.State) {
	x.t.Helper()
	var list api.Calls
	x.call("control", http.MethodGet, x.path+"/calls", nil, &list)
	if len(list.Calls) != len(want) {
		x.t.Fatalf("%d calls: %+v", len(list.Calls), list)
	}
	for i, c := range list.Calls {
		if c.State != want[i] || c.Caller != "lead" || c.Request != nil || c.Result == nil {
			x.t.Errorf("call %d: %+v", i+1, c)
		}
	}
	first := list.Calls[0]
	if first.Task != "Check it, password=[redacted]" || first.Result.Output != "The index is safe. token=[redacted]" {
		x.t.Errorf("%q, %q", first.Task, first.Result.Output)
	}
}

// TestCallsRefused checks what is refused: callers, seats, arguments and calls.
func TestCallsRefused(t *testing.T) {
	x := newCallRoom(t)
	if a := x.make(`{"agent_name":"dba","task":"a"}`); len(a) != 1 || a[0].ID != "c1" {
		t.Fatalf("%+v", a)
	}
	const get, post = http.MethodGet, http.MethodPost
	seat := func(name string) []string { return []string{"Test-Scope", "talk", "Test-Seat", name} }
	task := `{"agent_name":"dba","task":"a"}`
	for _, c := range []struct {
		method, path, body string
		as                 []string
		status             int
		code               string
	}{
		{get, "/calls", "", []string{"Test-Scope", "talk"}, 403, "API-FORBIDDEN"},
		{get, "/calls", "", seat("lead"), 403, "API-FORBIDDEN"},
		{post, "/seats/lead/calls", task, []string{"Test-Scope", "read"}, 403, "API-FORBIDDEN"},
		{post, "/seats/lead/calls", task, []string{"Test-Scope", "control"}, 403, "API-FORBIDDEN"},
		{post, "/seats/lead/calls", task, seat("other"), 403, "API-FORBIDDEN"},
		{get, "/seats/lead/calls/c1", "", seat("other"), 403, "API-FORBIDDEN"},
		{post, "/seats/lead/calls/c1/reply", `{"text":"a"}`, seat("other"), 403, "API-FORBIDDEN"},
		{post, "/seats/lead/calls/c1/cancel", `{}`, seat("other"), 403, "API-FORBIDDEN"},
		{post, "/seats/other/calls", task, seat("other"), 403, "ROOM-CALL-DENIED"},
		{get, "/seats/other/calls/c1", "", seat("other"), 404, "ROOM-CALL-UNKNOWN"},
		{post, "/seats/other/calls/c1/reply", `{"text":"a"}`, seat("other"), 404, "ROOM-CALL-UNKNOWN"},
		{post, "/seats/other/calls/c1/cancel", `{}`, seat("other"), 404, "ROOM-CALL-UNKNOWN"},
		{get, "/seats/lead/calls/c9", "", nil, 404, "ROOM-CALL-UNKNOWN"},
		{post, "/seats/lead/calls/c9/reply", `{"text":"a"}`, nil, 404, "ROOM-CALL-UNKNOWN"},
		{post, "/seats/lead/calls/c9/cancel", `{}`, nil, 404, "ROOM-CALL-UNKNOWN"},
		{post, "/seats/zoe/calls", task, nil, 403, "ROOM-DENIED"},
		{post, "/seats/lead/calls", `{"agent_name":"zoe","task":"a"}`, nil, 422, "ROOM-CALL-AGENT"},
		{post, "/seats/lead/calls", `{"agent_name":"other","task":"a"}`, nil, 422, "ROOM-CALL-AGENT"},
		{post, "/seats/lead/calls", `{"agent_name":"dba"}`, nil, 422, "ROOM-CALL-ARGS"},
		{post, "/seats/lead/calls", `{"calls":[]}`, nil, 422, "ROOM-CALL-ARGS"},
		{post, "/seats/lead/calls", `{"agent_name":"dba","task":"a","calls":[{"agent_name":"dba","task":"a"}]}`, nil, 422, "ROOM-CALL-ARGS"},
		{post, "/seats/lead/calls", `{"agent_name":"dba","task":"a","max_context_tokens":-1}`, nil, 422, "ROOM-CALL-ARGS"},
		{post, "/seats/lead/calls", `{"agent_name":"dba","task":"a","speed":1}`, nil, 422, "API-REQUEST"},
		{get, "/seats/lead/calls/c1?wait=long", "", nil, 422, "API-REQUEST"},
		{post, "/seats/lead/calls/c1/reply", `{"text":""}`, nil, 422, "API-REQUEST"},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		if p := x.refused(c.method, x.path+c.path, body, c.as...); p.Status != c.status || p.Code != c.code || p.Detail == "" {
			t.Errorf("%s %s %s as %v: %d %s, want %d %s: %s", c.method, c.path, c.body, c.as, p.Status, p.Code, c.status, c.code, p.Detail)
		}
	}
	for _, path := range []string{"/api/rooms/r_none/calls", "/api/rooms/r_none/seats/lead/calls/c1"} {
		if p := x.refused(get, path, nil); p.Status != http.StatusNotFound {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

// TestCallClient makes, answers and cancels calls with the client of programs in Go.
func TestCallClient(t *testing.T) {
	x := newCallRoom(t)
	c := client.New(client.Config{URL: x.web.URL})
	id := strings.TrimPrefix(x.path, "/api/rooms/")
	now := int64(0)
	made, err := c.CallAgents(t.Context(), id, "lead", api.CallRequest{Calls: []api.CallArgs{
		{Agent: "asks", Task: "Which table?", WaitMS: &now}, {Agent: "slow", Task: "Take your time", WaitMS: &now},
	}})
	if err != nil || len(made) != 2 || made[0].Agent != "asks" || !made[1].State.Open() {
		t.Fatalf("%+v, %v", made, err)
	}
	until := func(i int, want calls.State) (a calls.Answer) {
		for a.State != want && (a.State == "" || a.State.Open()) && err == nil {
			a, err = c.GetCall(t.Context(), id, "lead", made[i].ID, 20*time.Second)
		}
		return a
	}
	if a := until(0, calls.InputRequired); a.State != calls.InputRequired || err != nil {
		t.Fatalf("%+v, %v", a, err)
	}
	if err := c.ReplyCall(t.Context(), id, "lead", made[0].ID, "The big one."); err != nil {
		t.Error(err)
	}
	if err := c.CancelCall(t.Context(), id, "lead", made[1].ID, "too slow"); err != nil {
		t.Error(err)
	}
	if a := until(0, calls.Completed); a.State != calls.Completed || a.Output != "It is the table of orders." {
		t.Errorf("%+v, %v", a, err)
	}
	if a := until(1, calls.Canceled); a.State != calls.Canceled {
		t.Errorf("%+v, %v", a, err)
	}
	list, err := c.Calls(t.Context(), id)
	if err != nil || len(list) != 2 || list[0].State != calls.Completed || list[1].State != calls.Canceled {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := c.GetCall(t.Context(), id, "lead", "c9", 0); !errors.Is(err, log.ErrNotFound) || codeOf(err) != "ROOM-CALL-UNKNOWN" {
		t.Errorf("an unknown call: %v", err)
	}
}

// TestMessageClient posts, pulls, acknowledges and lists messages with the client.
func TestMessageClient(t *testing.T) {
	r, c := hostedRoom(t, lead, server.LocalUser)
	receipt, err := c.Post(t.Context(), r.ID(), "lead", api.Post{ID: "m1", To: "dba", Kind: "status_check", Text: "Is it done?", RequiresAck: true})
	if err != nil || receipt.State != delivery.Queued {
		t.Fatalf("%+v, %v", receipt, err)
	}
	if in, err := c.Pull(t.Context(), r.ID(), "dba", 5); err != nil || len(in.Messages) != 1 || in.Messages[0].Text != "Is it done?" {
		t.Errorf("%+v, %v", in, err)
	}
	if receipt, err = c.Ack(t.Context(), r.ID(), "dba", "m1"); err != nil || receipt.State != delivery.Acked {
		t.Errorf("%+v, %v", receipt, err)
	}
	for f, want := range map[client.DeliveryFilter]int{
		{}: 1, {To: "dba", From: "lead", Kind: "status_check", State: delivery.Acked}: 1, {To: "lead"}: 0, {From: "dba"}: 0, {Kind: "decision"}: 0, {State: delivery.Held}: 0,
	} {
		if d, err := c.Deliveries(t.Context(), r.ID(), f); err != nil || len(d.Deliveries) != want {
			t.Errorf("%+v: %+v, %v", f, d, err)
		}
	}
	if _, err := c.Post(t.Context(), r.ID(), "dba", api.Post{ID: "m2", To: "lead", Kind: "decision", Text: "I decide."}); codeOf(err) != "ROOM-KIND" {
		t.Errorf("a decision of a worker: %v", err)
	}
	if d, err := c.DeadLetters(t.Context(), r.ID()); err != nil || len(d.DeadLetters) != 1 || d.DeadLetters[0].ID != "m2" || d.Total != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}
