package app

import (
	"errors"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/problem"
)

// TestMatchRoom checks which room an argument means.
func TestMatchRoom(t *testing.T) {
	rooms := []api.RoomBrief{
		{Room: "r_1a", Name: "review", Phase: "stopped", Process: 7},
		{Room: "r_1b", Name: "review", Phase: "paused", Process: 7},
		{Room: "r_2", Name: "talk", Phase: "completed"},
		{Room: "r_3", Name: "plan", Phase: "paused"},
		{Room: "r_33", Name: "plan", Phase: "paused"},
		{Room: "plan", Phase: "paused"},
		{Room: "r_4", Name: "twice", Phase: "live", Process: 7},
		{Room: "r_5", Name: "twice", Phase: "paused", Process: 7},
	}
	for arg, want := range map[string]string{
		"r_1a": "r_1a", "review": "r_1b", "talk": "r_2", "r_2": "r_2", "r_3": "r_3", "r_33": "r_33", "plan": "plan", "r_4": "r_4",
		"r_1": "ROOM-AMBIGUOUS", "twice": "ROOM-AMBIGUOUS", "r_": "ROOM-AMBIGUOUS", "none": "ROOM-UNKNOWN", "": "ROOM-UNKNOWN",
	} {
		got, err := matchRoom(rooms, arg)
		if p, ok := errors.AsType[*problem.Error](err); ok {
			got = p.Code
		}
		if got != want {
			t.Errorf("%q is %s, want %s", arg, got, want)
		}
	}
}
