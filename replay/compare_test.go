package replay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
)

// readBack replays the policies, writes the report as JSON and reads it again.
func readBack(t *testing.T, policies []drive.Policy, all ...*history.Conversation) *report.Report {
	t.Helper()
	r, err := replay.Run(t.Context(), replay.Config{Policies: policies}, conversations(all...))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := report.Read(bytes.NewReader(b), "a.json")
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestDiff(t *testing.T) {
	other := small()
	other.ID, other.Turns = "talk/2", other.Turns[:4]
	a := readBack(t, baselines("round-robin", "least-recent"), small(), other)
	if d := report.Diff(a, readBack(t, baselines("round-robin", "least-recent"), small(), other)); !d.Same || len(d.Changes) > 0 {
		t.Errorf("equal reports differ: %+v", d)
	}
	b := readBack(t, []drive.Policy{{Name: "round-robin", Baseline: "ABA"}, {Name: "new", Baseline: "ABA"}}, small())
	d := report.Diff(a, b)
	warnings := strings.Join(d.Warnings, "; ")
	for _, want := range []string{"least-recent is in the first report only", "new is in the second report only", "7 decisions of 2 transcripts, the second about 4 decisions of 1 transcript"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("no warning %q: %s", want, warnings)
		}
	}
	if d.Same || len(d.Changes) == 0 {
		t.Errorf("different reports are equal: %+v", d)
	}
	var out bytes.Buffer
	if err := d.WriteText(&out); err != nil || !strings.Contains(out.String(), "round-robin") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestExplainConversation(t *testing.T) {
	policies := []drive.Policy{
		{Name: "address", Baseline: "address->ABA"},
		{Name: "broken", Proposer: native{err: errors.New("out of order")}},
	}
	x, err := drive.Explain(t.Context(), policies, history.Transcript{Name: "talk/1", Conversation: small()}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if x.Point != 4 || x.Turn != 5 || x.Recorded != "cid" || len(x.Policies) != 2 || x.Policies[0].Answer != "cid" || x.Policies[0].Rank != 1 || x.Policies[1].Answer != "error" {
		t.Errorf("%+v", x)
	}
	if last := x.Events[len(x.Events)-1]; last.From != "ann" || last.Text != "thanks\ncid?" || last.Addressed[0] != "cid" {
		t.Errorf("%+v", last)
	}
	if _, err := drive.Explain(t.Context(), policies, history.Transcript{Name: "talk/1", Conversation: small()}, 5); !errors.Is(err, drive.ErrNoPoint) {
		t.Errorf("decision point 5: %v", err)
	}
}

func TestExplainRoom(t *testing.T) {
	ran := native{decide: turns, fuel: 7}
	events := record(t, ran, 9)
	seq := 0
	for _, e := range events {
		if e.Body.Type() == "round.declined" {
			seq = int(e.Seq)
		}
	}
	x, err := drive.Explain(t.Context(), []drive.Policy{{Name: "turns", Proposer: ran}}, history.Transcript{Name: "r", Room: events}, seq)
	if err != nil {
		t.Fatal(err)
	}
	p := x.Policies[0]
	if x.Recorded != "decline" || p.Answer != "decline" || p.Fuel != 7 || x.Point != 9 || !strings.Contains(string(p.Input), `"decision":9`) {
		t.Errorf("%+v", x)
	}
	var out bytes.Buffer
	if err := report.WriteExplanation(&out, x); err != nil || !strings.Contains(out.String(), `turns: decline  "every third"`) {
		t.Errorf("%v: %s", err, out.String())
	}
}
