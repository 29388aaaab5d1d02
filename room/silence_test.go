package room_test

import (
	"slices"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// TestPassIsSilence: the event of a passed turn names who passed. A log of an earlier
// version gives the input that it gave.
func TestPassIsSilence(t *testing.T) {
	for _, now := range []bool{true, false} {
		var s room.State
		for i, b := range []room.Body{
			room.Opened{Spec: room.Spec{Room: "r"}},
			room.Joined{Participant: room.Participant{ID: "ann", Kind: policy.Local}},
			room.TurnGranted{Turn: 1, Participant: "ann"},
			room.TurnPassed{Turn: 1, Silent: now},
			room.TurnPassed{Turn: 1, Silent: now}, // of no open turn
		} {
			s.Apply(room.Event{Seq: int64(i + 1), Body: b})
		}
		in, err := s.Input(room.PolicyCursor{}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if now {
			want = []string{"ann"}
		}
		e := in.Events[len(in.Events)-1]
		if e.Kind != policy.KindSystem || e.From != "ann" || e.Text != "passed" || !slices.Equal(e.Silent, want) || e.Silence() != now {
			t.Errorf("the policy gets %+v", e)
		}
	}
}

// TestImportedSilence: a silence of an imported room is no decision of a policy, and
// policies see who could have spoken.
func TestImportedSilence(t *testing.T) {
	var s room.State
	s.Apply(room.Event{Seq: 1, Body: room.Opened{Spec: room.Spec{Room: "r"}}})
	e := room.Event{Seq: 2, Body: room.RoundDeclined{Reason: "ann could speak and did not", Silent: []string{"ann"}}}
	if room.RecordOf(e) != nil {
		t.Error("it has a record")
	}
	if s.Apply(e); s.Policy.Asked {
		t.Error("the policy counts as asked")
	}
	in, err := s.Input(s.Policy, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := in.Events[len(in.Events)-1]
	if !in.Init || last.Kind != policy.KindDecline || !slices.Equal(last.Silent, []string{"ann"}) || !last.Silence() {
		t.Errorf("the policy gets %+v", last)
	}
}
