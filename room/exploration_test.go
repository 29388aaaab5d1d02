package room_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/explore"
)

// exploring returns a room of ann, bob and the person me that explores at the rate.
func exploring(rate float64) *room.State {
	var s room.State
	applied(&s, room.Opened{Spec: room.Spec{Room: "r", Explore: rate}},
		room.Joined{Participant: room.Participant{ID: "ann", Kind: policy.Local}},
		room.Joined{Participant: room.Participant{ID: "bob", Kind: policy.Local}},
		room.Joined{Participant: room.Participant{ID: "me", Kind: policy.Human}})
	return &s
}

func applied(s *room.State, bodies ...room.Body) {
	for _, b := range bodies {
		s.Apply(room.Event{Seq: s.Seq + 1, Body: b})
	}
}

// TestReplacedChoice: the next input names the agent whose turn another one got, and
// only the next one.
func TestReplacedChoice(t *testing.T) {
	s := exploring(1)
	replaced := func() string {
		t.Helper()
		in, err := s.Input(s.Policy, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		return in.Replaced
	}
	took := &explore.Choice{Choice: "ann", Explored: true, Propensity: 0.5}
	applied(s, room.TurnGranted{Turn: 1, Participant: "bob", Exploration: took, Record: &policy.Record{Decision: 1, Through: 4}})
	if got := replaced(); got != "ann" {
		t.Errorf("replaced %q", got)
	}
	applied(s, room.TurnPassed{Turn: 1}, room.TurnGranted{Turn: 2, Participant: "bob", Record: &policy.Record{Decision: 2, Through: 6}})
	if got := replaced(); got != "" {
		t.Errorf("the decision after it: replaced %q", got)
	}
}

// TestRequestIsAddressed: only what a person says to one participant is a request that
// keeps the policy's choice.
func TestRequestIsAddressed(t *testing.T) {
	for _, c := range []struct {
		rate    float64
		message room.Message
		want    bool
	}{
		{1, room.Message{To: room.Broadcast}, false},
		{1, room.Message{}, false},
		{1, room.Message{To: "ann"}, true},
		{1, room.Message{To: room.Broadcast, Addressed: []string{"ann"}}, true},
		{0, room.Message{To: "ann"}, false},
	} {
		s := exploring(c.rate)
		c.message.From, c.message.Text = "me", "please"
		applied(s, room.MessagePosted{Message: c.message})
		if s.Request != c.want {
			t.Errorf("explore %v, %+v: request %v", c.rate, c.message, s.Request)
		}
	}
}

// TestExploreDraws: what is drawn is the draw of package explore at the room's rate. A
// decision that gives no turn, or none that can be taken, stays as it is.
func TestExploreDraws(t *testing.T) {
	speak := policy.Decision{Action: policy.ActionSpeak, Agent: "ann", Hints: policy.JSON(`{"depth":1}`)}
	replaced := map[bool]int{}
	for _, rate := range []float64{0.5, 1, 2} {
		s := exploring(rate)
		for n := range 20 {
			r := &policy.Record{Seed: fmt.Sprintf("%032x", n), Through: 4}
			want := speak
			taken, choice := explore.Draw(min(rate, 1), r.Seed, r.Through, "ann", []string{"ann", "bob"}, nil)
			if taken != "ann" {
				want.Agent, want.Hints = taken, nil
			}
			replaced[taken != "ann"]++
			if d, c := s.Explore(speak, r); !reflect.DeepEqual(d, want) || c == nil || *c != choice {
				t.Errorf("explore %v: %+v, %+v, want %+v, %+v", rate, d, c, want, choice)
			}
		}
	}
	if replaced[true] == 0 || replaced[false] == 0 {
		t.Errorf("drawn: %v", replaced)
	}
	muted := exploring(1)
	applied(muted, room.SeatChanged{Participant: "ann", Standing: room.Muted})
	for name, c := range map[string]struct {
		s *room.State
		d policy.Decision
	}{
		"off":            {exploring(0), speak},
		"decline":        {exploring(1), policy.Decision{Action: policy.ActionDecline, Agent: "ann"}},
		"no participant": {exploring(1), policy.Decision{Action: policy.ActionSpeak, Agent: "zed"}},
		"muted":          {muted, speak},
	} {
		if d, x := c.s.Explore(c.d, &policy.Record{}); !reflect.DeepEqual(d, c.d) || x != nil {
			t.Errorf("%s: %+v, %+v", name, d, x)
		}
	}
}

// TestWhyOfTurn: a turn that explores has that as its reason, and then the policy's.
func TestWhyOfTurn(t *testing.T) {
	took := &explore.Choice{Choice: "ann", Explored: true, Propensity: 0.5}
	for _, c := range []struct {
		granted room.TurnGranted
		want    string
	}{
		{room.TurnGranted{Participant: "ann", Reason: "asked"}, "asked"},
		{room.TurnGranted{Participant: "ann", Reason: "asked", Exploration: took}, "asked"},
		{room.TurnGranted{Participant: "bob", Exploration: took}, took.Text()},
		{room.TurnGranted{Participant: "bob", Reason: "asked", Exploration: took}, took.Text() + " (asked)"},
	} {
		if got := c.granted.Why(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.granted, got, c.want)
		}
	}
}
