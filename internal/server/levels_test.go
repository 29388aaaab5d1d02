package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
)

// secrets is a room in which everything that readers of visible messages must not
// see says so.
const secrets = `version: room/v1
objective: test
participants:
  - {id: me, kind: human}
  - {id: b, mode: manual, instructions: INSTRUCTION-SECRET, allow: [{kind: execute, argv: [RULE-SECRET]}], endpoint: {kind: go, name: agent}}
  - {id: a, mode: full_auto, endpoint: {kind: go, name: agent}}
policy: {use: turns}
limits: {maxTurns: 2}
`

// planted are the texts that only people with control see.
var planted = []string{"INTERNAL-SECRET", "REDACTED-SECRET", "LIVE-SECRET", "PERMISSION-SECRET", "DRAFT-SECRET", "INSTRUCTION-SECRET", "RULE-SECRET", "TOOL-SECRET"}

// playSecrets runs the room to its end: a draft is edited, a permission allowed.
func (x *fixture) playSecrets(id string) {
	x.t.Helper()
	x.command(id, api.Command{Do: "say", As: "me", Text: "INTERNAL-SECRET", Visibility: room.Internal, To: "b"})
	x.command(id, api.Command{Do: "say", As: "me", Text: "REDACTED-SECRET", Visibility: room.UserRedacted, To: "b"})
	x.command(id, api.Command{Do: "say", As: "me", Text: "for all"})
	x.command(id, api.Command{Do: "resume"})
	for u, err := range x.Watch(x.t.Context(), id, 0, room.Internal) {
		if err != nil {
			x.t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		switch b := u.Event.Body.(type) {
		case room.PermissionAsked:
			x.command(id, api.Command{Do: "permit", Request: b.ID, Allowed: true})
		case room.TurnDrafted:
			x.command(id, api.Command{Do: "edit", Draft: b.Draft, Text: "approved text", Approve: true})
		}
	}
}

// TestLevels plants texts that only people with control may see, and looks for them
// in everything that a caller with the scope read or talk gets: while the room runs
// and afterwards, in every form of the stream and of the transcript.
func TestLevels(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(secrets)
	base := "/api/rooms/" + id
	type result struct {
		name  string
		lines []string
	}
	results := make(chan result)
	live := 0
	for _, form := range forms {
		for _, scope := range []string{"read", "talk", "control"} {
			path := base + "/events"
			if scope == "control" {
				path += "?level=user_visible"
			}
			r := x.subscribe(form, scope, path)
			first, err := r.next()
			if err != nil {
				t.Fatal(err)
			}
			live++
			go func() {
				defer r.close()
				lines := []string{first}
				for {
					line, err := r.next()
					if err != nil {
						results <- result{form + " for " + scope, lines}
						return
					}
					lines = append(lines, line)
				}
			}()
		}
	}
	x.playSecrets(id)
	check := func(name string, lines []string, some string) {
		t.Helper()
		for _, line := range lines {
			for _, secret := range planted {
				if strings.Contains(line, secret) {
					t.Errorf("%s has %s: %s", name, secret, line)
				}
			}
		}
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, some) }) {
			t.Errorf("%s lacks %q", name, some)
		}
	}
	for range live {
		r := <-results
		check(r.name, r.lines, "approved text")
	}
	for _, scope := range []string{"read", "talk"} {
		for _, form := range forms {
			check(form+" afterwards", x.read(form, base+"/events", scope), "approved text")
			check(form+" of what is stored", x.read(form, base+"/events?follow=false", scope), "approved text")
		}
		for _, path := range []string{"?last=1000", "/messages", "/export", "/export?form=md", "/export?form=html", "/export?form=csv", "/export?form=openai", "/export?form=otel", "/export?form=neutral"} {
			_, _, b := x.send(http.MethodGet, base+path, nil, "Test-Scope", scope)
			some := "approved text"
			switch path {
			case "/export?form=otel":
				some = "resourceSpans" // it has no texts
			case "/export?form=neutral":
				some = `"turns"` // nor has this
			}
			check(path, []string{string(b)}, some)
		}
		_, _, b := x.send(http.MethodGet, "/api/rooms", nil, "Test-Scope", scope)
		check("the list", []string{string(b)}, id)
	}
	all := strings.Join(x.read("", base+"/events", "control"), "\n")
	_, _, exported := x.send(http.MethodGet, base+"/export?level=all", nil)
	for _, secret := range planted {
		if secret != "LIVE-SECRET" && (!strings.Contains(all, secret) || !strings.Contains(string(exported), secret)) {
			t.Errorf("people with control do not see %s", secret)
		}
	}
	if strings.Contains(all, `"secret":"`) && !strings.Contains(all, `"secret":""`) {
		t.Error("the secret of the room leaves it")
	}
}

// TestLevelsWaiting looks for the planted texts in what a room shows while a
// permission request and then a draft wait.
func TestLevelsWaiting(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(secrets)
	x.command(id, api.Command{Do: "resume"})
	look := func() {
		t.Helper()
		_, _, b := x.send(http.MethodGet, "/api/rooms/"+id+"?last=1000", nil, "Test-Scope", "talk")
		for _, secret := range planted {
			if strings.Contains(string(b), secret) {
				t.Errorf("the room shows %s: %s", secret, b)
			}
		}
	}
	for u, err := range x.Watch(t.Context(), id, 0, room.Internal) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		switch b := u.Event.Body.(type) {
		case room.PermissionAsked:
			look()
			x.command(id, api.Command{Do: "permit", Request: b.ID})
		case room.TurnDrafted:
			look()
			x.command(id, api.Command{Do: "reject", Draft: b.Draft})
		}
	}
}
