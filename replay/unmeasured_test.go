package replay_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/replay/score"
	"github.com/folkmoot/moot/room"
)

// bidder chooses the first eligible agent, and its manifest asks for bids.
func bidder() drive.Policy {
	p := drive.Policy{Name: "bidder", Proposer: native{decide: func(in *policy.Input) policy.Decision {
		for _, a := range in.Agents {
			if a.Eligible {
				return policy.Speak(a.ID, "first")
			}
		}
		return policy.Decline("none")
	}}}
	p.Ref.Needs.Bids = true
	return p
}

// TestNeedsBids: a policy that needs bids has no figures where none are
// recorded, and the report says so. The other policies keep theirs.
func TestNeedsBids(t *testing.T) {
	r, err := replay.Run(t.Context(), replay.Config{Policies: append(baselines("ABA"), bidder())}, conversations(small(), agents()))
	if err != nil {
		t.Fatal(err)
	}
	p := &r.Policies[1]
	for _, figure := range score.FigureNames() {
		x, _ := p.Figure(figure)
		if !x.IsNone() && !slices.Contains([]string{"errors", "differing", "p50_ms", "p99_ms"}, figure) {
			t.Errorf("%s is %v", figure, x)
		}
	}
	if r.Policies[0].Accuracy.IsNone() || r.Policies[0].Unmeasured != "" {
		t.Errorf("ABA: %+v", r.Policies[0])
	}
	b, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(b), `"unmeasured":"needs bids; none recorded"`) || !strings.Contains(string(b), `"accuracy":null`) || !strings.Contains(string(b), `"hits":null`) {
		t.Errorf("%v: %s", err, b)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text, false); err != nil || !strings.Contains(text.String(), "bidder needs bids; none recorded, so it has no figures") {
		t.Errorf("%v: %s", err, text.String())
	}
	if s := text.String(); strings.Contains(s, "bidder would have") || strings.Contains(s, "\nbidder  0") {
		t.Errorf("choices of bidder are shown:\n%s", s)
	}
	for _, k := range r.Kinds {
		if k.Right == "bidder" || k.Wrong == "bidder" {
			t.Errorf("decisions to read about bidder: %+v", k)
		}
	}
	for _, c := range r.Cases {
		if len(c.Kinds) == 0 || slices.Max(c.Kinds) >= len(r.Kinds) {
			t.Errorf("%s, %d is of the kinds %v", c.Transcript, c.Point, c.Kinds)
		}
	}
	if len(r.Cases) == 0 || len(r.Confusion[0].Rows) == 0 || len(r.Confusion[1].Rows) > 0 {
		t.Errorf("%d decisions to read, confusion %+v", len(r.Cases), r.Confusion)
	}
	if a := r.Agreement; a[0][1].IsNone() || !a[0][2].IsNone() || !a[2][1].IsNone() || !a[2][2].IsNone() {
		t.Errorf("agreement %v", a)
	}
	text.Reset()
	if err := r.WriteHTML(&text); err != nil || strings.Contains(text.String(), "bidder would have") {
		t.Errorf("%v: %s", err, text.String())
	}
}

// TestBidsRecorded: where the log has a bid, the policy is measured.
func TestBidsRecorded(t *testing.T) {
	events := record(t, native{decide: turns, fuel: 7}, 30)
	at := slices.IndexFunc(events, func(e room.Event) bool { _, ok := e.Body.(room.TurnGranted); return ok })
	bid := events[at]
	bid.Body = room.BidPosted{Participant: "zoe"}
	events = slices.Insert(events, at, bid)
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	r, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{bidder()}}, rooms(events))
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Policies[0]; p.Unmeasured != "" || p.Accuracy.IsNone() {
		t.Errorf("%+v", p)
	}
}

// TestOneChoosable: a simulation in which one participant can be chosen says so.
func TestOneChoosable(t *testing.T) {
	one := &history.Conversation{ID: "talk/1", Participants: []history.Participant{
		{ID: "cid", Kind: history.KindAgent}, {ID: "ann", Kind: history.KindHuman}, {ID: "bob", Kind: history.KindHuman},
	}}
	for _, id := range []string{"ann", "cid", "bob", "cid"} {
		one.Turns = append(one.Turns, history.Turn{Speaker: id, Text: "x"})
	}
	for _, c := range []struct {
		talks []*history.Conversation
		want  string
	}{
		{[]*history.Conversation{one}, "only one participant can be chosen here"},
		{[]*history.Conversation{one, agents()}, "in 1 of 2 transcripts only one participant can be chosen"},
		{[]*history.Conversation{agents()}, ""},
	} {
		r, err := replay.Run(t.Context(), replay.Config{Simulate: true, Policies: baselines("round-robin")}, conversations(c.talks...))
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(r.Notes, "; ")
		if c.want == "" && strings.Contains(notes, "only one participant") || !strings.Contains(notes, c.want) {
			t.Errorf("notes %q, want %q", notes, c.want)
		}
	}
}

// TestDiffOfModes: a what-if and a simulation share no figure.
func TestDiffOfModes(t *testing.T) {
	whatIf := readBack(t, baselines("round-robin"), agents())
	simulated, err := replay.Run(t.Context(), replay.Config{Simulate: true, Policies: baselines("round-robin")}, conversations(agents()))
	if err != nil {
		t.Fatal(err)
	}
	if d := report.Diff(whatIf, simulated); d.Compared != 0 || d.Same || len(d.Warnings) == 0 {
		t.Errorf("%+v", d)
	}
	if d := report.Diff(whatIf, whatIf); d.Compared == 0 || !d.Same {
		t.Errorf("%+v", d)
	}
	if d := report.Diff(whatIf, readBack(t, baselines("ABA"), agents())); d.Compared != 0 {
		t.Errorf("other policies: %+v", d)
	}
}
