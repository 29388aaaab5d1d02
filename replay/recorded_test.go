package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// native runs a policy without the sandbox, and records as the sandbox does.
type native struct {
	decide func(*policy.Input) policy.Decision
	fuel   uint64
	err    error
}

func (n native) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	if n.err != nil {
		return policy.Decision{}, policy.Record{}, n.err
	}
	d := n.decide(&in)
	state := nextState(in.State, d.State)
	return d, policy.Record{
		Decision: in.Decision, Policy: "turns", Digest: "d1", Input: digest(in.AppendJSON(nil)), AskedAtMS: in.NowMS,
		State: stateDigest(state), StateJSON: state, Fuel: n.fuel,
	}, nil
}

// turns gives the floor in order of the roster and declines every third time.
// Its state is large, so that the log holds it at every 64th decision only.
func turns(in *policy.Input) policy.Decision {
	d := policy.Decline("every third")
	if in.Decision%3 != 0 {
		n := int(in.Decision) % len(in.Agents)
		if !in.Agents[n].Eligible {
			n = 0
		}
		d = policy.Speak(in.Agents[n].ID, "its turn")
		d.Scores = []policy.Score{{Agent: in.Agents[n].ID, Score: 0.5}}
	}
	if in.State != nil && !strings.HasSuffix(string(in.State), fmt.Sprintf("%d]", in.Decision-1)) {
		return policy.Fail("state of another decision")
	}
	d.State = policy.JSON("[" + strings.Repeat("0,", 1000) + fmt.Sprint(in.Decision) + "]")
	return d
}

// record runs a room of two agents and a person for n decisions.
func record(t *testing.T, p Policy, n int) []room.Event {
	t.Helper()
	s := &room.State{}
	var events []room.Event
	clock := time.Duration(0)
	do := func(actor string, act room.Act) {
		t.Helper()
		clock += 1500 * time.Millisecond
		made, err := s.Decide(room.Command{Actor: actor, Do: act}, room.Now{Wall: time.Unix(1_770_000_000, 0), Clock: clock})
		if err != nil {
			t.Fatalf("%T: %v", act, err)
		}
		for _, e := range made {
			e.ID = fmt.Sprintf("e%d", e.Seq)
			events = append(events, e)
			s.Apply(e)
		}
	}
	do(room.ActorHost, room.Open{
		Spec: room.Spec{
			Room: "r_1", Objective: "agree", Limits: room.Limits{MaxTurns: 500, MaxDeclines: 500, MaxDuration: time.Hour * 100, SameText: 500, SameTextOf: 500},
			Policy: room.PolicyRef{Use: "turns", Name: "turns", Digest: "d1"},
		},
		Participants: []room.Participant{
			{ID: "zoe", Kind: policy.Local, Mode: room.FullAuto}, {ID: "adam", Kind: policy.Local, Mode: room.FullAuto}, {ID: "yuki", Kind: policy.Human},
		},
	})
	do(room.ActorHost, room.Claim{Owner: "test"})
	do("yuki", room.Say{Text: "adam, what do you think?"})
	for i := range n {
		in, err := s.Input(s.Policy, clock, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, rec, err := p.Propose(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		rec.Through = s.Seq
		before := s.Policy.Decision
		do(room.ActorPolicy, room.Decided{Decision: d, Record: rec, Grant: room.Grant{Request: fmt.Sprint("q", i)}})
		if s.Policy.Decision == before {
			t.Fatalf("decision %d was not recorded", i+1)
		}
		if s.Policy.Lost {
			s.SetPolicyState(rec.StateJSON)
		}
		if s.Turn != nil {
			do(s.Turn.Participant, room.Replied{Turn: s.Turn.Number, Request: s.Turn.Request, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprintf("yuki, this is number %d", i)}})
		}
	}
	return events
}

func rooms(all ...[]room.Event) iter.Seq2[Transcript, error] {
	return func(yield func(Transcript, error) bool) {
		for i, events := range all {
			if !yield(Transcript{Name: fmt.Sprintf("r_%d", i+1), Room: events}, nil) {
				return
			}
		}
	}
}

// TestRecordedRounds: the policy that ran agrees with itself at every round,
// declines included, and another is told apart.
func TestRecordedRounds(t *testing.T) {
	events := record(t, native{decide: turns, fuel: 7}, 150)
	r, err := Run(t.Context(), Config{Subjects: []Subject{
		{Name: "turns", Policy: native{decide: turns, fuel: 7}},
		{Name: "never", Policy: native{decide: func(*policy.Input) policy.Decision { return policy.Decline("never") }}},
		{Name: "always", Policy: native{decide: func(in *policy.Input) policy.Decision { return policy.Speak("zoe", "always") }}},
		{Name: "broken", Policy: native{err: errors.New("out of order")}},
	}}, rooms(events))
	if err != nil {
		t.Fatal(err)
	}
	if r.Decisions != 150 || r.Points != "recorded rounds" || r.Recorded.Declines != 50 {
		t.Errorf("%d decisions at %s, %d declined", r.Decisions, r.Points, r.Recorded.Declines)
	}
	for i, want := range []struct {
		accuracy, balanced               float64
		declines, errors, muted, woken   int
		swapped, overlooked, seenNothing int
	}{
		{accuracy: 1, balanced: 1, declines: 50},
		{accuracy: 1.0 / 3, balanced: 0.5, declines: 150, muted: 100},
		{accuracy: 1.0 / 3, balanced: 0.25, woken: 50, swapped: 50},
		{errors: 150},
	} {
		p := r.Policies[i]
		if diff := float64(p.Accuracy) - want.accuracy; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s: accuracy %v, want %v", p.Policy, p.Accuracy, want.accuracy)
		}
		if want.errors == 0 && float64(p.BalancedAccuracy) != want.balanced {
			t.Errorf("%s: balanced accuracy %v, want %v", p.Policy, p.BalancedAccuracy, want.balanced)
		}
		if p.Declines != want.declines || p.Errors != want.errors || p.Flips.SpeakToDecline != want.muted || p.Flips.DeclineToSpeak != want.woken || p.Flips.OtherSpeaker != want.swapped {
			t.Errorf("%s: %+v", p.Policy, p)
		}
	}
	if r.Policies[3].FirstError != "out of order" {
		t.Errorf("first error %q", r.Policies[3].FirstError)
	}
}

