package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/sight"
	"github.com/folkmoot/moot/room"
)

// ended creates a room, watches it until it has ended, and returns its id.
func (x *fixture) ended() string {
	x.t.Helper()
	id := x.create(api.Create{YAML: talk, Options: api.RunOptions{Headless: true}})
	for _, err := range x.Watch(x.t.Context(), id, 0, room.Internal) {
		if err != nil {
			x.t.Fatal(err)
		}
	}
	return id
}

// TestSight checks that a turn shows the prompt whose digest was recorded, and who was
// blocked, to callers with control only.
func TestSight(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.ended()
	var s sight.Sight
	x.call("control", http.MethodGet, "/api/rooms/"+id+"/turns/2", nil, &s)
	if s.Turn != 2 || s.Rebuilt == "" || s.Rebuilt != s.Recorded || !strings.Contains(s.Prompt, s.Participant) || len(s.Candidates) == 0 {
		t.Errorf("%+v", s)
	}
	if p := x.refused(http.MethodGet, "/api/rooms/"+id+"/turns/2", nil, "Test-Scope", "talk"); p.Code != "API-FORBIDDEN" {
		t.Errorf("%+v", p)
	}
	if p := x.refused(http.MethodGet, "/api/rooms/"+id+"/turns/99", nil); p.Status != http.StatusNotFound {
		t.Errorf("%+v", p)
	}
}

// TestForkRuns makes a room of the first turns of another, which goes on, and checks
// what is refused.
func TestForkRuns(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.ended()
	var made api.Created
	x.call("", http.MethodPost, "/api/rooms/"+id+"/forks", api.Fork{At: "t1", Run: true}, &made)
	for u, err := range x.Watch(t.Context(), made.Room, 0, room.Internal) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event == nil || u.Event.Seq > 1 {
			continue
		}
		if b, ok := u.Event.Body.(room.Opened); !ok || b.Spec.ForkedFrom == nil || b.Spec.ForkedFrom.Room != id {
			t.Errorf("%+v", u.Event)
		}
	}
	v, err := x.View(t.Context(), made.Room, room.Internal)
	if err != nil || v.Turn < 2 {
		t.Errorf("%d turns, %v", v.Turn, err)
	}
	for body, code := range map[string]string{
		`{"at":"t99"}`: "TRANSCRIPT-EVENT", `{"at":"x"}`: "TRANSCRIPT-EVENT", fmt.Sprintf(`{"at":"t1","id":%q}`, made.Room): "ROOM-EXISTS",
	} {
		if p := x.refused(http.MethodPost, "/api/rooms/"+id+"/forks", body); p.Code != code {
			t.Errorf("%s: %+v", body, p)
		}
	}
	if p := x.refused(http.MethodPost, "/api/rooms/"+id+"/forks", api.Fork{At: "t1"}, "Test-Scope", "control"); p.Code != "API-FORBIDDEN" {
		t.Errorf("%+v", p)
	}
}
