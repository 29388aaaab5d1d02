package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// text scrapes m.
func text(t *testing.T, m *Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// commit is a turn of a participant that failed.
func commit(id, participant, code string, at time.Time) coordinator.Commit {
	return coordinator.Commit{Room: id, Turn: room.Turn{Participant: participant}, Events: []room.Event{{At: at, Body: room.TurnFailed{Turn: 1, Code: code}}}}
}

// TestSeriesAreBounded counts turns of many rooms, participants and codes.
func TestSeriesAreBounded(t *testing.T) {
	m, at := New(), time.Now()
	for i := range 10_000 {
		m.Committed(commit(fmt.Sprintf("r_%d", i), "a", "failed", at))
	}
	for i := range 1000 {
		m.Committed(commit("r_0", fmt.Sprintf("p%d", i), fmt.Sprintf("code%d", i), at))
		m.Committed(commit("r_0", "a", fmt.Sprintf("code%d", i), at))
	}
	got := text(t, m)
	if n := strings.Count(got, "\nmoot_room_violations_total{"); n > maxRooms+maxParticipants+1 {
		t.Errorf("%d series by room and participant", n)
	}
	if n := strings.Count(got, `moot_room_failures_total{`); n > maxRooms+(maxParticipants+2)*(maxCodes+1) {
		t.Errorf("%d series of failures by room", n)
	}
	if n := strings.Count(got, `moot_failures_total{`); n > maxValues+1 {
		t.Errorf("%d series of failures", n)
	}
	for _, want := range []string{`moot_turns_total{outcome="failed"} 12000`, `code="other"`, `participant="other"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestQuietRoomGivesItsPlace counts turns of a room that comes when all places are taken,
// by rooms that are active and by one that was quiet.
func TestQuietRoomGivesItsPlace(t *testing.T) {
	m, at := New(), time.Now()
	m.Committed(commit("r_quiet", "a", "failed", at))
	for i := range maxRooms - 1 {
		m.Committed(commit(fmt.Sprintf("r_%d", i), "a", "failed", at.Add(quiet)))
	}
	has := func(id string) bool { return strings.Contains(text(t, m), fmt.Sprintf("room=%q", id)) }
	m.Committed(commit("r_new", "a", "failed", at.Add(quiet)))
	if has("r_new") || !has("r_quiet") {
		t.Error("a room took the place of one that was active")
	}
	m.Committed(commit("r_new", "a", "failed", at.Add(quiet+time.Second)))
	if !has("r_new") || has("r_quiet") || !has("r_0") {
		t.Error("a room did not get the place of one that was quiet")
	}
}

// TestPersonIsNoLabel stops a room as a person.
func TestPersonIsNoLabel(t *testing.T) {
	m := New()
	m.Committed(coordinator.Commit{Room: "r_1", Events: []room.Event{{At: time.Now(), Body: room.Stopped{Cause: room.CausePerson, Name: "maria", Reason: "maria stops"}}}})
	if got := text(t, m); strings.Contains(got, "maria") || !strings.Contains(got, `moot_endings_total{cause="person",ending="stopped",name=""} 1`) {
		t.Error(got)
	}
}

// TestNegativeUsage counts the usage of a log that states less than nothing.
func TestNegativeUsage(t *testing.T) {
	m := New()
	m.Committed(coordinator.Commit{Room: "r_1", Events: []room.Event{{Body: room.MessagePosted{Turn: 1, Usage: room.Usage{Known: true, Input: -5, CostKnown: true, Cost: -1}}}}})
	if got := text(t, m); !strings.Contains(got, `moot_turns_total{outcome="posted"} 1`) {
		t.Error(got)
	}
}
