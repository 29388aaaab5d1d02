package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room"
)

// asking is a room in which an agent in Go asks for a permission in each turn, and
// whose replies are reviewed.
const asking = `version: room/v1
objective: test
policy: {use: roundrobin}
participants:
  - id: ann
    kind: human
  - id: bot
    mode: manual
    endpoint: {kind: go, name: bot}
`

// careful asks for a permission in each turn and says what it may.
type careful struct{}

func (careful) Close() error { return nil }

func (careful) Speak(ctx context.Context, _ moot.Prompt, f moot.Floor) (moot.Reply, error) {
	a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalPermission, Permission: &endpoint.Permission{
		Kind: endpoint.ActionExecute, Command: "make test", Paths: []string{"Makefile"}, Always: true,
	}})
	return moot.Reply{Outcome: moot.Said, Text: fmt.Sprintf("allowed: %t", a.Allowed)}, err
}

// served is a room with an careful, and its server.
type served struct {
	room *moot.Room
	web  *httptest.Server
}

// serveCareful serves a room with an careful to callers whom the header Test-Caller names.
func serveCareful(t *testing.T) served { return serveAgent(t, careful{}) }

// serveAgent is serveCareful with another agent.
func serveAgent(t *testing.T, agent moot.Endpoint) served {
	t.Helper()
	dir := t.TempDir()
	h, err := moot.Open(moot.Config{Data: dir, Cache: compiled(), Endpoints: map[string]func(context.Context, moot.Participant) (moot.Endpoint, error){
		"bot": func(context.Context, moot.Participant) (moot.Endpoint, error) { return agent, nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Create(t.Context(), moot.Source{YAML: asking}, moot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	callers := map[string]server.Caller{
		"": {Name: "user", Scope: server.Admin, Via: "socket"}, "page": {Name: "page", Scope: server.Control, Via: "page"},
		"spectator": {Name: "spectator", Scope: server.Read}, "agent": {Name: "agent", Scope: server.Talk, Room: r.ID(), Seat: "bot"},
		"seat": {Name: "seat with control", Scope: server.Control, Room: r.ID(), Seat: "bot"},
		"else": {Name: "another room's", Scope: server.Control, Room: "r_other"}, "nobody": {},
	}
	web := httptest.NewServer(server.New(server.Config{Host: h}).Handler(func(r *http.Request) (server.Caller, error) {
		return callers[r.Header.Get("Test-Caller")], nil
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return served{r, web}
}

// as sends requests as one of the callers.
type as string

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Test-Caller", string(a))
	return http.DefaultTransport.RoundTrip(r)
}

func (s served) as(caller string) *client.Client {
	return client.New(client.Config{URL: s.web.URL, Transport: as(caller)})
}

// lines follows the changes of the inbox.
func (s served) lines(t *testing.T, caller, accept string) func() string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.web.URL+"/api/inbox/changes", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := as(caller).RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	in := bufio.NewScanner(resp.Body)
	return func() string {
		for in.Scan() {
			if text := in.Text(); strings.Contains(text, "{") {
				return text
			}
		}
		t.Fatal("the stream has ended", in.Err())
		return ""
	}
}

// TestInboxWebSocket: the changes come over a WebSocket too, to callers with control only.
func TestInboxWebSocket(t *testing.T) {
	s := serveCareful(t)
	dial := func(caller string) (*websocket.Conn, *http.Response, error) {
		return websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.web.URL, "http")+"/api/inbox/changes", http.Header{"Test-Caller": {caller}})
	}
	ws, _, err := dial("page")
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var c inbox.Change
	if err := ws.ReadJSON(&c); err != nil || c.Item == nil || c.Item.Permission.Command != "make test" {
		t.Fatal(c, err)
	}
	if err := s.as("page").Call(t.Context(), http.MethodPost, "/api/inbox/"+c.Item.ID+"/answer", inbox.Answer{Answer: "deny"}, nil); err != nil {
		t.Fatal(err)
	}
	for c.Ended == nil {
		if err := ws.ReadJSON(&c); err != nil {
			t.Fatal(err)
		}
	}
	if c.Ended.Answer == nil || c.Ended.Answer.What != "denied" || c.Ended.Answer.Via != "page" {
		t.Errorf("it ended with %+v", c.Ended)
	}
	if _, resp, err := dial("spectator"); err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a spectator: %v, %v", resp, err)
	}
}

// TestInbox: a request is shown with all that it is about, is answered once from
// anywhere, and the answer says from where it came. Then the draft waits.
func TestInbox(t *testing.T) {
	s := serveCareful(t)
	next := s.lines(t, "", "application/x-ndjson")
	events := s.lines(t, "page", "text/event-stream")
	var c inbox.Change
	if err := json.Unmarshal([]byte(next()), &c); err != nil || c.Item == nil {
		t.Fatal(err)
	}
	x := c.Item
	if x.ID != s.room.ID()+"/1.1" || x.Kind != inbox.Permission || x.Agent != "bot" || x.Permission.Command != "make test" || x.Permission.Paths[0] != "Makefile" || !x.Until.After(x.Since) {
		t.Errorf("there waits %+v", x)
	}
	if text := events(); !strings.HasPrefix(text, `data: {"item":{"id":"`+x.ID+`"`) {
		t.Errorf("the event stream has %s", text)
	}
	path := "/api/inbox/" + x.ID + "/answer"
	var errs [2]error
	var group sync.WaitGroup
	for i, a := range []struct{ caller, answer string }{{"", "allow"}, {"page", "deny"}} {
		group.Go(func() {
			errs[i] = s.as(a.caller).Call(t.Context(), http.MethodPost, path, inbox.Answer{Answer: a.answer}, nil)
		})
	}
	group.Wait()
	winner := 0
	if errs[0] != nil {
		winner = 1
	}
	if errs[winner] != nil || codeOf(errs[1-winner]) != "ROOM-ANSWERED" || !strings.Contains(errs[1-winner].Error(), "("+[]string{"socket", "page"}[winner]+")") {
		t.Errorf("two answers at once: %v", errs)
	}
	if text := next(); !strings.Contains(text, `"ended":{"id":"`+x.ID+`","answer":{"of":"1.1"`) {
		t.Errorf("it has ended with %s", text)
	}
	var list struct{ Items []inbox.Item }
	for len(list.Items) == 0 {
		if err := s.as("page").Call(t.Context(), http.MethodGet, "/api/inbox", nil, &list); err != nil {
			t.Fatal(err)
		}
	}
	d := list.Items[0]
	if d.Kind != inbox.Draft || !strings.HasPrefix(d.Text, "allowed: ") || d.Why != "manual" {
		t.Errorf("there waits %+v", d)
	}
	if err := s.as("page").Call(t.Context(), http.MethodPost, "/api/inbox/"+d.ID+"/answer", inbox.Answer{Answer: "edit", Text: "better", As: "ann"}, nil); err != nil {
		t.Error(err)
	}
	err := s.as("").Call(t.Context(), http.MethodPost, "/api/inbox/"+d.ID+"/answer", inbox.Answer{Answer: "approve"}, nil)
	if codeOf(err) != "ROOM-ANSWERED" || !strings.Contains(err.Error(), "edited by ann (page)") {
		t.Errorf("the second answer to a draft: %v", err)
	}
}

// TestOnlyTheOwner: only callers with control of the room see and answer what waits:
// no spectator, no agent, no caller of another room.
func TestOnlyTheOwner(t *testing.T) {
	s := serveCareful(t)
	item := s.room.ID() + "/1.1"
	if text := s.lines(t, "", "")(); !strings.Contains(text, item) {
		t.Fatal(text)
	}
	for caller, code := range map[string]string{
		"nobody": "API-UNAUTHORIZED", "spectator": "API-FORBIDDEN", "agent": "API-FORBIDDEN", "else": "API-FORBIDDEN", "seat": "ROOM-DENIED",
	} {
		c := s.as(caller)
		if got := codeOf(c.Call(t.Context(), http.MethodPost, "/api/inbox/"+item+"/answer", inbox.Answer{Answer: "allow"}, nil)); got != code {
			t.Errorf("%s is answered %q, want %s", caller, got, code)
		}
		var list struct{ Items []inbox.Item }
		err := c.Call(t.Context(), http.MethodGet, "/api/inbox", nil, &list)
		if mayList := caller == "else" || caller == "seat"; mayList != (err == nil) || caller != "seat" && len(list.Items) > 0 {
			t.Errorf("%s sees %+v, %v", caller, list, err)
		}
	}
	for _, act := range []moot.Command{
		{Actor: "bot", Do: room.Permit{ID: "1.1", Allowed: true}},
		{Actor: room.ActorPolicy, Do: room.Permit{ID: "1.1", Allowed: true}},
		{Actor: "ann", Do: room.Say{Text: "allow 1.1"}},
		{Actor: "ann", Do: room.Say{Text: "/allow 1.1", To: "bot"}},
	} {
		_, _ = s.room.Do(t.Context(), act) // refused, or a message
	}
	if v := s.room.View(); len(v.Requests) != 1 {
		t.Errorf("the request was answered: %+v", v.Requests)
	}
	for body, code := range map[*inbox.Answer]string{{Answer: "edit", Text: "x"}: "INBOX-ANSWER", {Answer: "maybe"}: "API-REQUEST"} {
		if got := codeOf(s.as("").Call(t.Context(), http.MethodPost, "/api/inbox/"+item+"/answer", body, nil)); got != code {
			t.Errorf("%s is answered %q, want %s", body.Answer, got, code)
		}
	}
	if got := codeOf(s.as("").Call(t.Context(), http.MethodPost, "/api/inbox/"+s.room.ID()+"/1.9/answer", inbox.Answer{Answer: "allow"}, nil)); got != "ROOM-PERMISSION" {
		t.Errorf("a request that was never made: %q", got)
	}
}
