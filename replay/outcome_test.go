package replay_test

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/score"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/explore"
)

// inOrder chooses the agents in their order. Its state is the agent that it believes to have
// spoken last, corrected by what it is told of replaced choices.
func inOrder(in *policy.Input) policy.Decision {
	at := 0
	for i, a := range in.Agents {
		if a.LastTurn > 0 && a.LastTurn == in.Turn-1 {
			at = i + 1
		}
	}
	d := policy.Speak(in.Agents[at%3].ID, "next")
	if in.Replaced != "" {
		d.Reason = "next, and not " + in.Replaced
	}
	for i, a := range in.Agents {
		d.Scores = append(d.Scores, policy.Score{Agent: a.ID, Score: float64(1 + (i-at+6)%3)})
	}
	return d
}

// back gives the turn to the agent before the last one.
func back(in *policy.Input) policy.Decision {
	d := inOrder(in)
	at := slices.IndexFunc(in.Agents, func(a policy.Agent) bool { return a.ID == d.Agent })
	return policy.Speak(in.Agents[(at+1)%3].ID, "before")
}

// explored records a room of three agents that explores, asked six times, of which the
// last one is for an agent that a person has asked for. It is completed with a
// probability that grows with the turns of "b", and stopped otherwise.
func explored(t *testing.T, n int, random *rand.Rand) []room.Event {
	r := &recorder{t: t}
	o := room.Open{Spec: room.Spec{
		Room: fmt.Sprint("x", n), Explore: 0.4, Policy: room.PolicyRef{Use: "ring", Name: "ring", Digest: "d1"},
		Limits: room.Limits{SameText: 500, SameTextOf: 500, MaxPingPong: 500, MaxInternal: 500, MaxRing: 500},
	}}
	for _, id := range []string{"a", "b", "c"} {
		o.Participants = append(o.Participants, room.Participant{ID: id, Kind: policy.Local, Mode: room.FullAuto})
	}
	r.do(room.ActorHost, o)
	r.do(room.ActorHost, room.Claim{Owner: "test"})
	for i := range 3 {
		if i == 2 {
			r.do(room.ActorHost, room.Say{Text: "please", To: "c"})
		}
		r.decide(native{decide: inOrder}, i)
	}
	b, _ := r.s.Seat("b")
	if random.Float64() < 0.2+0.25*float64(b.Turns) {
		r.do(room.ActorHost, room.Complete{})
	} else {
		r.do(room.ActorHost, room.Stop{})
	}
	return r.events
}

// rated are the rooms with a rating of each.
func rated(all [][]room.Event) iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		for i, events := range all {
			if !yield(history.Transcript{Name: fmt.Sprint("x", i), Room: events, Fields: map[string]float64{"rating": float64(i % 5)}}, nil) {
				return
			}
		}
	}
}

// TestOutcome replays rooms that explore, and computes the estimates a second time from
// their events alone.
func TestOutcome(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var all [][]room.Event
	for i := range 300 {
		all = append(all, explored(t, i, random))
	}
	c := replay.Config{
		Policies: []drive.Policy{{Name: "ring", Proposer: native{decide: inOrder}}, {Name: "back", Proposer: native{decide: back}}},
		Outcome:  &score.OutcomeField{Name: "completed", Text: "completed"},
	}
	r, err := replay.Run(t.Context(), c, rated(all))
	if err != nil {
		t.Fatal(err)
	}
	o := r.Outcome
	if o.Transcripts != 300 || o.Succeeded+o.Failed != 300 || o.Succeeded < 60 || o.Failed < 60 || strings.Join(o.Fields, " ") != "completed rating" {
		t.Fatalf("%d rooms, %d succeeded and %d failed, with %v", o.Transcripts, o.Succeeded, o.Failed, o.Fields)
	}
	for k, decide := range []func(*policy.Input) policy.Decision{inOrder, back} {
		var whole, wholes, single, singles, open, opens float64
		for _, events := range all {
			w, sum, n, y := secondScorer(t, events, decide)
			whole, wholes = whole+w*y, wholes+w
			single, singles = single+sum*y, singles+sum
			open, opens = open+n*y, opens+n
		}
		p := o.Policies[k]
		t.Logf("%s: %+v %+v", p.Policy, *p.Whole, *p.Single)
		if want := whole / wholes; k == 0 && !(math.Abs(float64(p.Whole.Value)-want) < 1e-9) {
			t.Errorf("%s: whole rooms %v, want %v", p.Policy, p.Whole.Value, want)
		}
		if want := single / singles; !(math.Abs(float64(p.Single.Value)-want) < 1e-9) {
			t.Errorf("%s: single decisions %v, want %v", p.Policy, p.Single.Value, want)
		}
		if want := open / opens; !(math.Abs(float64(p.Single.Recorded)-want) < 1e-9) || p.Single.Sample != int(opens) || p.Stands != 0 {
			t.Errorf("%s: recorded %v of %d decisions, want %v of %v", p.Policy, p.Single.Recorded, p.Single.Sample, want, opens)
		}
	}
	if back := o.Policies[1].Whole; !back.Value.IsNone() || !strings.HasPrefix(back.Note, "too few: worth ") || back.Sample != 300 {
		t.Errorf("the estimate for a policy that differs throughout is %+v", back)
	}
	splitAsAlone(t, c, all, o)
}

