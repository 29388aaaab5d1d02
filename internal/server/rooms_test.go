package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
)

// TestRooms creates a room, lists it, shows it, lets it run and runs it again.
func TestRooms(t *testing.T) {
	data := t.TempDir()
	x := newFixture(t, data)
	q := api.Create{ID: "r_1", YAML: talk, Options: api.RunOptions{First: []api.Command{{Do: "pause", Reason: "wait"}}, As: "me"}}
	status, h, _ := x.send(http.MethodPost, "/api/rooms", q)
	if status != http.StatusCreated || h.Get("Location") != "/api/rooms/r_1" {
		t.Errorf("created with %d at %s", status, h.Get("Location"))
	}
	if status, _, b := x.send(http.MethodPost, "/api/rooms", q); status != http.StatusOK || !strings.Contains(string(b), `"r_1"`) {
		t.Errorf("the request again: %d %s", status, b)
	}
	var list []api.RoomBrief
	x.call("read", http.MethodGet, "/api/rooms", nil, &list)
	if len(list) != 1 || list[0].Room != "r_1" || list[0].Phase != "paused" || list[0].Ending != "wait" || list[0].Process != os.Getpid() {
		t.Errorf("the list is %+v", list)
	}
	_, _, b := x.send(http.MethodGet, "/api/rooms", nil, "Test-Room", "r_2", "Test-Scope", "read")
	if string(b) != "[]\n" {
		t.Errorf("a caller of another room lists %s", b)
	}
	x.command("r_1", api.Command{Do: "resume"})
	x.read("", "/api/rooms/r_1/events", "") // to its end
	var shown api.Shown
	x.call("control", http.MethodGet, "/api/rooms/r_1?last=2", nil, &shown)
	v := shown.Decode()
	if v.Phase != room.PhaseStopped || v.Turn != 3 || v.Raised.MaxTurns <= 3 || shown.InForce.Name != "turns" || len(shown.Events) != 2 || len(v.Seats) != 3 {
		t.Errorf("the room is %+v", shown)
	}
	if status, _, b := x.send(http.MethodPost, "/api/rooms", api.Create{Room: "r_1", Options: api.RunOptions{MaxTurns: 4}}); status != http.StatusOK {
		t.Errorf("run again: %d %s", status, b)
	}
	file := filepath.Join(t.TempDir(), "room.yaml")
	if err := os.WriteFile(file, []byte(talk+"x: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := x.refused(http.MethodPost, "/api/rooms", api.Create{File: file})
	if p.Code != "ROOM-INVALID" || len(p.Errors) != 1 || p.Errors[0].Where != file+":9:1" || p.Errors[0].Code != "ROOM-KEY" {
		t.Errorf("a room.yaml with an unknown key: %+v", p)
	}
	warned := api.Create{YAML: talk + "one_to_one: false\n", Options: api.RunOptions{First: []api.Command{{Do: "pause"}}}}
	var made api.Created
	x.call("", http.MethodPost, "/api/rooms", warned, &made)
	if len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], "one_to_one") {
		t.Errorf("warnings %q", made.Warnings)
	}
}

