package api

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/room"
)

// TestCommands checks that every act of a person comes back from its JSON form.
func TestCommands(t *testing.T) {
	for _, do := range []room.Act{
		room.Say{Text: "a", To: "b", As: "c", MessageID: "d", Visibility: room.UserVisible},
		room.Pause{Reason: "a"},
		room.Resume{},
		room.Stop{Reason: "a"},
		room.Complete{Reason: "a"},
		room.TakeOver{Participant: "a"},
		room.Release{Participant: "a"},
		room.Approve{Draft: "a"},
		room.Edit{Draft: "a", Text: "b", Approve: true},
		room.Reject{Draft: "a", Reason: "b"},
		room.Permit{ID: "a", Allowed: true, Always: true, Reason: "b"},
		room.SetMode{Participant: "a", Mode: room.FullAuto},
		room.Next{Participant: "a"},
		room.SetStanding{Participant: "a", Standing: room.Muted, Reason: "b"},
		room.Redact{Target: 4, Reason: "a"},
		room.SetLimits{Limits: room.Limits{MaxTurns: 3}},
		room.CancelCall{Call: "c1", Reason: "a"},
	} {
		c, err := CommandOf(do)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var got Command
		if err := strict.Decode(b, 16, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if act, err := got.Act(); err != nil || !reflect.DeepEqual(act, do) {
			t.Errorf("%#v came back from %s as %#v, error %v", do, b, act, err)
		}
	}
	if _, err := CommandOf(room.Tick{}); err == nil {
		t.Error("an act of the coordinator is sent as one of a person")
	}
	for _, c := range []Command{{Do: "tick"}, {}, {Do: "limits"}} {
		if act, err := c.Act(); err == nil {
			t.Errorf("%+v is the act %#v", c, act)
		}
	}
}