// secondScorer returns, for one room, the weight of the whole room for the policy, the sum
// of the weights of its decisions, their number, and the outcome.
func secondScorer(t *testing.T, events []room.Event, decide func(*policy.Input) policy.Decision) (whole, sum, n, outcome float64) {
	t.Helper()
	whole = 1
	var s room.State
	for _, e := range events {
		if b, ok := e.Body.(room.TurnGranted); ok && b.Exploration.Kept == "" {
			in, err := s.RecordedInput(b.Record, nil)
			if err != nil {
				t.Fatal(err)
			}
			w := 0.0
			if decide(&in).Agent == b.Participant {
				w = 1 / b.Exploration.Propensity
			}
			whole, sum, n = whole*w, sum+w, n+1
		}
		s.Apply(e)
	}
	if s.Phase == room.PhaseCompleted {
		outcome = 1
	}
	return whole, sum, n, outcome
}

// splitAsAlone compares the figures of the rooms that succeeded with those of a replay of
// these rooms alone.
func splitAsAlone(t *testing.T, c replay.Config, all [][]room.Event, o *score.Outcome) {
	t.Helper()
	var succeeded [][]room.Event
	for _, events := range all {
		if _, ok := events[len(events)-1].Body.(room.Completed); ok {
			succeeded = append(succeeded, events)
		}
	}
	alone, err := replay.Run(t.Context(), c, rooms(succeeded...))
	if err != nil {
		t.Fatal(err)
	}
	for k, p := range o.Policies {
		for key, f := range p.Success.Figures {
			want, _ := alone.Policies[k].Figure(key)
			same := f.Value == want || f.Value.IsNone() && want.IsNone()
			if !same || f.N != alone.Policies[k].N[key] || p.Success.Transcripts != o.Succeeded {
				t.Errorf("%s: %s is %v of %d, alone %v of %d", p.Policy, key, f.Value, f.N, want, alone.Policies[k].N[key])
			}
		}
	}
}

// TestOutcomeOf: ratings, conditions, and transcripts without the field.
func TestOutcomeOf(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var all [][]room.Event
	for i := range 10 {
		all = append(all, explored(t, i, random))
	}
	policies := []drive.Policy{{Name: "ring", Proposer: native{decide: inOrder}}}
	for _, x := range []struct {
		of               score.OutcomeField
		transcripts      int
		mean             float64
		succeeded, split int
	}{
		{score.OutcomeField{Name: "rating"}, 10, 2, 0, 0},
		{score.OutcomeField{Name: "rating", Success: func(x float64) bool { return x >= 4 }}, 10, 0.2, 2, 2},
		{score.OutcomeField{Name: "nothing"}, 0, 0, 0, 0},
	} {
		r, err := replay.Run(t.Context(), replay.Config{Policies: policies, Outcome: &x.of}, rated(all))
		if err != nil {
			t.Fatal(err)
		}
		o, splits := r.Outcome, 0
		for _, p := range o.Policies {
			if p.Success != nil {
				splits++
			}
			if p.Failure != nil {
				splits++
			}
		}
		if o.Transcripts != x.transcripts || o.Without != 10-x.transcripts || x.transcripts > 0 && math.Abs(float64(o.Mean)-x.mean) > 1e-9 || o.Succeeded != x.succeeded || splits != x.split {
			t.Errorf("%+v: %+v", x.of, o)
		}
		for i, h := range r.Transcripts {
			if (h.Outcome == nil) != (x.transcripts == 0) || x.transcripts > 0 && x.of.Success == nil && *h.Outcome != score.Figure(i%5) {
				t.Errorf("%+v: transcript %d has the outcome %v", x.of, i, h.Outcome)
			}
		}
	}
}

// TestCheckExplored repeats the decisions of rooms that explore: the policy is told which
// choices were replaced, and the draws are the same.
func TestCheckExplored(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var all [][]room.Event
	told, drawn := 0, 0
	for i := range 30 {
		events := explored(t, i, random)
		for _, e := range events {
			if b, ok := e.Body.(room.TurnGranted); ok {
				if strings.Contains(b.Reason, "and not") {
					told++
				}
				if b.Exploration.Replaced(b.Participant) {
					drawn++
				}
				if b.Turn == 3 && b.Exploration.Kept != explore.KeptRequest {
					t.Errorf("the turn after a request is %+v", b.Exploration)
				}
			}
		}
		all = append(all, events)
	}
	checked, err := drive.Check(t.Context(), loadAlways(native{decide: inOrder}), rooms(all...))
	if err != nil || !checked.OK || told == 0 || drawn < told {
		t.Errorf("%+v, %v; %d turns were drawn for others, %d were told", checked, err, drawn, told)
	}
	r, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{{Name: "ring", Proposer: native{decide: inOrder}}}}, rooms(all...))
	if err != nil || float64(r.Policies[0].Accuracy) > 1-float64(drawn)/90+1e-9 {
		t.Errorf("the policy that ran agrees in %v: %v", r.Policies[0].Accuracy, err)
	}
	for _, e := range all[0] { // another propensity than the one that was drawn
		if b, ok := e.Body.(room.TurnGranted); ok {
			b.Exploration.Propensity /= 2
			break
		}
	}
	if checked, err = drive.Check(t.Context(), loadAlways(native{decide: inOrder}), rooms(all[0])); err != nil || checked.OK || checked.Rooms[0].First.What != "propensity" {
		t.Errorf("%+v, %v", checked, err)
	}
}
