package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

const oneAgent = `version: room/v1
name: test
objective: test
policy: {use: roundrobin}
participants:
  - id: ann
    kind: human
  - id: bot
    mode: manual
    endpoint: {kind: scripted, lines: [hello]}
`

// hosted opens a host with one room, which has one agent, and serves it as identify
// says.
func hosted(t *testing.T, identify server.Identify) (*moot.Room, *client.Client) {
	t.Helper()
	return hostedRoom(t, oneAgent, identify)
}

// hostedRoom serves a host with one room.
func hostedRoom(t *testing.T, yaml string, identify server.Identify) (*moot.Room, *client.Client) {
	t.Helper()
	dir := t.TempDir()
	h, err := moot.Open(moot.Config{Data: dir, Cache: compiled()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Create(t.Context(), moot.Source{YAML: yaml}, moot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server.New(server.Config{Host: h}).Handler(identify))
	t.Cleanup(func() {
		web.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, client.New(client.Config{URL: web.URL})
}

// TestCommand checks that the local user pauses a room, and what is refused.
func TestCommand(t *testing.T) {
	r, c := hosted(t, server.LocalUser)
	path := "/api/rooms/" + r.ID() + "/commands"
	var done api.Done
	if err := c.Call(t.Context(), http.MethodPost, path, api.Command{Do: "pause", As: "ann"}, &done); err != nil {
		t.Fatal(err)
	}
	if v := r.View(); v.Phase != room.PhasePaused || v.Ending.Reason != "paused by ann" {
		t.Errorf("the room is %s: %+v", v.Phase, v.Ending)
	}
	for code, body := range map[string]any{
		"API-REQUEST": map[string]any{"do": "pause", "no such field": 1},
		"ROOM-DRAFT":  api.Command{Do: "approve", Draft: "x"},
		"ROOM-DENIED": api.Command{Do: "pause", As: "bot"},
	} {
		if got := codeOf(c.Call(t.Context(), http.MethodPost, path, body, nil)); got != code {
			t.Errorf("%v: %s, want %s", body, got, code)
		}
	}
	if got := codeOf(c.Call(t.Context(), http.MethodPost, "/api/rooms/r_none/commands", api.Command{Do: "pause"}, nil)); got != "ROOM-UNKNOWN" {
		t.Errorf("a room that is not there: %s", got)
	}
}

// TestNobody checks that a caller without a credential may call no route but the
// open one.
func TestNobody(t *testing.T) {
	_, c := hosted(t, func(*http.Request) (server.Caller, error) { return server.Caller{}, nil })
	if err := c.Call(context.Background(), http.MethodGet, "/healthz", nil, nil); err != nil {
		t.Error(err)
	}
	if got := codeOf(c.Call(t.Context(), http.MethodPost, "/api/rooms/x/commands", api.Command{Do: "pause"}, nil)); got != "API-UNAUTHORIZED" {
		t.Errorf("without a credential: %s", got)
	}
}

func codeOf(err error) string {
	var p *problem.Error
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}
