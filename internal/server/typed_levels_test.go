package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room"
)

// TestLevelsOfTypedMessages reads a room of a manager and its workers as a reader without
// control, in each form that the API has. None has a word of an internal message, of the
// plan, of a refused message or of a payload that is stored apart.
func TestLevelsOfTypedMessages(t *testing.T) {
	data := t.TempDir()
	h, err := moot.Open(moot.Config{Data: data, Cache: compiled()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Create(t.Context(), moot.Source{YAML: lead}, moot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	posted := []struct {
		from  string
		m     room.Message
		works bool
	}{
		{"lead", room.Message{ID: "m1", To: "dba", Kind: "intent_brief", Text: "canaryone", Summary: "canarytwo", RequiresAck: true, Payload: []byte(`{"intent":{"objective":"canarythree","acceptance_criteria":["canaryfour"]},"tasks":[{"id":"t1","title":"canaryfive","owner":"dba"}]}`)}, true},
		{"dba", room.Message{ID: "m2", To: "lead", Kind: "plan_update", Text: "canarysix", Payload: []byte(`{"tasks":[{"id":"t2","title":"canaryseven"}]}`)}, true},
		{"dba", room.Message{ID: "m3", To: "lead", Kind: "gossip", Text: "canaryeight"}, false},
		{"dba", room.Message{ID: "m4", To: "lead", Kind: "status_reply", Text: "canarynine", Payload: []byte(`{"long":"` + strings.Repeat("canaryten", 2000) + `"}`)}, true},
		{"dba", room.Message{ID: "m5", To: "lead", Kind: "result_bundle", Payload: []byte(`{"task":"t1","results":[{"criterion":"canaryfour","met":true,"evidence":"canaryeleven"}]}`)}, true},
		{"dba", room.Message{ID: "m6", To: "lead", Kind: "blocker", Text: "This line is for all readers."}, true},
	}
	for _, p := range posted {
		if _, err := h.Post(t.Context(), r.ID(), p.from, "http", p.m); (err == nil) != p.works {
			t.Fatalf("%s: %v", p.m.ID, err)
		}
	}
	if err := h.Close(); err != nil { // the log ends here, and streams end with it
		t.Fatal(err)
	}
	if h, err = moot.Open(moot.Config{Data: data, Cache: compiled()}); err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	scope := access.Read
	web := httptest.NewServer(server.New(server.Config{Host: h}).Handler(func(*http.Request) (server.Caller, error) {
		return server.Caller{Name: "reader", Scope: scope, Via: "http"}, nil
	}))
	defer web.Close()
	get := func(path string) string {
		t.Helper()
		resp, err := web.Client().Get(web.URL + "/api/rooms/" + r.ID() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	paths := []string{
		"", "/history", "/history?internal=true", "/history/6", "/messages", "/deliveries", "/dead-letters", "/calls", "/turns/1",
		"/events?follow=false", "/events?follow=false&form=page", "/events?follow=false&form=messages", "/events?follow=false&level=internal",
	}
	for _, form := range []string{"jsonl", "md", "html", "csv", "openai", "otel", "neutral"} {
		paths = append(paths, "/export?form="+form, "/export?form="+form+"&level=user_redacted", "/export?form="+form+"&level=internal")
	}
	for word := range strings.FieldsSeq("canaryone canarythree canaryfive canaryeight canaryten") {
		paths = append(paths, "/history?search="+url.QueryEscape(word))
	}
	for _, path := range paths {
		got := get(path)
		if i := strings.Index(got, "canary"); i >= 0 && !strings.Contains(path, "search=") || strings.Contains(path, "search=") && strings.Contains(got, `"seq"`) {
			t.Errorf("a reader gets at %s\n%.600s", path, got[max(0, i-300):])
		}
	}
	for _, path := range []string{"/history", "/messages", "/events?follow=false", "/export?form=md", "/export?form=jsonl"} {
		if got := get(path); !strings.Contains(got, "This line is for all readers.") {
			t.Errorf("a reader does not get what everybody may read at %s\n%s", path, got)
		}
	}
	scope = access.Control
	for _, path := range []string{"/history?internal=true", "/events?follow=false", "/export?form=md&level=internal"} {
		if got := get(path); !strings.Contains(got, "canaryone") || !strings.Contains(got, "canarysix") {
			t.Errorf("a person with control does not get internal messages at %s\n%s", path, got)
		}
	}
}
