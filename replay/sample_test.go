package replay_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
)

// pingPong is a conversation of so many turns in which two agents alternate and a
// third has every 50th turn.
func pingPong(id string, turns int) *history.Conversation {
	c := &history.Conversation{ID: id}
	for _, p := range []string{"ann", "bob", "cid"} {
		c.Participants = append(c.Participants, history.Participant{ID: p, Kind: history.KindAgent})
	}
	for n := range turns {
		speaker := []string{"ann", "bob"}[n%2]
		if n%50 == 49 {
			speaker = "cid"
		}
		c.Turns = append(c.Turns, history.Turn{Speaker: speaker, Text: fmt.Sprint("line ", n)})
	}
	return c
}

func sampled(t *testing.T, size, workers int, policies []drive.Policy) *report.Report {
	t.Helper()
	all := conversations(pingPong("talk/long", 4001), pingPong("talk/short", 1001), pingPong("talk/tiny", 3))
	r, err := replay.Run(t.Context(), replay.Config{Policies: policies, Sample: size, Workers: workers, Resamples: 10}, all)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSample: a sample has as many decisions as asked for, spread over the transcripts
// in proportion to their decisions, and is the same every time. Its figures are about
// those of all, also where the conversation has a period.
func TestSample(t *testing.T) {
	whole := sampled(t, 0, 1, baselines("freq", "address->experts"))
	r := sampled(t, 500, 1, baselines("freq", "address->experts"))
	if r.Decisions != 500 || r.SampleOf != 5002 || whole.SampleOf != 0 {
		t.Fatalf("%d decisions of %d", r.Decisions, r.SampleOf)
	}
	for _, x := range r.Transcripts[:2] {
		if want := map[string]int{"talk/long": 400, "talk/short": 100}[x.Name]; x.Decisions < want-1 || x.Decisions > want+1 {
			t.Errorf("%s: %d decisions, want about %d", x.Name, x.Decisions, want)
		}
	}
	for i, p := range r.Policies {
		if d := float64(p.Accuracy - whole.Policies[i].Accuracy); d < -0.05 || d > 0.05 {
			t.Errorf("%s: accuracy %v in the sample, %v in all", p.Policy, p.Accuracy, whole.Policies[i].Accuracy)
		}
	}
	comparable := func(r *report.Report) string {
		b, err := json.Marshal([]any{r.Decisions, r.Transcripts, r.Policies[0].Hits, r.Policies[1].Hits})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if again := sampled(t, 500, 4, baselines("freq", "address->experts")); comparable(again) != comparable(r) {
		t.Errorf("another sample: %s, then %s", comparable(r), comparable(again))
	}
	if all := sampled(t, 1<<20, 2, baselines("freq")); all.Decisions != whole.Decisions {
		t.Errorf("a sample larger than the transcripts has %d decisions, want %d", all.Decisions, whole.Decisions)
	}
}

// TestSampleLead: a policy is asked at the decisions just before each of the sample,
// gets every message once, and is not asked at the rest.
func TestSampleLead(t *testing.T) {
	var asked, messages int
	var last, decision int64
	p := native{decide: func(in *policy.Input) policy.Decision {
		if in.Decision == decision { // repeated
			return policy.Decline("none")
		}
		decision = in.Decision
		asked++
		for _, e := range in.Events {
			if e.Seq <= last {
				t.Errorf("event %d came after event %d", e.Seq, last)
			}
			last = e.Seq
			messages++
		}
		return policy.Decline("none")
	}}
	c := replay.Config{Policies: []drive.Policy{{Name: "p", Proposer: p}}, Sample: 10, Workers: 1, Repeat: 1 << 20, Resamples: 1}
	r, err := replay.Run(t.Context(), c, conversations(pingPong("talk/long", 4001)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Decisions != 10 || asked < 10*15 || asked > 10*21 {
		t.Errorf("%d decisions, asked %d times", r.Decisions, asked)
	}
	if messages < 3000 {
		t.Errorf("got %d messages", messages)
	}
}

// TestSampleSimulation: a simulation takes no sample.
func TestSampleSimulation(t *testing.T) {
	c := replay.Config{Policies: []drive.Policy{{Name: "mostActive", Proposer: mostActive{}}}, Simulate: true, Sample: 2}
	r, err := replay.Run(t.Context(), c, conversations(agents()))
	if err != nil || r.SampleOf != 0 || r.Policies[0].Decisions < 3 {
		t.Errorf("%v: %+v", err, r)
	}
}
