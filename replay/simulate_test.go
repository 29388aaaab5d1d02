package replay

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// drive simulates one subject over transcripts.
func drive(t *testing.T, s Subject, transcripts ...Transcript) *Result {
	t.Helper()
	r, err := Run(t.Context(), Config{Subjects: []Subject{s}, Simulate: true}, func(yield func(Transcript, error) bool) {
		for _, x := range transcripts {
			if !yield(x, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Mode != ModeSimulate {
		t.Errorf("mode %s", r.Mode)
	}
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil || !strings.HasPrefix(b.String(), "simulate: ") {
		t.Errorf("the first line does not name the mode: %v\n%s", err, b.String())
	}
	if err := r.WriteHTML(&b); err != nil {
		t.Error(err)
	}
	return &r.Policies[0]
}

func (s *Simulated) String() string {
	text := fmt.Sprintf("%d turns, %d said, %d passed, %d failed, %d unspoken", s.Turns, s.Said, s.Passed, s.Failed, s.Unspoken)
	for _, e := range s.Endings {
		text += fmt.Sprintf("; %d %s", e.Rooms, e.Ending)
	}
	return text
}

// agents is a talk of agents alone: ann and bob have three turns each, cid one.
func agents() *Talk {
	talk := &Talk{ID: "talk/a"}
	for _, id := range []string{"ann", "bob", "cid"} {
		talk.Participants = append(talk.Participants, Person{ID: id, Kind: KindAgent})
	}
	for i, id := range []string{"ann", "bob", "ann", "bob", "cid", "ann", "bob"} {
		talk.Turns = append(talk.Turns, Turn{Speaker: id, Text: fmt.Sprintf("%s's line %d", id, i)})
	}
	return talk
}

// TestSimulate: who is chosen says its next line and, out of lines, passes; the
// limits and the declines are the room's.
func TestSimulate(t *testing.T) {
	ring := Subject{Name: "ring", Baseline: "round-robin"}
	if got, want := drive(t, ring, Transcript{Name: "a", Talk: agents()}).Run.String(),
		"7 turns, 6 said, 1 passed, 0 failed, 1 unspoken; 1 stopped limit maxTurns"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	never := Subject{Name: "never", Policy: native{decide: func(*policy.Input) policy.Decision { return policy.Decline("never") }}}
	r := drive(t, never, Transcript{Name: "a", Talk: agents()})
	if got, want := r.Run.String(), "1 turns, 1 said, 0 passed, 0 failed, 6 unspoken; 1 completed settled"; got != want || r.Declines != 3 {
		t.Errorf("%s and %d declines, want %s", got, r.Declines, want)
	}
	broken := Subject{Name: "broken", Policy: native{err: fmt.Errorf("out of order")}}
	r = drive(t, broken, Transcript{Name: "a", Talk: agents()})
	if got := r.Run.String(); !strings.HasSuffix(got, "1 paused policy policy.failed") || r.Errors != 1 || r.FirstError != "out of order" {
		t.Errorf("%s, %d errors, %q", got, r.Errors, r.FirstError)
	}
	finish := Subject{Name: "finish", Policy: native{decide: func(*policy.Input) policy.Decision { return policy.Finish("enough") }}}
	if got := drive(t, finish, Transcript{Name: "a", Talk: agents()}).Run.String(); !strings.HasSuffix(got, "1 completed finish") {
		t.Error(got)
	}
}

// TestSimulateSeesWhatIsSaid: the policy is handed the lines in the order in
// which it had them said, and its own state.
func TestSimulateSeesWhatIsSaid(t *testing.T) {
	var heard []string
	look := native{decide: func(in *policy.Input) policy.Decision {
		for _, e := range in.Events {
			if e.Said() {
				heard = append(heard, e.From+": "+e.Text)
			}
		}
		if want := fmt.Sprint(in.Decision - 1); in.Decision > 1 && string(in.State) != want {
			t.Errorf("state %s at decision %d", in.State, in.Decision)
		}
		who := []string{"cid", "bob"}[in.Decision%2]
		d := policy.Speak(who, "in turn")
		d.State = policy.JSON(fmt.Sprint(in.Decision))
		return d
	}}
	c := Config{Subjects: []Subject{{Name: "look", Policy: look}}, Simulate: true, Workers: 1, Repeat: 1000}
	if _, err := Run(t.Context(), c, talks(agents())); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(heard, "; ")
	if want := "ann: ann's line 0; ann: ann's line 0; bob: bob's line 1; cid: cid's line 4; bob: bob's line 3; bob: bob's line 6"; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
}

// TestSimulatePeople: in a room with agents people say what they said when they
// said it, or as soon as the policy declines; where there are only people, they
// are given the floor.
func TestSimulatePeople(t *testing.T) {
	never := Subject{Name: "never", Policy: native{decide: func(*policy.Input) policy.Decision { return policy.Decline("never") }}}
	r := drive(t, never, Transcript{Name: "s", Talk: small()})
	if r.Run.Turns != 0 || r.Run.Unspoken != 3 || r.Declines < 4 || r.Run.Endings[0].Ending != "completed settled" {
		t.Errorf("%s, %d declines", r.Run, r.Declines)
	}
	people := agents()
	for i := range people.Participants {
		people.Participants[i].Kind = KindHuman
	}
	ring := Subject{Name: "ring", Baseline: "round-robin"}
	if got, want := drive(t, ring, Transcript{Name: "a", Talk: people}).Run.String(), drive(t, ring, Transcript{Name: "a", Talk: agents()}).Run.String(); got != want {
		t.Errorf("people: %s, agents: %s", got, want)
	}
}

// TestSimulateRoom: the policy that ran, over a room of moot, has the same lines
// said in the same order until they run out, with the room's own limits.
func TestSimulateRoom(t *testing.T) {
	ran := native{decide: turns, fuel: 7}
	events := record(t, ran, 30)
	r := drive(t, Subject{Name: "turns", Policy: ran, Ref: room.PolicyRef{Name: "turns", Digest: "d1"}}, Transcript{Name: "r", Room: events})
	if r.Run.Said != 20 || r.Run.Unspoken != 0 || r.Run.Passed != 480 || r.Run.Endings[0].Ending != "stopped limit maxTurns" {
		t.Errorf("%s", r.Run)
	}
}
