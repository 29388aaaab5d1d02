package api

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
)

// TestShown checks that a view comes back whole from its JSON form.
func TestShown(t *testing.T) {
	v := room.View{
		Room: "r_1", Name: "review", Objective: "test", Phase: room.PhaseStopped, Ending: room.Ending{Cause: "limit", Name: "maxTurns", Reason: "40 turns"},
		Seq: 7, Clock: time.Second, Turn: 3, Limits: room.Limits{MaxTurns: 40, TurnTimeout: time.Minute}, Raised: room.Limits{MaxTurns: 80}, Policy: "mention",
		Seats: []room.SeatView{{ID: "ann", Kind: "human", Badge: "human", Phase: "idle"}},
		Draft: &room.Draft{Hash: "h", Message: room.Message{From: "bot", Text: "text"}, Latency: time.Second},
		Requests: []room.PermissionRequest{{
			ID: "3.1", Permission: room.Permission{Kind: "execute", Command: "go test"}, Timeout: time.Minute,
		}},
	}
	ref := room.PolicyRef{Name: "mention", Version: "1.0.0"}
	b, err := json.Marshal(ShownOf(v, ref))
	if err != nil {
		t.Fatal(err)
	}
	var got Shown
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Decode(), v) || got.InForce.Name != ref.Name {
		t.Errorf("%s\ncame back as %+v\nwant %+v", b, got.Decode(), v)
	}
}
