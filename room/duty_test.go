package room

import (
	"fmt"
	"slices"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
)

// TestDuty checks whose prompts tell the protocol of a manager and its workers.
func TestDuty(t *testing.T) {
	seat := func(id, role string, standing Standing) *Seat {
		return &Seat{Participant: Participant{ID: id, Kind: policy.Local, Role: role}, Standing: standing}
	}
	person := seat("me", "manager", Active)
	person.Kind = policy.Human
	m, w, o := seat("m", "manager", Active), seat("w", "worker", Muted), seat("o", "", Active)
	gone := seat("x", "specialist:db", Removed)
	for _, c := range []struct {
		seats []*Seat
		of    *Seat
		want  string
	}{
		{[]*Seat{m, w, o}, m, endpoint.DutyManager},
		{[]*Seat{m, w, o}, w, endpoint.DutyWorker},
		{[]*Seat{m, w, o}, o, ""},
		{[]*Seat{m, gone, o}, m, ""},
		{[]*Seat{w, o}, w, ""},
		{[]*Seat{person, w}, person, ""},
	} {
		s := State{Seats: c.seats}
		if got := s.duty(c.of); got != c.want {
			t.Errorf("%s has the duty %q, want %q", c.of.ID, got, c.want)
		}
		if s.Spec.Call = (&CallOf{}); s.duty(c.of) != "" {
			t.Errorf("%s has a duty in the room of a call", c.of.ID)
		}
	}
}

// TestSteering checks which messages of people wait for the manager, and how many are
// listed.
func TestSteering(t *testing.T) {
	for _, c := range []struct {
		m    Message
		want bool
	}{
		{Message{From: "me", Source: SourceUser, Kind: KindUtterance}, true},
		{Message{From: ActorHost, Source: SourceApplet, Kind: KindUtterance}, true},
		{Message{From: "me", Kind: KindRequest}, true},
		{Message{From: "o", Source: SourceAgent, Kind: KindUtterance}, false},
		{Message{From: "o", By: "me", Source: SourceUser, Kind: KindRequest}, false},
	} {
		if c.m.OfPerson() != c.want {
			t.Errorf("%+v is of a person: %t", c.m, !c.want)
		}
	}
	s := two(t)
	say := func(id string) {
		s.noteSteering(Event{}, Message{ID: id, From: "me", To: "a", Source: SourceUser})
	}
	if say("r0"); s.Steering != nil {
		t.Error("a room without a manager lists requests")
	}
	s.seat("a").Role = "manager"
	for i := range maxSteering + 2 {
		say(fmt.Sprint("r", i))
	}
	s.noteSteering(Event{}, Message{ID: "other", From: "me", To: "b", Source: SourceUser})
	if n := len(s.Steering); n != maxSteering || s.Steering[0].Message != "r2" {
		t.Errorf("%d requests from %+v", n, s.Steering[0])
	}
	before := *s
	s.noteSteering(Event{Seq: 9}, Message{ID: "k", From: "a", To: "b", Kind: "decision", Correlation: "r3"})
	if x := s.Steering[1]; x.Reply != "k" || x.To != "b" || x.Kind != "decision" || x.Replied != 9 || s.Steering[0].Reply != "" || before.Steering[1].Reply != "" {
		t.Errorf("%+v", x)
	}
}

// TestViewOfRights checks what people with control are told of an agent that may not use
// every tool.
func TestViewOfRights(t *testing.T) {
	for _, c := range []struct {
		kind, role, endpoint string
		level                Visibility
		want                 bool
	}{
		{policy.Local, "manager", "{}", Internal, true},
		{policy.Local, "manager", "{}", UserRedacted, false},
		{policy.Local, "manager", "", Internal, false},
		{policy.Remote, "manager", "{}", Internal, false},
		{policy.Local, "worker", "{}", Internal, false},
	} {
		s := two(t)
		x := s.seat("a")
		x.Kind, x.Role, x.Endpoint = c.kind, c.role, policy.JSON(c.endpoint)
		v := s.View(c.level).Seats[0]
		if (len(v.Withheld) > 0) != c.want || (v.Endpoint != nil) != c.want || c.want && !slices.Contains(v.Withheld, "edit") {
			t.Errorf("%+v: %v, %s", c, v.Withheld, v.Endpoint)
		}
	}
}
