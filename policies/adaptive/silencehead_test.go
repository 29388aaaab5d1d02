package adaptive

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// TestHead: a learned head replaces the odds where people outnumber the agents, and
// nowhere else, also for an agent that spoke last.
func TestHead(t *testing.T) {
	const named = `{"silence":0.5,"silence_head":[-1,0,0,2]}` // speaks if it is named
	for _, c := range []struct {
		name   string
		in     *policy.Input
		action string
		odds   bool
	}{
		{"named", mixedRoom(4, "bot"), policy.ActionSpeak, true},
		{"not named", mixedRoom(4), policy.ActionDecline, true},
		{"few people", mixedRoom(2), policy.ActionSpeak, false},
	} {
		if d := decideWith(t, named, c.in); d.Action != c.action || (d.Speak != nil) != c.odds {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	last := mixedRoom(4)
	last.Events = append(last.Events, policy.Event{Seq: 4, From: "bot", Kind: policy.KindMessage})
	last.Agents[1].Eligible, last.Agents[1].Ineligible = false, "not asked"
	if d := decideWith(t, `{"silence":0.5,"silence_head":[1,0,0,0]}`, last); d.Action != policy.ActionSpeak || d.Agent != "bot" {
		t.Errorf("spoke last: %+v", d)
	}
	for _, settings := range []string{named, `{"silence_head":[1,0,0,0]}`} {
		if d := decideWith(t, settings, last); d.Action != policy.ActionDecline || d.Speak == nil || *d.Speak == 0 {
			t.Errorf("spoke last with %s: %+v", settings, d)
		}
	}
}

// TestHeadFeatures: the features are what the decision states without a head, whether
// something was said, and whether the agent was named since its own turn.
func TestHeadFeatures(t *testing.T) {
	in := mixedRoom(4, "bot")
	p := New()
	x, ok, state := p.Silence(in, "bot")
	if d := New().Decide(in); !ok || x != [HeadFeatures]float64{*d.Speak, 1, 1} || x[0] == 0 {
		t.Errorf("features %v %v, decided by %v", x, ok, *d.Speak)
	}
	in.Init, in.State, in.Events = false, state, nil
	if x, _, _ := p.Silence(in, "bot"); x != [HeadFeatures]float64{0, 0, 1} {
		t.Errorf("without a message the features are %v", x)
	}
	in.Events = []policy.Event{{Seq: 5, From: "bot", Kind: policy.KindMessage}}
	if x, _, _ := p.Silence(in, "bot"); x != [HeadFeatures]float64{0, 1, 0} {
		t.Errorf("after its own turn the features are %v", x)
	}
	if _, ok, _ := p.Silence(in, "ann"); ok {
		t.Error("a person is asked")
	}
}

func TestHeadSettingsAreStrict(t *testing.T) {
	for settings, want := range map[string]string{
		`{"silence_head":[1,2,3]}`:       damagedTeam,
		`{"silence_head":[1,2,3,4,5]}`:   damagedTeam,
		`{"silence_head":[1,2,3,1e300]}`: damagedTeam,
		`{"silence_head":{}}`:            "expected an array",
	} {
		if err := New().Configure(policy.JSON(settings)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
}
