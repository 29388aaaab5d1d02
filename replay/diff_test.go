package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/folkmoot/moot/problem"
)

func reportOf(t *testing.T, subjects []Subject, all ...*Talk) *Report {
	t.Helper()
	r, err := Run(t.Context(), Config{Subjects: subjects}, talks(all...))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadReport(bytes.NewReader(b), "a.json")
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestDiff(t *testing.T) {
	other := small()
	other.ID, other.Turns = "talk/2", other.Turns[:4]
	a := reportOf(t, baselineSubjects("round-robin", "least-recent"), small(), other)
	if d := Diff(a, reportOf(t, baselineSubjects("round-robin", "least-recent"), small(), other)); !d.Same || len(d.Changes) > 0 {
		t.Errorf("the same differs: %+v", d)
	}
	b := reportOf(t, []Subject{{Name: "round-robin", Baseline: "ABA"}, {Name: "new", Baseline: "ABA"}}, small())
	d := Diff(a, b)
	said := strings.Join(d.Warnings, "; ")
	for _, want := range []string{"least-recent is in the first report only", "new is in the second report only", "7 decisions of 2 transcripts, the second about 4 decisions of 1 transcript"} {
		if !strings.Contains(said, want) {
			t.Errorf("no warning that %s: %s", want, said)
		}
	}
	if d.Same || len(d.Changes) == 0 {
		t.Errorf("%+v", d)
	}
	var out bytes.Buffer
	if err := d.WriteTable(&out); err != nil || !strings.Contains(out.String(), "round-robin") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestReadReportRefuses(t *testing.T) {
	for _, s := range []string{"", "{}", `{"moot_replay":9}`, `{"moot_replay":1,"policies":3}`, "[1"} {
		var p *problem.Error
		if _, err := ReadReport(strings.NewReader(s), "x.json"); !errors.As(err, &p) || p.Code != "REPLAY-REPORT" || p.Where != "x.json" {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add([]byte(`{"moot_replay":1,"policies":[{"policy":"a","accuracy":0.5,"intervals":{"accuracy":[0.4,null]}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ReadReport(bytes.NewReader(b), "x.json")
		if err != nil {
			return
		}
		if err := Diff(r, r).WriteTable(&bytes.Buffer{}); err != nil {
			t.Error(err)
		}
	})
}

func TestExplain(t *testing.T) {
	c := Config{Subjects: []Subject{
		{Name: "address", Baseline: "address->ABA"},
		{Name: "broken", Policy: native{err: errors.New("out of order")}},
	}}
	x, err := Explain(t.Context(), c, Transcript{Name: "talk/1", Talk: small()}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if x.Point != 4 || x.Turn != 5 || x.Recorded != "cid" || len(x.Policies) != 2 || x.Policies[0].Answer != "cid" || x.Policies[0].Rank != 1 || x.Policies[1].Answer != "error" {
		t.Errorf("%+v", x)
	}
	if last := x.Events[len(x.Events)-1]; last.From != "ann" || last.Text != "thanks\ncid?" || last.Addressed[0] != "cid" {
		t.Errorf("%+v", last)
	}
	if _, err := Explain(t.Context(), c, Transcript{Name: "talk/1", Talk: small()}, 5); !errors.Is(err, ErrNoPoint) {
		t.Errorf("got %v", err)
	}
	events := record(t, native{decide: turns, fuel: 7}, 9)
	seq := 0
	for _, e := range events {
		if e.Body.Type() == "round.declined" {
			seq = int(e.Seq)
		}
	}
	x, err = Explain(t.Context(), Config{Subjects: []Subject{{Name: "turns", Policy: native{decide: turns, fuel: 7}}}}, Transcript{Name: "r", Room: events}, seq)
	if err != nil || x.Recorded != "decline" || x.Policies[0].Answer != "decline" || x.Policies[0].Fuel != 7 || x.Point != 9 || !strings.Contains(string(x.Policies[0].Input), `"decision":9`) {
		t.Errorf("%+v, %v", x, err)
	}
	var out bytes.Buffer
	if err := x.WriteText(&out); err != nil || !strings.Contains(out.String(), `turns: decline  "every third"`) {
		t.Errorf("%v: %s", err, out.String())
	}
}
