package replay_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/room"
)

// TestRecordedRounds: the policy that ran agrees with itself at every round,
// declines included, and others do not.
func TestRecordedRounds(t *testing.T) {
	events := record(t, native{decide: turns, fuel: 7}, 150)
	r, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{
		{Name: "turns", Proposer: native{decide: turns, fuel: 7}},
		{Name: "never", Proposer: native{decide: func(*policy.Input) policy.Decision { return policy.Decline("never") }}},
		{Name: "always", Proposer: native{decide: func(in *policy.Input) policy.Decision { return policy.Speak("zoe", "always") }}},
		{Name: "broken", Proposer: native{err: errors.New("out of order")}},
	}}, rooms(events))
	if err != nil {
		t.Fatal(err)
	}
	if r.Decisions != 150 || r.Points != "recorded rounds" || r.Recorded.Declines != 50 {
		t.Errorf("%d decisions at %s, %d declined", r.Decisions, r.Points, r.Recorded.Declines)
	}
	for i, want := range []struct {
		accuracy, balanced                          float64
		declines, errors, toDecline, toSpeak, other int
	}{
		{accuracy: 1, balanced: 1, declines: 50},
		{accuracy: 1.0 / 3, balanced: 0.5, declines: 150, toDecline: 100},
		{accuracy: 1.0 / 3, balanced: 0.25, toSpeak: 50, other: 50},
		{errors: 150},
	} {
		p := r.Policies[i]
		if diff := float64(p.Accuracy) - want.accuracy; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s: accuracy %v, want %v", p.Policy, p.Accuracy, want.accuracy)
		}
		if want.errors == 0 && float64(p.BalancedAccuracy) != want.balanced {
			t.Errorf("%s: balanced accuracy %v, want %v", p.Policy, p.BalancedAccuracy, want.balanced)
		}
		if p.Declines != want.declines || p.Errors != want.errors || p.Flips.SpeakToDecline != want.toDecline || p.Flips.DeclineToSpeak != want.toSpeak || p.Flips.OtherSpeaker != want.other {
			t.Errorf("%s: %+v", p.Policy, p)
		}
	}
	if r.Policies[3].FirstError != "out of order" {
		t.Errorf("first error %q", r.Policies[3].FirstError)
	}
}

// loadAlways returns p for the digest of the recorded policy.
func loadAlways(p drive.Proposer) drive.Loader {
	return func(_ context.Context, ref room.PolicyRef) (drive.Proposer, error) {
		if ref.Digest != "d1" {
			return nil, fmt.Errorf("no module %s", ref.Digest)
		}
		return p, nil
	}
}

// TestCheck: the policy that ran reproduces its decisions. For another one, the
// first difference names the field that differs.
func TestCheck(t *testing.T) {
	ran := native{decide: turns, fuel: 7}
	events := record(t, ran, 150)
	c, err := drive.Check(t.Context(), loadAlways(ran), rooms(events, events[:40]))
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
		c, err := drive.Check(t.Context(), loadAlways(other), rooms(events))
		if err != nil {
			t.Fatal(err)
		}
		first := c.Rooms[0].First
		if c.OK || first == nil || first.What != what || c.Rooms[0].Decisions != 150 {
			t.Errorf("%s: %+v", what, first)
		}
	}
}

// TestCheckEndedByTime: a decision that the processor's time ended is not
// repeated, and neither a difference nor reproduced.
func TestCheckEndedByTime(t *testing.T) {
	ran := native{decide: turns, fuel: 7}
	events := record(t, ran, 12)
	e := events[len(events)-1]
	if room.RecordOf(e) == nil {
		t.Fatalf("the last event is %T", e.Body)
	}
	paused := room.Paused{Reason: "policy failed", Record: &policy.Record{}}
	*paused.Record = *room.RecordOf(e)
	paused.Record.Code, paused.Record.EndedByTime = "run.out_of_fuel", true
	e.Body = paused
	c, err := drive.Check(t.Context(), loadAlways(ran), rooms(append(events[:len(events)-1:len(events)-1], e)))
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Rooms[0]; !c.OK || r.ByTime != 1 || r.Reproduced != r.Decisions-1 {
		t.Errorf("%+v", r)
	}
}

// TestCheckOtherMeter: the fuel of a record is compared only if it counts the
// same costs.
func TestCheckOtherMeter(t *testing.T) {
	events := record(t, native{decide: turns, fuel: 7, meter: 1}, 12)
	for meter, ok := range map[int]bool{1: false, 2: true} {
		c, err := drive.Check(t.Context(), loadAlways(native{decide: turns, fuel: 8, meter: meter}), rooms(events))
		if err != nil {
			t.Fatal(err)
		}
		if c.OK != ok {
			t.Errorf("meter %d: %+v", meter, c.Rooms[0])
		}
	}
}

// TestCheckChangedInput: when a message of the log was changed, the difference
// is in the input.
func TestCheckChangedInput(t *testing.T) {
	ran := native{decide: turns, fuel: 7}
	events := record(t, ran, 12)
	for i, e := range events {
		if b, ok := e.Body.(room.MessagePosted); ok && b.Turn == 2 {
			b.Message.Text += " and more"
			events[i].Body = b
		}
	}
	c, err := drive.Check(t.Context(), loadAlways(ran), rooms(events))
	if err != nil {
		t.Fatal(err)
	}
	if first := c.Rooms[0].First; c.OK || first == nil || first.What != "input" || c.Rooms[0].Reproduced == 0 {
		t.Errorf("%+v", c.Rooms[0])
	}
}

// TestCheckAfterRedaction: decisions whose input was redacted are counted, but
// are no difference.
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
	c, err := drive.Check(t.Context(), loadAlways(ran), rooms(events))
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Rooms[0]; !c.OK || r.Decisions != 12 || r.Withheld == 0 || r.Reproduced < 4 || r.Reproduced+r.Withheld != 12 {
		t.Errorf("%+v", r)
	}
}

func TestCheckRefusesConversations(t *testing.T) {
	if _, err := drive.Check(t.Context(), nil, conversations(small())); !errors.Is(err, drive.ErrNotRecorded) {
		t.Errorf("got %v", err)
	}
}
