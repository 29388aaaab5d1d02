package adaptive

import (
	"math"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// mixedRoom is a room with an agent, so many people, and three turns.
func mixedRoom(people int, addressed ...string) *policy.Input {
	in := &policy.Input{ABI: 1, Init: true, Agents: []policy.Agent{{ID: "bot", Kind: policy.Local, Eligible: true}, {ID: "aid", Kind: policy.Local, Role: "tool", Eligible: true}}}
	for _, id := range []string{"ann", "bo", "cy", "di"}[:people] {
		in.Agents = append(in.Agents, policy.Agent{ID: id, Kind: policy.Human, Ineligible: "attends"})
	}
	for i, from := range []string{"ann", "bo", "ann"} {
		e := policy.Event{Seq: int64(i + 1), From: from, Kind: policy.KindHuman, Text: "hm"}
		if i == 2 {
			e.Addressed, e.Mentions = addressed, addressed
		}
		in.Events = append(in.Events, e)
	}
	return in
}

func decideWith(t *testing.T, settings string, in *policy.Input) policy.Decision {
	t.Helper()
	p := New()
	if err := p.Configure(policy.JSON(settings)); err != nil {
		t.Fatal(err)
	}
	return p.Decide(in)
}

// TestWhether: an agent among more people is silent unless it is likely, and has
// spoken little or is addressed. Rooms of agents, and rooms without the threshold, go on.
func TestWhether(t *testing.T) {
	const high = `{"silence":0.99}`
	for _, c := range []struct {
		name, settings string
		in             *policy.Input
		action         string
		odds           bool
	}{
		{"no threshold", `{"silence":0}`, mixedRoom(4), policy.ActionSpeak, true},
		{"by default", `{}`, mixedRoom(4), policy.ActionDecline, true},
		{"addressed", `{}`, mixedRoom(4, "bot"), policy.ActionSpeak, true},
		{"a high one", high, mixedRoom(4, "bot"), policy.ActionDecline, true},
		{"few people", high, mixedRoom(2), policy.ActionSpeak, false},
	} {
		d := decideWith(t, c.settings, c.in)
		if d.Action != c.action || (d.Speak != nil) != c.odds || d.Action == policy.ActionDecline && d.Reason == "" {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	agents := mixedRoom(0)
	for i := range agents.Events {
		agents.Events[i].From = "aid"
	}
	for _, settings := range []string{`{}`, high} {
		if d := decideWith(t, settings, agents); d.Action != policy.ActionSpeak || d.Agent != "bot" || d.Speak != nil {
			t.Errorf("agents alone with %s: %+v", settings, d)
		}
	}
}

// TestWhetherWithoutNews: a decision without a new message is the one before.
func TestWhetherWithoutNews(t *testing.T) {
	in := mixedRoom(4, "bot")
	p := New()
	if err := p.Configure(policy.JSON(`{"silence":0.5}`)); err != nil {
		t.Fatal(err)
	}
	first := p.Decide(in)
	if first.Action != policy.ActionSpeak || *first.Speak <= 0.5 {
		t.Fatalf("addressed: %+v", first)
	}
	in.Init, in.Events, in.State = false, nil, append(policy.JSON(nil), first.State...)
	if d := p.Decide(in); d.Action != policy.ActionDecline || *d.Speak != 0 {
		t.Errorf("nothing is new: %+v", d)
	}
}

// TestOdds compares with the formulas: each row is an agent in a room of five.
func TestOdds(t *testing.T) {
	for _, c := range []struct {
		name           string
		turns, own, at int
		q, p, want     float64
	}{
		{"likely, with its equal share", 15, 4, 14, .3, .3, .75},
		{"less than that", 15, 1, 14, .3, .3, (1 + 1/1.4) / 2},
		{"more", 15, 9, 14, .3, .3, (1 + 1/3.) / 2},
		{"as likely as the mean", 15, 9, 14, .2, .2, .5},
		{"not likely", 15, 4, 14, .1, .1, 1 / 3.},
		{"silent for a turn of each", 15, 4, 10, .3, .3, .75},
		{"silent for longer", 15, 4, 9, .3, .3, 0},
		{"likelier than all others", 15, 9, 9, .1, .6, .8},
	} {
		r := &room{turns: c.turns, people: []person{{turn: c.at}}, agents: make([]policy.Agent, 5)}
		r.agents[0].Turns = c.own
		w := row{p: c.p}
		w.habit[recency] = c.q
		r.rows = []row{w}
		if got := r.odds(0); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
