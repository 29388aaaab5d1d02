package room_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// TestObservedRoom checks that the review rules about other owners apply to a room
// that another owner may watch, and that the list of observers stays hidden.
func TestObservedRoom(t *testing.T) {
	sure := 0.9
	for _, c := range []struct {
		review    room.Review
		observers []room.Observer
		why       string
	}{
		{room.Review{Remote: true}, nil, ""},
		{room.Review{Remote: true}, []room.Observer{{Device: "dev"}}, "another owner may watch"},
		{room.Review{FirstContact: true}, nil, ""},
		{room.Review{FirstContact: true}, []room.Observer{{Device: "dev"}}, "first message to another owner"},
		{room.Review{}, []room.Observer{{Device: "dev"}}, ""},
	} {
		s := &room.State{}
		do := func(actor string, act room.Act) (last room.Event) {
			evs, err := s.Decide(room.Command{ID: "c" + time.Duration(s.Seq).String(), Actor: actor, Do: act}, room.Now{})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range evs {
				s.Apply(e)
				last = e
			}
			return last
		}
		do(room.ActorHost, room.Open{Spec: room.Spec{Room: "r1", Observers: c.observers}, Participants: []room.Participant{
			{ID: "a", Kind: policy.Local, Mode: room.SemiAuto, Review: c.review},
		}})
		do(room.ActorHost, room.Claim{Owner: "test"})
		do(room.ActorPolicy, room.Decided{
			Decision: policy.Speak("a", "go"), Record: policy.Record{Decision: 1, Through: s.Seq}, Grant: room.Grant{Request: "q1"},
		})
		e := do("a", room.Replied{Turn: 1, Participant: "a", Request: "q1", Reply: endpoint.Reply{Outcome: endpoint.Said, Text: "fine", Confidence: &sure}})
		why := ""
		if d, ok := e.Body.(room.TurnDrafted); ok {
			why = d.Why
		}
		if !strings.HasPrefix(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%+v watched by %d: picked because %q, want %q", c.review, len(c.observers), why, c.why)
		}
	}
	e, ok := room.Event{Body: room.Opened{Spec: room.Spec{Observers: []room.Observer{{Device: "dev"}}}}}.VisibleAt(room.UserVisible)
	if b := e.Body.(room.Opened); !ok || b.Spec.Observers != nil {
		t.Errorf("a reader sees who else watches: %+v", b.Spec.Observers)
	}
	hidden := room.Spec{Secret: "s", Dir: "/work", Agents: []room.Participant{{ID: "x"}}, Call: &room.CallOf{Caller: "ann"}}
	e, ok = room.Event{Body: room.Opened{Spec: hidden}}.VisibleAt(room.UserVisible)
	if b := e.Body.(room.Opened); !ok || !reflect.DeepEqual(b.Spec, room.Spec{}) {
		t.Errorf("a reader sees of the host and its callers: %+v", b.Spec)
	}
	told := room.Participant{ID: "a", Instructions: "secret", Allow: []room.AllowRule{{Kind: "read"}}, Endpoint: policy.JSON("{}")}
	e, ok = room.Event{Body: room.Joined{Participant: told}}.VisibleAt(room.UserVisible)
	if b := e.Body.(room.Joined); !ok || !reflect.DeepEqual(b.Participant, room.Participant{ID: "a"}) {
		t.Errorf("a reader sees what the owner tells and allows its agent: %+v", b.Participant)
	}
}
