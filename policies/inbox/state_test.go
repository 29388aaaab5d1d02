package inbox

import (
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// counting is a fallback that counts its decisions in its state, and clears it after two.
type counting struct{}

func (counting) Decide(in *policy.Input) policy.Decision {
	d := policy.Decline("counted")
	switch string(in.State) {
	case "":
		d.State = policy.JSON("1")
	case "1":
		d.State = policy.JSON("2")
	default:
		d.State = policy.JSON("null")
	}
	return d
}

// TestStateOfTheFallback: the fallback gets its own state back, whether the policy keeps
// what it has asked or not. Without that the state is the fallback's alone.
func TestStateOfTheFallback(t *testing.T) {
	p := New(func(string) policy.Policy { return counting{} })
	if err := p.Configure(policy.JSON(`{"fallback":"counting"}`)); err != nil {
		t.Fatal(err)
	}
	free := []policy.Task{{ID: "t", State: policy.TaskWorking}}
	said := []policy.Event{{Kind: policy.KindMessage, From: "w"}}
	state := policy.JSON(nil)
	for i, step := range []struct {
		tasks  []policy.Task
		events []policy.Event
		action string
		want   string
	}{
		{nil, nil, policy.ActionDecline, `1`},
		{free, nil, policy.ActionSpeak, `{"inbox":[["w","t","working"]],"fallback":1}`},
		{free, nil, policy.ActionDecline, `{"inbox":[["w","t","working"]],"fallback":2}`},
		{nil, said, policy.ActionDecline, ``},
		{free, nil, policy.ActionSpeak, `{"inbox":[["w","t","working"]]}`},
		{free, said, policy.ActionSpeak, `{"inbox":[["w","t","working"]]}`},
		{nil, said, policy.ActionDecline, `1`},
	} {
		d := p.Decide(&policy.Input{State: state, Events: step.events, Agents: []policy.Agent{{ID: "w", Eligible: true, Tasks: step.tasks}}})
		switch {
		case string(d.State) == "null":
			state = nil
		case d.State != nil:
			state = d.State
		}
		if d.Action != step.action || string(state) != step.want {
			t.Errorf("step %d: %+v, and the state is %s, want %s", i, d, state, step.want)
		}
	}
}

// TestForeignState: a state that is none of this policy belongs to the fallback.
func TestForeignState(t *testing.T) {
	for _, text := range []string{`{"a":1}`, `{"inbox":`, `{"inbox":[["w"]`, `{"inbox":1}`, `[]`} {
		if s := readState(policy.JSON(text)); len(s.asked) > 0 || string(s.fallback) != text {
			t.Errorf("%s is read as %+v", text, s)
		}
	}
	if s := readState(policy.JSON(`{"inbox":[["w","t","working"],["w"]],"more":{},"fallback":[1]}`)); len(s.asked) != 1 || string(s.fallback) != "[1]" {
		t.Errorf("read as %+v", s)
	}
}
