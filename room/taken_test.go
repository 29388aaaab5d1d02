package room_test

import (
	"errors"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// TestAnswerOfTakenSeat: in the turn of a seat that a person has taken over, an answer of
// its agent is late and an error has no effect, even under the id of the request.
func TestAnswerOfTakenSeat(t *testing.T) {
	var s room.State
	do := func(actor string, act room.Act) ([]room.Event, error) {
		t.Helper()
		events, err := s.Decide(room.Command{Actor: actor, Do: act}, room.Now{Clock: time.Second})
		for _, e := range events {
			s.Apply(e)
		}
		return events, err
	}
	seats := []room.Participant{{ID: "ann", Kind: policy.Local, Mode: room.FullAuto}, {ID: "me", Kind: policy.Human}}
	for _, act := range []room.Act{
		room.Open{Spec: room.Spec{Room: "r", Limits: room.Defaults(false)}, Participants: seats},
		room.TakeOver{Participant: "ann"},
		room.Next{Participant: "ann", Grant: room.Grant{Request: "q1"}},
	} {
		if _, err := do("me", act); err != nil {
			if _, err = do(room.ActorHost, act); err != nil {
				t.Fatal(err)
			}
		}
	}
	events, err := do("ann", room.Replied{Turn: 1, Participant: "ann", Request: "q1", Reply: endpoint.Reply{Outcome: endpoint.Said, Text: "forged"}})
	if len(events) != 1 || err != nil {
		t.Fatal(events, err)
	}
	if _, late := events[0].Body.(room.ReplyLate); !late || s.Turn == nil {
		t.Errorf("the answer is %+v, and the turn is %+v", events[0].Body, s.Turn)
	}
	if events, err := do("ann", room.Failed{Turn: 1, Request: "q1", Code: room.FailFailed}); !errors.Is(err, room.ErrLate) || len(events) > 0 || s.Turn == nil {
		t.Errorf("the error gives %v and %v", events, err)
	}
	if _, err := do("me", room.Say{As: "ann", Text: "mine"}); err != nil || s.Turn != nil {
		t.Error("the person cannot end the turn:", err)
	}
}
