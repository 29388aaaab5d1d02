package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/server"
)

// A fixture is a server of a Host with agents and a policy in Go. The headers
// Test-Scope, Test-Room and Test-Seat say who sends a request; without them it is
// admin. Every answer is compared with the description of its route.
type fixture struct {
	*moot.Host
	t   testing.TB
	web *httptest.Server
	doc *document
}

func newFixture(t testing.TB, data string) *fixture {
	t.Helper()
	h, err := moot.Open(moot.Config{
		Data: data, Cache: compiled(), Policies: map[string]moot.Policy{"turns": moot.PolicyFunc(inTurns)},
		Endpoints: map[string]func(context.Context, moot.Participant) (moot.Endpoint, error){
			"agent": func(_ context.Context, p moot.Participant) (moot.Endpoint, error) {
				return agent{asks: p.ID == "b"}, nil
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Host: h, Version: "test"})
	x := &fixture{Host: h, t: t, doc: parseDocument(t), web: httptest.NewServer(s.Handler(whoTests))}
	t.Cleanup(func() {
		x.web.CloseClientConnections()
		x.web.Close()
		_ = h.Close()
	})
	return x
}

func whoTests(r *http.Request) (server.Caller, error) {
	c := server.Caller{Name: "test", Scope: server.Admin, Room: r.Header.Get("Test-Room"), Seat: r.Header.Get("Test-Seat"), Via: "http"}
	if scope := r.Header.Get("Test-Scope"); scope != "" {
		var err error
		if c.Scope, err = access.ParseScope(scope); err != nil {
			return c, err
		}
	}
	return c, nil
}

// inTurns gives the floor to the agent that was silent longest.
func inTurns(in *moot.Input) moot.Decision {
	best := -1
	for i, a := range in.Agents {
		if a.Eligible && (best < 0 || a.LastTurn < in.Agents[best].LastTurn) {
			best = i
		}
	}
	if best < 0 {
		return moot.Decline("nobody may speak")
	}
	return moot.Speak(in.Agents[best].ID, "its turn")
}

// An agent shows live text, may ask for a permission, and says which turn it is.
type agent struct{ asks bool }

func (a agent) Speak(ctx context.Context, p moot.Prompt, f moot.Floor) (moot.Reply, error) {
	f.Show("LIVE-SECRET")
	f.ShowTool(endpoint.ToolCall{Title: "LIVE-SECRET"})
	if a.asks {
		if _, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &endpoint.Permission{Kind: endpoint.ActionExecute, Command: "PERMISSION-SECRET"}}); err != nil {
			return moot.Reply{}, err
		}
		return moot.Reply{Outcome: moot.Said, Text: "DRAFT-SECRET", Tools: []endpoint.ToolCall{{Title: "TOOL-SECRET"}}}, nil
	}
	return moot.Reply{Outcome: moot.Said, Text: fmt.Sprintf("turn %d", p.Turn)}, nil
}

func (agent) Close() error { return nil }

// talk is a room of two agents that ends after three turns.
const talk = `version: room/v1
objective: test
participants:
  - {id: me, kind: human}
  - {id: a, mode: full_auto, endpoint: {kind: go, name: agent}}
  - {id: c, mode: full_auto, endpoint: {kind: go, name: agent}}
policy: {use: turns}
limits: {maxTurns: 3}
`

// create creates a room and returns its id.
func (x *fixture) create(q api.Create) string {
	x.t.Helper()
	var out api.Created
	x.call("", http.MethodPost, "/api/rooms", q, &out)
	return out.Room
}

// paused creates a room of that room.yaml that waits for the command resume.
func (x *fixture) paused(yaml string) string {
	x.t.Helper()
	return x.create(api.Create{YAML: yaml, Options: api.RunOptions{First: []api.Command{{Do: "pause"}}}})
}

func (x *fixture) command(room string, c api.Command) api.Done {
	x.t.Helper()
	var done api.Done
	x.call("", http.MethodPost, "/api/rooms/"+room+"/commands", c, &done)
	return done
}

// call sends a request with a scope, "" for admin, that must succeed.
func (x *fixture) call(scope, method, path string, in, out any) {
	x.t.Helper()
	status, _, b := x.send(method, path, in, "Test-Scope", scope)
	if status/100 != 2 {
		x.t.Fatalf("%s %s: %d %s", method, path, status, b)
	}
	if err := json.Unmarshal(b, out); err != nil {
		x.t.Fatalf("%s %s: %v in %s", method, path, err, b)
	}
}

// refused sends a request that must be refused, and returns the problem.
func (x *fixture) refused(method, path string, in any, header ...string) api.Problem {
	x.t.Helper()
	status, h, b := x.send(method, path, in, header...)
	var p api.Problem
	if err := json.Unmarshal(b, &p); err != nil || p.Status != status || status/100 < 4 || h.Get("Content-Type") != api.ProblemType {
		x.t.Errorf("%s %s answers %d %s %s", method, path, status, h.Get("Content-Type"), b)
	}
	return p
}

// send sends a request and returns the whole answer. in is JSON as text, or encoded;
// header has names and values.
func (x *fixture) send(method, path string, in any, header ...string) (status int, h http.Header, body []byte) {
	x.t.Helper()
	resp := x.open(method, path, in, header...)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	x.doc.check(x.t, resp, body)
	return resp.StatusCode, resp.Header, body
}

// open sends a request and returns the answer, whose body may go on.
func (x *fixture) open(method, path string, in any, header ...string) *http.Response {
	x.t.Helper()
	var body io.Reader
	if text, ok := in.(string); ok {
		body = strings.NewReader(text)
	} else if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			x.t.Fatal(err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(x.t.Context(), method, x.web.URL+path, body)
	if err != nil {
		x.t.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := x.web.Client().Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	return resp
}
