package server_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room"
)

const asked = `version: room/v1
name: asked
objective: Answer questions.
policy: {use: mention}
limits: {maxDeclines: 1}
participants:
  - {id: guest, kind: human}
  - {id: bot, mode: full_auto, endpoint: {kind: scripted, lines: ["The index is safe."]}}
  - {id: own, mode: full_auto, endpoint: {kind: scripted, lines: ["unused"]}}
`

const asks = `version: room/v1
name: asks
objective: Ask another room.
opening: "@other, @bot: is the index safe?"
policy: {use: mention}
limits: {maxDeclines: 1}
participants:
  - {id: ann, kind: human}
  - {id: other, mode: full_auto, endpoint: {kind: a2a, url: "${OTHER}", token: "${OTHER_TOKEN}"}}
`

// TestRoomAsksRoom seats a room in another room, as an agent of the Agent2Agent
// protocol: the other room answers, and the seat has its answer.
func TestRoomAsksRoom(t *testing.T) {
	h, err := moot.Open(moot.Config{Data: t.TempDir(), Cache: compiled()})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := access.OpenKeys(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Host: h, Keys: keys})
	web := httptest.NewServer(s.SocketHandler())
	t.Cleanup(func() {
		web.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	answers, err := h.Create(t.Context(), moot.Source{YAML: asked}, moot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := keys.Mint(access.Grant{Name: "other room", Scope: access.Talk, Room: answers.ID(), Seat: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTHER", web.URL+"/api/rooms/"+answers.ID()+"/a2a")
	t.Setenv("OTHER_TOKEN", token)
	r, err := h.Create(t.Context(), moot.Source{YAML: asks}, moot.Options{Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for u, err := range h.Watch(t.Context(), r.ID(), 0, room.UserVisible) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		switch b := u.Event.Body.(type) {
		case room.MessagePosted:
			if b.Message.From == "other" {
				got = b.Message.Text
			}
		case room.TurnFailed:
			t.Errorf("the turn has failed: %+v", b)
		}
	}
	if got != "The index is safe." {
		t.Errorf("the other room says %q", got)
	}
	for e := range h.Watch(t.Context(), answers.ID(), 0, room.Internal) {
		if e.Event == nil {
			continue
		}
		if m, ok := e.Event.Body.(room.MessagePosted); ok && m.Message.From == "guest" && e.Event.Via != "a2a" {
			t.Errorf("the guest's message came via %q", e.Event.Via)
		}
	}
	if resp, err := http.Get(web.URL + "/api/rooms/" + r.ID() + "/a2a/.well-known/agent-card.json"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the card: %v, error %v", resp, err)
	}
}
