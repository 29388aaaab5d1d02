package adaptive

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// TestHead: a learned head replaces the odds where people outnumber the agents, and
// nowhere else, also for an agent that spoke last.
func TestHead(t *testing.T) {
	const likely = `{"silence":0.5,"silence_head":[-3,4,1]}` // speaks if it is likely and something was said
	for _, c := range []struct {
		name   string
		in     *policy.Input
		action string
		odds   bool
	}{
		{"addressed", mixedRoom(4, "bot"), policy.ActionSpeak, true},
		{"not addressed", mixedRoom(4), policy.ActionDecline, true},
		{"few people", mixedRoom(2), policy.ActionSpeak, false},
	} {
		if d := decideWith(t, likely, c.in); d.Action != c.action || (d.Speak != nil) != c.odds {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	last := mixedRoom(4)
	last.Events = append(last.Events, policy.Event{Seq: 4, From: "bot", Kind: policy.KindMessage})
	last.Agents[1].Eligible, last.Agents[1].Ineligible = false, "not asked"
	if d := decideWith(t, `{"silence":0.5,"silence_head":[1,0,0]}`, last); d.Action != policy.ActionSpeak || d.Agent != "bot" {
		t.Errorf("spoke last: %+v", d)
	}
	for _, settings := range []string{likely, `{"silence_head":[1,0,0]}`} {
		if d := decideWith(t, settings, last); d.Action != policy.ActionDecline || d.Speak == nil || *d.Speak == 0 {
			t.Errorf("spoke last with %s: %+v", settings, d)
		}
	}
}

// TestHeadFeatures: the features are what the decision states without a head, and whether
// something was said.
func TestHeadFeatures(t *testing.T) {
	in := mixedRoom(4, "bot")
	p := New()
	s, state := p.Study(in, "bot")
	if d := New().Decide(in); !s.Asked || s.Silence != [HeadFeatures]float64{*d.Speak, 1} || s.Silence[0] == 0 {
		t.Errorf("studied %+v, decided by %v", s, *d.Speak)
	}
	in.Init, in.State, in.Events = false, state, nil
	if s, _ := p.Study(in, "bot"); s.Silence != [HeadFeatures]float64{} {
		t.Errorf("without a message the features are %v", s.Silence)
	}
	in.Events = []policy.Event{{Seq: 5, From: "bot", Kind: policy.KindMessage}}
	if s, _ := p.Study(in, "bot"); s.Silence != [HeadFeatures]float64{0, 1} {
		t.Errorf("after its own turn the features are %v", s.Silence)
	}
	if s, _ := p.Study(in, "ann"); s.Asked {
		t.Error("a person is asked")
	}
}

func TestHeadSettingsAreStrict(t *testing.T) {
	for settings, want := range map[string]string{
		`{"silence_head":[1,2]}`:       damagedTeam,
		`{"silence_head":[1,2,3,4]}`:   damagedTeam, // of version 3.2
		`{"silence_head":[1,2,1e300]}`: damagedTeam,
		`{"silence_head":{}}`:          "expected an array",
	} {
		if err := New().Configure(policy.JSON(settings)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
}