func TestCheck(t *testing.T) {
	ran := native{decide: turns, fuel: 7}
	events := record(t, ran, 150)
	load := func(p Policy) Loader {
		return func(_ context.Context, ref room.PolicyRef) (Policy, error) {
			if ref.Digest != "d1" {
				return nil, fmt.Errorf("no module %s", ref.Digest)
			}
			return p, nil
		}
	}
	c, err := Check(t.Context(), load(ran), rooms(events, events[:40]))
	if err != nil {
		t.Fatal(err)
	}
	if !c.OK || c.Rooms[0].Decisions != 150 || c.Rooms[0].Reproduced != 150 || c.Rooms[1].Reproduced == 0 {
		t.Errorf("%+v", c)
	}
	for what, other := range map[string]native{
		"fuel":   {decide: turns, fuel: 8},
		"action": {decide: func(*policy.Input) policy.Decision { return policy.Decline("no") }, fuel: 7},
		"error":  {err: errors.New("trap")},
		"reason": {decide: func(in *policy.Input) policy.Decision { d := turns(in); d.Reason += "!"; return d }, fuel: 7},
		"agent":  {decide: func(in *policy.Input) policy.Decision { d := turns(in); d.Agent = "zoe"; return d }, fuel: 7},
		"scores": {decide: func(in *policy.Input) policy.Decision { d := turns(in); d.Scores = nil; return d }, fuel: 7},
		"state":  {decide: func(in *policy.Input) policy.Decision { d := turns(in); d.State = nil; return d }, fuel: 7},
		"retry":  {decide: func(in *policy.Input) policy.Decision { d := turns(in); d.RetryMS = 9; return d }, fuel: 7},
	} {
		c, err := Check(t.Context(), load(other), rooms(events))
		if err != nil {
			t.Fatal(err)
		}
		first := c.Rooms[0].First
		if c.OK || first == nil || first.What != what || c.Rooms[0].Decisions != 150 {
			t.Errorf("%s: %+v", what, first)
		}
	}
}

// TestCheckFindsAChangedInput: when the room is not the one that the policy
// saw, the input is to blame, whatever the policy says.
func TestCheckFindsAChangedInput(t *testing.T) {
	ran := native{decide: turns, fuel: 7}
	events := record(t, ran, 12)
	for i, e := range events {
		if b, ok := e.Body.(room.MessagePosted); ok && b.Turn == 2 {
			b.Message.Text += " and more"
			events[i].Body = b
		}
	}
	c, err := Check(t.Context(), func(context.Context, room.PolicyRef) (Policy, error) { return ran, nil }, rooms(events))
	if err != nil {
		t.Fatal(err)
	}
	if first := c.Rooms[0].First; c.OK || first == nil || first.What != "input" || c.Rooms[0].Reproduced == 0 {
		t.Errorf("%+v", c.Rooms[0])
	}
}

// TestCheckAfterRedaction: what was redacted cannot be asked again; that is
// said and is no difference.
func TestCheckAfterRedaction(t *testing.T) {
	ran := native{decide: turns, fuel: 7}
	events := record(t, ran, 12)
	for i, e := range events {
		if b, ok := e.Body.(room.MessagePosted); ok && b.Turn == 4 {
			last := events[len(events)-1]
			events[i] = e.Redacted()
			events = append(events, room.Event{V: 1, Seq: last.Seq + 1, ID: "x", Actor: "yuki", Clock: last.Clock, Body: room.Redacted{Target: e.Seq}})
			break
		}
	}
	c, err := Check(t.Context(), func(context.Context, room.PolicyRef) (Policy, error) { return ran, nil }, rooms(events))
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Rooms[0]; !c.OK || r.Decisions != 12 || r.Withheld == 0 || r.Reproduced < 4 || r.Reproduced+r.Withheld != 12 {
		t.Errorf("%+v", r)
	}
}

func TestCheckTakesNoTalk(t *testing.T) {
	talk := func(yield func(Transcript, error) bool) { yield(Transcript{Name: "t", Talk: small()}, nil) }
	if _, err := Check(t.Context(), nil, talk); !errors.Is(err, ErrNotRecorded) {
		t.Errorf("got %v", err)
	}
}
