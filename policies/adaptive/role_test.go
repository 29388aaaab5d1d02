package adaptive

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// teamOf returns agents with the given ids. After a slash comes a role, after a comma a
// domain.
func teamOf(ids ...string) (agents []policy.Agent) {
	for _, id := range ids {
		id, domains, _ := strings.Cut(id, ",")
		id, role, _ := strings.Cut(id, "/")
		a := policy.Agent{ID: id, Name: id, Kind: policy.Local, Role: role, Eligible: true}
		if id == "ann" {
			a.Kind = policy.Human
		}
		if domains != "" {
			a.Domains = strings.Split(domains, ",")
		}
		agents = append(agents, a)
	}
	return agents
}

// ask returns the decision after one message, and the score of each candidate.
func ask(t *testing.T, settings string, agents []policy.Agent, from, text string) (policy.Decision, map[string]float64) {
	t.Helper()
	p := New()
	if err := p.Configure(policy.JSON(settings)); err != nil {
		t.Fatal(err)
	}
	d := p.Decide(&policy.Input{ABI: policy.ABI, Agents: agents, Events: []policy.Event{{Seq: 1, From: from, Kind: policy.KindMessage, Text: text}}})
	scores := map[string]float64{}
	for _, s := range d.Scores {
		scores[s.Agent] = s.Score
	}
	return d, scores
}

func TestRoles(t *testing.T) {
	t.Parallel()
	experts := teamOf("Python_Expert", "Verification_Expert", "Computer_terminal/tool", "MusicHistory_Expert")
	domains := teamOf("a,databases", "b,frontend", "c,billing", "d")
	people := teamOf("ann", "Writer", "Orchestrator", "WebSurfer")
	for _, c := range []struct {
		agents           []policy.Agent
		from, text, want string
	}{
		{experts, "Python_Expert", "Let us see whether this runs:\n```\nprint(1)\n```", "Computer_terminal"},
		{experts, "Python_Expert", "We need the music of that year.", "MusicHistory_Expert"},
		{experts, "Python_Expert", "The answer must be verified.", "MusicHistory_Expert"}, // one that checks comes later
		{experts[:3], "Python_Expert", "The result is 3.", "Verification_Expert"},
		{domains, "d", "the front page is slow, is it the frontends?", "b"},
		{domains, "d", "frontend is fine, so it must be the database", "a"},
		{people, "ann", "Which film was the longest?", "Orchestrator"},
		{people, "Writer", "Let us look at the web.", "WebSurfer"},
	} {
		if d, _ := ask(t, `{}`, c.agents, c.from, c.text); d.Agent != c.want {
			t.Errorf("after %q: %s (%s), want %s", c.text, d.Agent, d.Reason, c.want)
		}
		if _, scores := ask(t, `{"roles":false}`, c.agents[:2], c.from, "We need the music of that year."); len(slices.Compact(slices.Sorted(maps.Values(scores)))) > 1 {
			t.Errorf("without roles the scores are %v", scores)
		}
	}
}

// TestRolesKeepTies: without words of roles all that have not spoken have the same
// score, whatever their ids.
func TestRolesKeepTies(t *testing.T) {
	t.Parallel()
	for _, ids := range [][]string{{"x", "b", "a", "c"}, {"Red_Expert", "Green_Expert", "Blue_Expert"}, {"p1", "p3", "p2"}} {
		_, scores := ask(t, `{}`, teamOf(ids...), ids[0], "Each expert may begin.")
		if all := slices.Compact(slices.Sorted(maps.Values(scores))); len(all) != 1 {
			t.Errorf("%v: %v", ids, scores)
		}
	}
}

// TestRolesKeepTheShare: roles order those that have not spoken, and leave the
// probability that one of them speaks.
func TestRolesKeepTheShare(t *testing.T) {
	t.Parallel()
	agents := teamOf("ann", "Coder", "Tester", "Billing_Agent")
	share := func(settings string) (sum float64) {
		p := New()
		if err := p.Configure(policy.JSON(settings)); err != nil {
			t.Fatal(err)
		}
		in := policy.Input{ABI: policy.ABI, Agents: agents}
		for i, from := range []string{"ann", "Coder"} {
			in.Events = append(in.Events, policy.Event{Seq: int64(i), From: from, Kind: policy.KindMessage, Text: "the billing is wrong"})
		}
		for _, s := range p.Decide(&in).Scores {
			if s.Agent != "ann" {
				sum += s.Score
			}
		}
		return sum
	}
	if with, without := share(`{}`), share(`{"roles":false}`); with < without-1e-5 || with > without+1e-5 {
		t.Errorf("with roles %.6f, without %.6f", with, without)
	}
}

// TestStateHasNoOtherWords: without a team the state, which the log keeps even if a text
// is redacted, holds no words of texts but those that participants are called by.
func TestStateHasNoOtherWords(t *testing.T) {
	t.Parallel()
	agents := teamOf("a,databases", "b,frontend", "c,billing", "d")
	secret, _ := ask(t, `{}`, agents, "d", "frontend of project Zanzibar")
	state := string(secret.State)
	if other, _ := ask(t, `{}`, agents, "d", "frontend of banana pudding"); string(other.State) != state {
		t.Errorf("states %s and %s", state, other.State)
	}
	if other, _ := ask(t, `{}`, agents, "d", "databases of project Zanzibar"); string(other.State) == state {
		t.Errorf("the state has no topic: %s", state)
	}
}

func TestStems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Verification_Expert": "verif exper", "WebSurfer": "web surfe", "BingAPI_Expert": "bing api exper", "GIS_DataAnalysis": "gis data analy",
		"HawaiiRealEstate": "hawai real estat", "dba2": "dba2", "x, y": "", "": "", "API": "api", "to verify VERIFIED": "verif",
	} {
		var stems []int
		for _, word := range strings.Fields(want) {
			stems = addStem(stems, word)
		}
		if got := appendStems(nil, text); !slices.Equal(got, stems) {
			t.Errorf("%q has %v, want those of %q, %v", text, got, want, stems)
		}
	}
}