// TestRefused checks which problem answers a request that is wrong, and the place
// that it names.
func TestRefused(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(talk)
	rooms, commands := "/api/rooms", "/api/rooms/"+id+"/commands"
	for _, c := range []struct {
		method, path string
		body         any
		header       []string
		status       int
		code, where  string
	}{
		{"GET", "/api/no", nil, nil, 404, "API-NOT-FOUND", ""},
		{"DELETE", rooms, nil, nil, 405, "API-METHOD", ""},
		{"GET", rooms, nil, []string{"Accept", "text/html"}, 406, "API-ACCEPT", ""},
		{"GET", rooms, nil, []string{"Accept", "application/json;q=0"}, 406, "API-ACCEPT", ""},
		{"GET", rooms + "?x=1", nil, nil, 422, "API-REQUEST", "query.x"},
		{"GET", rooms + "/r_none", nil, nil, 404, "ROOM-UNKNOWN", ""},
		{"GET", rooms + "/" + id + "?last=-1", nil, nil, 422, "API-REQUEST", "query.last"},
		{"GET", rooms + "/" + id + "/events?after=x", nil, nil, 422, "API-REQUEST", "query.after"},
		{"GET", rooms + "/" + id + "/events?after=999", nil, nil, 422, "ROOM-SEQ", ""},
		{"GET", rooms + "/" + id + "/events?follow=maybe", nil, nil, 422, "API-REQUEST", "query.follow"},
		{"GET", rooms + "/" + id + "/events?x=1", nil, nil, 422, "API-REQUEST", "query.x"},
		{"GET", rooms + "/" + id + "/events?level=all", nil, nil, 422, "API-REQUEST", ""},
		{"GET", rooms + "/" + id + "/events?level=internal", nil, []string{"Test-Scope", "talk"}, 403, "API-FORBIDDEN", ""},
		{"GET", rooms + "/" + id + "/events", nil, []string{"Accept", "text/html"}, 406, "API-ACCEPT", ""},
		{"GET", rooms + "/r_none/events", nil, nil, 404, "ROOM-UNKNOWN", ""},
		{"GET", rooms + "/" + id + "/export?form=pdf", nil, nil, 422, "API-REQUEST", "query.form"},
		{"GET", rooms + "/" + id + "/export?level=all", nil, []string{"Test-Scope", "control"}, 403, "API-FORBIDDEN", ""},
		{"GET", rooms + "/" + id + "/export?level=internal", nil, []string{"Test-Scope", "read"}, 403, "API-FORBIDDEN", ""},
		{"GET", rooms + "/r_none/export", nil, nil, 404, "ROOM-UNKNOWN", ""},
		{"POST", rooms, `{}`, nil, 422, "API-REQUEST", ""},
		{"POST", rooms, `{"yaml":"x","room":"r_1"}`, nil, 422, "API-REQUEST", ""},
		{"POST", rooms, `{"id":"../x","yaml":"x"}`, nil, 422, "API-REQUEST", "body.id"},
		{"POST", rooms, `{"file":"room.yaml"}`, nil, 422, "API-REQUEST", ""},
		{"POST", rooms, `{"yaml":"x"}`, []string{"Test-Scope", "control"}, 403, "API-FORBIDDEN", ""},
		{"POST", rooms, `{"room":"r_none"}`, nil, 404, "ROOM-UNKNOWN", ""},
		{"POST", commands, `{"do":"explode"}`, nil, 422, "API-REQUEST", "body.do"},
		{"POST", commands, `{}`, nil, 422, "API-REQUEST", "body"},
		{"POST", commands, `{"do":"pause","x":1}`, nil, 422, "API-REQUEST", "body.x"},
		{"POST", commands, `{"do":"limits","limits":{"max_turns":-1}}`, nil, 422, "API-REQUEST", ""},
		{"POST", commands, `{"do":"limits","limits":{"max_turns":"3"}}`, nil, 422, "API-REQUEST", "body.limits.max_turns"},
		{"POST", commands, `{"do":"approve","draft":"x"}`, nil, 409, "ROOM-DRAFT", ""},
		{"POST", commands, `{"do":"policy","policy":"no-such-policy"}`, nil, 0, "", ""},
		{"POST", commands, `{"do":"policy","policy":"./x"}`, []string{"Test-Scope", "control"}, 403, "API-FORBIDDEN", ""},
		{"POST", commands, `{"do":"pause"}`, []string{"Test-Scope", "talk", "Test-Seat", "me", "Test-Room", id}, 403, "API-FORBIDDEN", ""},
		{"POST", commands, `{"do":"say","text":"x"}`, []string{"Test-Scope", "talk"}, 403, "API-FORBIDDEN", ""},
		{"POST", commands, `{"do":"say","text":"x"}`, []string{"Test-Scope", "talk", "Test-Seat", "a"}, 403, "ROOM-DENIED", ""},
		{"POST", commands, `{"do":"pause","as":"a"}`, nil, 403, "ROOM-DENIED", ""},
	} {
		name := c.method + " " + c.path
		p := x.refused(c.method, c.path, c.body, c.header...)
		if c.code != "" && (p.Status != c.status || p.Code != c.code) {
			t.Errorf("%s %v answers %d %s: %s", name, c.body, p.Status, p.Code, p.Detail)
		}
		if c.where != "" && (len(p.Errors) == 0 || p.Errors[0].Where != c.where) {
			t.Errorf("%s %v: the errors are %+v", name, c.body, p.Errors)
		}
		if p.Detail == "" || p.Title == "" {
			t.Errorf("%s %v: the problem %+v lacks something", name, c.body, p)
		}
	}
}

// TestCommandTwice checks that a command that is sent again is done once and gets the
// same answer, and that callers act as their seat.
func TestCommandTwice(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(talk)
	path := "/api/rooms/" + id + "/commands"
	say := api.Command{ID: "c1", Do: "say", Text: "among us", Visibility: room.Internal, As: "another person"}
	who := []string{"Test-Scope", "talk", "Test-Seat", "me", "Test-Room", id}
	status, _, first := x.send(http.MethodPost, path, say, who...)
	again, _, second := x.send(http.MethodPost, path, say, who...)
	if status != http.StatusOK || again != http.StatusOK || string(first) != string(second) || !strings.Contains(string(first), "among us") {
		t.Errorf("%d %s, then %d %s", status, first, again, second)
	}
	if p := x.refused(http.MethodPost, path, api.Command{ID: "c1", Do: "stop"}); p.Status != http.StatusConflict || p.Code != "ROOM-ID-TAKEN" {
		t.Errorf("the id of another caller's command: %+v", p)
	}
	v, err := x.View(t.Context(), id, room.Internal)
	if err != nil || v.Tally.Messages != 1 || v.Phase != room.PhasePaused {
		t.Errorf("the room has %d messages and is %s: %v", v.Tally.Messages, v.Phase, err)
	}
}
