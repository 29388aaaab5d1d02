package room_test

import (
	"fmt"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// TestAnyPresent checks when a session holds a lease, and whether other agents than a
// are there.
func TestAnyPresent(t *testing.T) {
	s := &script{}
	for _, step := range []struct {
		line                string
		present, others, me bool
	}{
		{"open a/session b/session me/human", false, false, false},
		{"idle a", true, false, true},
		{"live a", true, false, true},
		{"pause", true, false, true},
		{"live b", true, true, true},
		{"away a", true, true, true},
		{"standing b muted", true, false, false},
		{"resume", true, false, false},
		{"away b", false, false, false},
		{"standing b active", false, false, false},
		{"takeover b", false, true, true},
		{"idle a", true, true, true},
		{"stop", false, true, true},
	} {
		s.do(t, discard(), step.line)
		got := fmt.Sprint(s.state.AnyPresent(), s.state.AnyoneHere("a"), s.state.AnyoneHere("me"))
		if want := fmt.Sprint(step.present, step.others, step.me); got != want {
			t.Errorf("%s: %s, want %s", step.line, got, want)
		}
	}
}

// TestSessionSays checks that what a session says between its turns has its addressee,
// kind and visibility, and its id, which prevents a second message.
func TestSessionSays(t *testing.T) {
	s := &script{}
	for _, line := range []string{"open a/session me/human", "live a"} {
		s.do(t, discard(), line)
	}
	say := room.Command{Actor: "a", Do: room.Say{Text: "done", To: "me", Kind: room.KindUtterance, Visibility: room.Internal, MessageID: "m1"}}
	events, err := s.state.Decide(say, room.Now{})
	if err != nil || len(events) != 1 {
		t.Fatalf("%v, error %v", events, err)
	}
	m := events[0].Body.(room.MessagePosted).Message
	if m.ID != "m1" || m.From != "a" || m.To != "me" || m.Kind != room.KindUtterance || m.Visibility != room.Internal || m.Text != "done" {
		t.Errorf("it says %+v", m)
	}
	s.state.Apply(events[0])
	if events, err = s.state.Decide(say, room.Now{}); err != nil || len(events) != 0 {
		t.Errorf("the same message again: %v, error %v", events, err)
	}
}

// TestPresenceInput checks that policies see the presence of sessions, and none of a
// seat that a person has taken over.
func TestPresenceInput(t *testing.T) {
	s := &script{}
	for _, step := range []struct{ line, presence string }{
		{"open a/session b me/human", policy.Away}, {"live a", policy.Present}, {"idle a", policy.Idle}, {"takeover a", ""},
	} {
		s.do(t, discard(), step.line)
		in, err := s.state.Input(s.state.Policy, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Agents[0].Presence; got != step.presence {
			t.Errorf("%s: %q, want %q", step.line, got, step.presence)
		}
		if got := in.Agents[1].Presence + in.Agents[2].Presence; got != "" {
			t.Errorf("%s: others have the presence %q", step.line, got)
		}
	}
}

// TestViewPolicy checks that a view has the policy in force whole.
func TestViewPolicy(t *testing.T) {
	s := &script{}
	s.do(t, discard(), "open a me/human")
	ref := room.PolicyRef{Use: "mention", Name: "mention", Digest: "5f1c"}
	events, err := s.state.Decide(room.Command{Actor: room.ActorHost, Do: room.SetPolicy{Policy: ref}}, room.Now{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		s.state.Apply(e)
	}
	if v := s.state.View(room.Internal); v.InForce.Name != "mention" || v.InForce.Digest != "5f1c" || v.Policy != "mention" {
		t.Errorf("%+v", v.InForce)
	}
}

// TestKnownAs checks that a room keeps by which device of its host other owners know
// it, that its session stays as it is, and that a second device is refused.
func TestKnownAs(t *testing.T) {
	s := &script{}
	s.do(t, discard(), "open a/session me/human")
	present := func(do room.Present) ([]room.Event, error) {
		do.Participant = "a"
		events, err := s.state.Decide(room.Command{Actor: "a", Do: do}, room.Now{})
		for _, e := range events {
			s.state.Apply(e)
		}
		return events, err
	}
	if _, err := present(room.Present{Presence: room.Live, Device: "laptop", Owner: "ann"}); err != nil || s.state.Spec.Device != "" {
		t.Fatalf("the host is known as %q, error %v", s.state.Spec.Device, err)
	}
	events, err := present(room.Present{Host: "moot-1"})
	want := room.PresenceChanged{Participant: "a", Presence: room.Live, Device: "laptop", Owner: "ann", Host: "moot-1"}
	if err != nil || len(events) != 1 || events[0].Body != want {
		t.Fatalf("%+v, error %v; want %+v", events, err, want)
	}
	if events, err = present(room.Present{Host: "moot-1"}); err != nil || len(events) != 0 {
		t.Errorf("the same device again: %+v, error %v", events, err)
	}
	if _, err = present(room.Present{Host: "moot-2"}); code(err) != "NODE-DEVICE" {
		t.Errorf("another device: error %v, want NODE-DEVICE", err)
	}
	if _, err = present(room.Present{Presence: room.Idle, Device: "phone", Owner: "ann"}); err != nil {
		t.Fatal(err)
	}
	if x := s.state.Seats[0]; s.state.Spec.Device != "moot-1" || x.Device != "phone" || x.Presence != room.Idle || x.Participant.Owner != "ann" {
		t.Errorf("the host is known as %q; its session is %s on %q of %q", s.state.Spec.Device, x.Presence, x.Device, x.Participant.Owner)
	}
}
