package adaptive

import (
	"math"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// TestHead: a learned head replaces the odds where people outnumber the agents, and
// nowhere else, also for an agent that spoke last.
func TestHead(t *testing.T) {
	const named = `{"silence":0.5,"silence_head":[-1,0,0,0,0,2]}` // speaks if it is named
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
	if d := decideWith(t, `{"silence":0.5,"silence_head":[1,0,0,0,0,0]}`, last); d.Action != policy.ActionSpeak || d.Agent != "bot" {
		t.Errorf("spoke last: %+v", d)
	}
	for _, settings := range []string{named, `{"silence_head":[1,0,0,0,0,0]}`} {
		if d := decideWith(t, settings, last); d.Action != policy.ActionDecline || d.Speak == nil || *d.Speak == 0 {
			t.Errorf("spoke last with %s: %+v", settings, d)
		}
	}
}

func TestHeadFeatures(t *testing.T) {
	in := mixedRoom(4, "bot")
	in.Agents[0].Turns = 1 // of 4, with 6 participants
	in.Events = append([]policy.Event{{Seq: 1, From: "bot", Kind: policy.KindMessage}}, in.Events...)
	p := New()
	x, odds, ok, state := p.Silence(in, "bot")
	if want := [HeadFeatures]float64{math.Log(4), .2, 0, 1, 1}; !ok || math.Abs(x[1]-want[1]) > 1e-9 || x[0] != want[0] || [3]float64(x[2:]) != [3]float64(want[2:]) {
		t.Errorf("features %v %v, want %v", x, ok, want)
	}
	if d := New().Decide(in); odds == 0 || *d.Speak != odds {
		t.Errorf("odds %v, decided by %v", odds, *d.Speak)
	}
	in.Init, in.State, in.Events = false, state, []policy.Event{{Seq: 5, From: "bot", Kind: policy.KindMessage}}
	if x, _, _, _ := p.Silence(in, "bot"); x[0] != 0 || x[3] != 0 || x[4] != 0 {
		t.Errorf("after its own turn the features are %v", x)
	}
	if _, _, ok, _ := p.Silence(in, "ann"); ok {
		t.Error("a person is asked")
	}
}

func TestHeadSettingsAreStrict(t *testing.T) {
	for settings, want := range map[string]string{
		`{"silence_head":[1,2,3,4,5]}`:       damagedTeam,
		`{"silence_head":[1,2,3,4,5,6,7]}`:   damagedTeam,
		`{"silence_head":[1,2,3,4,5,1e300]}`: damagedTeam,
		`{"silence_head":{}}`:                "expected an array",
	} {
		if err := New().Configure(policy.JSON(settings)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
}
