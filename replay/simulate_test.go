package replay_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/replay/score"
	"github.com/folkmoot/moot/room"
)

// simulate runs one transcript under one policy.
func simulate(t *testing.T, p drive.Policy, x history.Transcript) *score.Result {
	t.Helper()
	r, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{p}, Simulate: true}, func(yield func(history.Transcript, error) bool) {
		yield(x, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Mode != report.ModeSimulate {
		t.Errorf("mode %s", r.Mode)
	}
	var b bytes.Buffer
	if err := r.WriteText(&b, false); err != nil || !strings.HasPrefix(b.String(), "simulate: ") {
		t.Errorf("the first line does not name the mode: %v\n%s", err, b.String())
	}
	if err := r.WriteHTML(&b); err != nil {
		t.Error(err)
	}
	return &r.Policies[0]
}

func describe(s *score.Simulated) string {
	text := fmt.Sprintf("%d turns, %d said, %d passed, %d failed, %d unspoken", s.Turns, s.Said, s.Passed, s.Failed, s.Unspoken)
	for _, e := range s.Endings {
		text += fmt.Sprintf("; %d %s", e.Rooms, e.Ending)
	}
	return text
}

var (
	ring  = drive.Policy{Name: "ring", Baseline: "round-robin"}
	never = drive.Policy{Name: "never", Proposer: native{decide: func(*policy.Input) policy.Decision { return policy.Decline("never") }}}
)

// TestSimulate: a chosen agent posts its next line, and passes without one. The
// limits, declines and endings are those of the room.
func TestSimulate(t *testing.T) {
	x := history.Transcript{Name: "a", Conversation: agents()}
	if got, want := describe(simulate(t, ring, x).Run), "7 turns, 6 said, 1 passed, 0 failed, 1 unspoken; 1 stopped limit maxTurns"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r := simulate(t, never, x)
	if got, want := describe(r.Run), "1 turns, 1 said, 0 passed, 0 failed, 6 unspoken; 1 completed settled"; got != want || r.Declines != 3 {
		t.Errorf("%s and %d declines, want %s", got, r.Declines, want)
	}
	r = simulate(t, drive.Policy{Name: "broken", Proposer: native{err: fmt.Errorf("out of order")}}, x)
	if got := describe(r.Run); !strings.HasSuffix(got, "1 paused policy policy.failed") || r.Errors != 1 || r.FirstError != "out of order" {
		t.Errorf("%s, %d errors, %q", got, r.Errors, r.FirstError)
	}
	finish := native{decide: func(*policy.Input) policy.Decision { return policy.Finish("enough") }}
	if got := describe(simulate(t, drive.Policy{Name: "finish", Proposer: finish}, x).Run); !strings.HasSuffix(got, "1 completed finish") {
		t.Error(got)
	}
}

// TestSimulateInputs: the policy gets the lines in the order in which they were
// posted, and its own state.
func TestSimulateInputs(t *testing.T) {
	var lines []string
	p := native{decide: func(in *policy.Input) policy.Decision {
		for _, e := range in.Events {
			if e.Said() {
				lines = append(lines, e.From+": "+e.Text)
			}
		}
		if want := fmt.Sprint(in.Decision - 1); in.Decision > 1 && string(in.State) != want {
			t.Errorf("state %s at decision %d", in.State, in.Decision)
		}
		d := policy.Speak([]string{"cid", "bob"}[in.Decision%2], "in turn")
		d.State = policy.JSON(fmt.Sprint(in.Decision))
		return d
	}}
	c := replay.Config{Policies: []drive.Policy{{Name: "p", Proposer: p}}, Simulate: true, Workers: 1, Repeat: 1000}
	if _, err := replay.Run(t.Context(), c, conversations(agents())); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(lines, "; ")
	if want := "ann: ann's line 0; ann: ann's line 0; bob: bob's line 1; cid: cid's line 4; bob: bob's line 3; bob: bob's line 6"; got != want {
		t.Errorf("lines %s, want %s", got, want)
	}
}

// TestSimulatePeople: next to agents, people post when they did, or as soon as
// the policy declines. Without agents, people are given turns.
func TestSimulatePeople(t *testing.T) {
	r := simulate(t, never, history.Transcript{Name: "s", Conversation: small()})
	if r.Run.Turns != 0 || r.Run.Unspoken != 3 || r.Declines < 4 || r.Run.Endings[0].Ending != "completed settled" {
		t.Errorf("%s, %d declines", describe(r.Run), r.Declines)
	}
	people := agents()
	for i := range people.Participants {
		people.Participants[i].Kind = history.KindHuman
	}
	got := describe(simulate(t, ring, history.Transcript{Name: "a", Conversation: people}).Run)
	if want := describe(simulate(t, ring, history.Transcript{Name: "a", Conversation: agents()}).Run); got != want {
		t.Errorf("people: %s, agents: %s", got, want)
	}
}

// TestSimulateRoom: in a room of moot, the policy that ran has the same lines
// posted in the same order until none is left, under the room's own limits.
func TestSimulateRoom(t *testing.T) {
	ran := native{decide: turns, fuel: 7}
	p := drive.Policy{Name: "turns", Proposer: ran, Ref: room.PolicyRef{Name: "turns", Digest: "d1"}}
	r := simulate(t, p, history.Transcript{Name: "r", Room: record(t, ran, 30)})
	if r.Run.Said != 20 || r.Run.Unspoken != 0 || r.Run.Passed != 480 || r.Run.Endings[0].Ending != "stopped limit maxTurns" {
		t.Error(describe(r.Run))
	}
}
