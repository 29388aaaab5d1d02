package room

import (
	"errors"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/calls"
)

// TestCallsHold: what open calls have reserved is not left for the next prompt.
func TestCallsHold(t *testing.T) {
	for _, c := range []struct {
		limits Limits
		tally  Tally
		state  calls.State
		want   bool
	}{
		{Limits{MaxTokens: 100}, Tally{Tokens: 50}, calls.Working, false}, // 20 are reserved, and a prompt has 30
		{Limits{MaxTokens: 100}, Tally{Tokens: 51}, calls.Working, true},
		{Limits{MaxTokens: 100}, Tally{Tokens: 51}, calls.Completed, false},
		{Limits{MaxCost: 100}, Tally{Cost: 20}, calls.Working, false}, // 20 are reserved, and a prompt costs 60
		{Limits{MaxCost: 100}, Tally{Cost: 21}, calls.Working, true},
		{Limits{MaxCost: 100}, Tally{Cost: 21}, calls.Completed, false},
		{Limits{}, Tally{Tokens: 1000, Cost: 1000}, calls.Working, false},
	} {
		s := State{Limits: c.limits, Tally: c.tally, Bounds: Context{Tokens: 30}}
		s.Seats = []*Seat{{Participant: Participant{ID: "a", Price: Price{Input: 2_000_000}}}}
		s.Calls = []Call{{ID: "c1", State: c.state, Reserved: calls.Budget{Tokens: 20, Cost: 20}}}
		if got := s.callsHold(); got != c.want {
			t.Errorf("%+v with %+v and a call that is %s: %t", c.limits, c.tally, c.state, got)
		}
	}
}

// TestTasked: an open call is a task of the agent that has made it and of the one that
// works on it.
func TestTasked(t *testing.T) {
	s := State{Calls: []Call{{ID: "c1", Caller: "a", Agent: "b", State: calls.Completed}, {ID: "c2", Caller: "c", Agent: "d", State: calls.Working}}}
	for id, want := range map[string]bool{"a": false, "b": false, "c": true, "d": true, "e": false} {
		if got := s.tasked(id); got != want {
			t.Errorf("%s has a task: %t", id, got)
		}
	}
}

// TestAnswersBeforeEnd: when the answer to one request ends the turn, the others are
// refused before its end, and the answered one has no second answer.
func TestAnswersBeforeEnd(t *testing.T) {
	s := State{Turn: &Turn{Number: 1, Participant: "a", Requests: []PermissionRequest{{ID: "1.1"}, {ID: "1.2"}}}}
	got := s.withAnswers([]Body{PermissionAnswered{Turn: 1, ID: "1.1", Allowed: true}, TurnInterrupted{Turn: 1, Reason: "loop"}})
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	if a, ok := got[1].(PermissionAnswered); !ok || a.ID != "1.2" || a.Allowed || a.Reason != "the turn was interrupted: loop" {
		t.Errorf("%+v", got[1])
	}
	if _, ok := got[2].(TurnInterrupted); !ok {
		t.Errorf("the turn ends with %+v", got[2])
	}
}

// TestRefusedWithoutCode: an error that is no problem of the message leaves no dead letter.
func TestRefusedWithoutCode(t *testing.T) {
	fault := errors.New("a fault")
	if bodies, err := new(State).withDead(Message{ID: "m1"}, fault); bodies != nil || !errors.Is(err, fault) {
		t.Errorf("%+v, %v", bodies, err)
	}
}

// TestSteeredInOwnName: the message of an agent that a person speaks for is no request of
// that person, and one to no seat goes to no manager.
func TestSteeredInOwnName(t *testing.T) {
	s := two(t)
	s.seat("a").Role, s.seat("b").Role = "manager", "worker"
	m := Message{From: "me", To: Broadcast, Kind: KindUtterance}
	if got := s.steered(m); got.To != "a" || got.Kind != KindRequest {
		t.Errorf("a person's message is %+v", got)
	}
	m.From, m.By = "b", "me"
	if got := s.steered(m); got.To != Broadcast || got.Kind != KindUtterance {
		t.Errorf("the message of b is %+v", got)
	}
	if got := s.steered(Message{From: "me", To: "ghost", Kind: KindUtterance}); got.To != "ghost" || got.For != "" {
		t.Errorf("the message to no seat is %+v", got)
	}
}

// TestAcknowledgedWhileHeld: a message that its receiver has acknowledged before its time
// is held for no policy any more.
func TestAcknowledgedWhileHeld(t *testing.T) {
	s := two(t)
	post := MessagePosted{Message: Message{ID: "m1", From: "a", To: "b", Kind: KindUtterance}, Auto: true, Held: "over the rate", HeldUntil: 10}
	s.Apply(Event{Seq: s.Seq + 1, Body: post})
	if len(s.Mail.Held) != 1 || s.Mail.Held[0].Kind != policy.KindMessage {
		t.Fatalf("held are %+v", s.Mail.Held)
	}
	s.Apply(Event{Seq: s.Seq + 1, Body: MessageAcked{Message: "m1", Target: s.Seq, Participant: "b"}})
	if s.Mail.Held != nil {
		t.Errorf("still held are %+v", s.Mail.Held)
	}
}
