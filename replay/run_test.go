package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
)

// TestInputs tests what a policy gets at each decision point of a conversation.
func TestInputs(t *testing.T) {
	var got []string
	p := native{decide: func(in *policy.Input) policy.Decision {
		var agents, messages []string
		for _, a := range in.Agents {
			agents = append(agents, fmt.Sprintf("%s:%v%s", a.ID, a.Eligible, a.Ineligible))
		}
		for _, e := range in.Events {
			if e.Said() {
				messages = append(messages, fmt.Sprintf("%s %q to %v addresses %v", e.From, e.Text, e.To, e.Addressed))
			}
		}
		got = append(got, fmt.Sprintf("%d init=%v %v %v left=%d state=%s", in.Decision, in.Init, agents, messages, in.Limits.TurnsLeft, in.State))
		d := policy.Decline("")
		d.State = policy.JSON(fmt.Sprint(in.Decision))
		return d
	}}
	c := replay.Config{Policies: []drive.Policy{{Name: "p", Proposer: p}}, Workers: 1, Repeat: 1000}
	if _, err := replay.Run(t.Context(), c, conversations(small())); err != nil {
		t.Fatal(err)
	}
	got = slices.Compact(got) // the first decision is made twice
	want := []string{
		`1 init=true [bob:true ann:falsespoke last cid:true] [ann "bob, please" to [bob] addresses [bob]] left=-1 state=`,
		`2 init=false [bob:falsespoke last ann:true cid:true] [bob "done" to [] addresses []] left=-1 state=1`,
		`3 init=false [bob:true ann:true cid:falsespoke last] [cid "I saw it" to [] addresses []] left=-1 state=2`,
		`4 init=false [bob:true ann:falsespoke last cid:true] [ann "thanks\ncid?" to [] addresses [cid]] left=-1 state=3`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("inputs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestImportedRoom: a room in which no policy decided, such as an imported one,
// is replayed like a conversation.
func TestImportedRoom(t *testing.T) {
	plain := readBack(t, baselines(), small())
	imported := eventsOf(t, small())
	r, err := replay.Run(t.Context(), replay.Config{Policies: baselines()}, rooms(imported))
	if err != nil {
		t.Fatal(err)
	}
	if r.Points != "merged turns" || r.Decisions != plain.Decisions {
		t.Errorf("%d decisions at %s, want %d", r.Decisions, r.Points, plain.Decisions)
	}
	for i, p := range r.Policies {
		if p.Hits != plain.Policies[i].Hits {
			t.Errorf("%s: %v hits, want %v", p.Policy, p.Hits, plain.Policies[i].Hits)
		}
	}
	if _, err := drive.Check(t.Context(), nil, rooms(imported)); !errors.Is(err, drive.ErrNotRecorded) {
		t.Errorf("checked: %v", err)
	}
}

// eventsOf is a conversation as the log of a room.
func eventsOf(t *testing.T, c *history.Conversation) []room.Event {
	t.Helper()
	h, err := history.Open(history.Transcript{Name: c.ID, Conversation: c})
	if err != nil {
		t.Fatal(err)
	}
	var all []room.Event
	for e, err := range h.Events() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// TestReportDeterministic: the report does not depend on the number of workers.
func TestReportDeterministic(t *testing.T) {
	var all []*history.Conversation
	for i := range 40 {
		c := small()
		c.ID = fmt.Sprintf("talk/%d", i)
		c.Turns = c.Turns[:3+i%4]
		all = append(all, c)
	}
	var want string
	for workers := range 4 {
		r, err := replay.Run(t.Context(), replay.Config{Policies: baselines(), Workers: workers + 1, Resamples: 100}, conversations(all...))
		if err != nil {
			t.Fatal(err)
		}
		r.Seconds = 0
		for i := range r.Policies {
			r.Policies[i].P50, r.Policies[i].P99, r.Policies[i].Times = 0, 0, nil
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(b)
		} else if string(b) != want {
			t.Errorf("%d workers give another report", workers+1)
		}
	}
}

// TestRepeat: a policy that decides differently the second time is reported.
func TestRepeat(t *testing.T) {
	n := 0
	unstable := native{decide: func(in *policy.Input) policy.Decision {
		n++
		return policy.Decline(fmt.Sprintf("decision %d", n))
	}}
	r, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{{Name: "unstable", Proposer: unstable}}, Repeat: 1, Workers: 1}, conversations(small()))
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Policies[0]; p.Repeated != 4 || p.Differing != 4 {
		t.Errorf("%d of %d differ", p.Differing, p.Repeated)
	}
	var b bytes.Buffer
	if err := r.WriteText(&b, false); err != nil || !strings.Contains(b.String(), "NO: 4 of 4 differ") {
		t.Errorf("missing in the text: %v\n%s", err, b.String())
	}
}

func TestRunFails(t *testing.T) {
	one := drive.Policy{Name: "aba", Baseline: "ABA"}
	if _, err := replay.Run(t.Context(), replay.Config{}, conversations(small())); !errors.Is(err, drive.ErrNoPolicies) {
		t.Errorf("no policies: %v", err)
	}
	if _, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{one, one}}, conversations(small())); err == nil {
		t.Error("the same name twice: no error")
	}
	bad := errors.New("line 3")
	_, err := replay.Run(t.Context(), replay.Config{Policies: []drive.Policy{one}}, func(yield func(history.Transcript, error) bool) {
		_ = yield(history.Transcript{Name: "t", Conversation: small()}, nil) && yield(history.Transcript{}, bad)
	})
	if !errors.Is(err, bad) {
		t.Errorf("bad transcript: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := native{decide: func(*policy.Input) policy.Decision { cancel(); return policy.Decline("stop") }}
	endless := func(yield func(history.Transcript, error) bool) {
		for yield(history.Transcript{Name: "t", Conversation: small()}, nil) {
		}
	}
	if _, err := replay.Run(ctx, replay.Config{Policies: []drive.Policy{{Name: "stop", Proposer: stop}}}, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestEmptyReport(t *testing.T) {
	r, err := replay.Run(t.Context(), replay.Config{Policies: baselines("round-robin")}, conversations())
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(b), `"accuracy":null`) {
		t.Errorf("%v: %s", err, b)
	}
	if err := r.WriteText(&bytes.Buffer{}, false); err != nil {
		t.Error(err)
	}
}
