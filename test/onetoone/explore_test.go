package onetoone

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/explore"
)

// inTurn chooses the agents in turn, with scores that favor the later ones.
type inTurn struct{}

func (inTurn) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	d := policy.Speak(in.Agents[in.Turn%len(in.Agents)].ID, "next")
	for i, a := range in.Agents {
		d.Scores = append(d.Scores, policy.Score{Agent: a.ID, Score: float64(i)})
	}
	return d, policy.Record{}, ctx.Err()
}

const (
	exploreTurns = 40
	exploreRate  = 0.5
)

// runExploring runs a room of two agents of ann and one of bob, behind the relay, which
// explores.
func runExploring(t *testing.T) []room.Event {
	f := newFlow(t)
	spoke := func(p endpoint.Prompt) string { return fmt.Sprintf("turn %d", p.Turn) }
	f.mine, f.theirs = says(spoke), says(func(p endpoint.Prompt) string { return "remote " + spoke(p) })
	f.bob.start(share.AgentConfig{Profile: f.bobRules, Open: func(context.Context) (share.Agent, error) { return f.theirs, nil }})
	f.ann.start()
	c := f.config()
	c.Policy = func(context.Context, room.PolicyRef) (coordinator.Policy, error) { return inTurn{}, nil }
	r, err := coordinator.Open(t.Context(), c, room.Spec{
		Room: "r1", Secret: "s", Explore: exploreRate, Policy: room.PolicyRef{Use: "inTurn", Name: "inTurn"},
		Limits: room.Limits{MaxTurns: exploreTurns, MaxInternal: 1 << 20, MaxPingPong: 1 << 20, MaxRing: 1 << 20},
	}, []room.Participant{
		{ID: "a", Kind: policy.Local, Mode: room.FullAuto},
		{ID: "b", Kind: policy.Local, Mode: room.FullAuto},
		{ID: "theirs", Kind: policy.Remote, Owner: "bob", Device: f.bob.self.ID().String(), Profile: "orchestrator", Mode: room.FullAuto, Endpoint: []byte(`{"kind":"relay"}`)},
	})
	must(t, err)
	must(t, r.Run(t.Context()))
	return f.events()
}

// drawsOf returns a line for each turn. It reports a draw that the state before it does
// not give again, and a propensity that is not that of the scores in the log.
func drawsOf(t *testing.T, all []room.Event) (lines []string) {
	var s room.State
	for _, e := range all {
		if b, ok := e.Body.(room.TurnGranted); ok && b.Record != nil {
			x := b.Exploration
			lines = append(lines, fmt.Sprintf("%d %s %+v", b.Turn, b.Participant, *x))
			d, again := s.Explore(policy.Decision{Action: policy.ActionSpeak, Agent: x.Choice, Scores: b.Scores}, b.Record)
			if d.Agent != b.Participant || !reflect.DeepEqual(again, x) {
				t.Errorf("turn %d of %s was %+v, drawn again %s with %+v", b.Turn, b.Participant, x, d.Agent, again)
			}
			want := explore.Propensity(exploreRate, b.Participant, x.Choice, []string{"a", "b", "theirs"}, b.Scores)
			if math.Abs(x.Propensity-want) > 1e-12 || want <= 0 || want >= 1 {
				t.Errorf("turn %d of %s has the propensity %v, want %v", b.Turn, b.Participant, x.Propensity, want)
			}
		}
		s.Apply(e)
	}
	return lines
}

// TestExploresRemote: a room draws a remote agent as any other, logs its propensity, and
// sends it the prompt. The same seed gives the same turns.
func TestExploresRemote(t *testing.T) {
	all := runExploring(t)
	first, second := drawsOf(t, all), drawsOf(t, runExploring(t))
	if len(first) != exploreTurns || !slices.Equal(first, second) {
		t.Errorf("the same seed gave\n%s\nand\n%s", strings.Join(first, "\n"), strings.Join(second, "\n"))
	}
	drawn, left := 0, 0 // for the remote agent instead of another one, and the other way around
	for _, b := range find[room.TurnGranted](all) {
		switch x := b.Exploration; {
		case !x.Replaced(b.Participant):
		case b.Participant == "theirs":
			drawn++
		case x.Choice == "theirs":
			left++
		}
	}
	if drawn == 0 || left == 0 {
		t.Errorf("%d turns were drawn for the remote agent, %d for another one instead", drawn, left)
	}
	for _, b := range find[room.MessagePosted](all) {
		if want := fmt.Sprintf("turn %d", b.Turn); b.Turn > 0 && strings.TrimPrefix(b.Message.Text, "remote ") != want || (b.Message.From == "theirs") != strings.HasPrefix(b.Message.Text, "remote ") {
			t.Errorf("turn %d of %s: %q", b.Turn, b.Message.From, b.Message.Text)
		}
	}
}
