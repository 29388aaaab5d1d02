package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// small is a talk of three with two turns to merge.
func small() *Talk {
	return &Talk{
		ID:           "talk/1",
		Participants: []Person{{ID: "cid", Kind: KindAgent}, {ID: "ann", Kind: KindHuman}, {ID: "bob", Kind: KindTool}},
		Turns: []Turn{
			{Speaker: "ann", Text: "bob, please", To: []string{"bob"}},
			{Speaker: "bob", Text: "done"},
			{Speaker: "cid", Text: "I saw it"},
			{Speaker: "ann", Text: "thanks", To: []string{"cid"}},
			{Speaker: "ann", Text: "cid?", To: []string{"bob", "ann"}},
			{Speaker: "cid", Text: "yes"},
		},
	}
}

func talks(all ...*Talk) iter.Seq2[Transcript, error] {
	return func(yield func(Transcript, error) bool) {
		for _, t := range all {
			if !yield(Transcript{Name: t.ID, Talk: t}, nil) {
				return
			}
		}
	}
}

func TestMerging(t *testing.T) {
	var got []string
	for turn, err := range merge(small().chat().turns) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %q %v", turn.Speaker, turn.Text, turn.To))
	}
	want := `ann "bob, please" [bob] bob "done" [] cid "I saw it" [] ann "thanks\ncid?" [cid bob ann] cid "yes" []`
	if s := strings.Join(got, " "); s != want {
		t.Errorf("merged to\n%s, want\n%s", s, want)
	}
	talk := small()
	c := talk.chat()
	c.order()
	if ids := fmt.Sprint(c.people); ids != "[{ann  human } {bob  tool } {cid  agent }]" || talk.Participants[0].ID != "cid" {
		t.Errorf("roster %s of %v", ids, talk.Participants)
	}
	if got := talk.Turns[3].To; len(got) != 1 {
		t.Errorf("merging changed the talk: %v", got)
	}
	two := small()
	two.Participants = two.Participants[:2]
	one := small()
	one.Turns = []Turn{{Speaker: "ann"}, {Speaker: "ann"}}
	for _, dull := range []*Talk{two, one} {
		if h, err := (Transcript{Talk: dull}).history(); h != nil || err != nil {
			t.Errorf("a talk of two, or a monologue, is not left out: %v", err)
		}
	}
}

// logOf is a talk as the log of a room.
func logOf(t *testing.T, talk *Talk) []room.Event {
	t.Helper()
	c := talk.chat()
	c.order()
	var all []room.Event
	for e, err := range c.events(func([]string) {}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// TestInputs: what a policy is given at each decision point of a talk.
func TestInputs(t *testing.T) {
	var got []string
	look := native{decide: func(in *policy.Input) policy.Decision {
		var agents, said []string
		for _, a := range in.Agents {
			agents = append(agents, fmt.Sprintf("%s:%v%s", a.ID, a.Eligible, a.Ineligible))
		}
		for _, e := range in.Events {
			if e.Said() {
				said = append(said, fmt.Sprintf("%s %q to %v addresses %v", e.From, e.Text, e.To, e.Addressed))
			}
		}
		got = append(got, fmt.Sprintf("%d init=%v %v %v left=%d state=%s", in.Decision, in.Init, agents, said, in.Limits.TurnsLeft, in.State))
		d := policy.Decline("")
		d.State = policy.JSON(fmt.Sprint(in.Decision))
		return d
	}}
	if _, err := Run(t.Context(), Config{Subjects: []Subject{{Name: "look", Policy: look}}, Workers: 1, Repeat: 1000}, talks(small())); err != nil {
		t.Fatal(err)
	}
	got = slices.Compact(got) // the first decision is made twice
	want := []string{
		`1 init=true [ann:falsespoke last bob:true cid:true] [ann "bob, please" to [bob] addresses [bob]] left=-1 state=`,
		`2 init=false [ann:true bob:falsespoke last cid:true] [bob "done" to [] addresses []] left=-1 state=1`,
		`3 init=false [ann:true bob:true cid:falsespoke last] [cid "I saw it" to [] addresses []] left=-1 state=2`,
		`4 init=false [ann:falsespoke last bob:true cid:true] [ann "thanks\ncid?" to [] addresses [cid]] left=-1 state=3`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("inputs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRoomWithoutRounds: a room in which no policy decided, such as an imported
// one, is replayed like the talk that it is.
func TestRoomWithoutRounds(t *testing.T) {
	plain := reportOf(t, baselineSubjects(), small())
	imported := logOf(t, small())
	r, err := Run(t.Context(), Config{Subjects: baselineSubjects()}, rooms(imported))
	if err != nil {
		t.Fatal(err)
	}
	if r.Points != "merged turns" || r.Decisions != plain.Decisions {
		t.Errorf("%d decisions at %s, want %d", r.Decisions, r.Points, plain.Decisions)
	}
	for i, p := range r.Policies {
		if p.Hits != plain.Policies[i].Hits {
			t.Errorf("%s: %d hits, want %d", p.Policy, p.Hits, plain.Policies[i].Hits)
		}
	}
	if _, err := Check(t.Context(), nil, rooms(imported)); !errors.Is(err, ErrNotRecorded) {
		t.Errorf("checked: %v", err)
	}
}

// TestRank: choice, then score, then recency with never spoken last, then
// byte order.
func TestRank(t *testing.T) {
	h := &history{index: map[string]int{}}
	p := &point{h: h, when: []int{0, 0, 9, 5, 7}, candidates: []int{0, 1, 3, 4}}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		h.sit(seat{id: id, agent: true, may: true})
	}
	h.order()
	order := func(d policy.Decision) string {
		var ids [6]string
		for i, s := range h.seats {
			if i != 2 {
				ids[p.rank(&d, 1, i)] = s.id
			}
		}
		return strings.Join(ids[1:], "")
	}
	speak := policy.Speak("b", "")
	if got := order(speak); got != "beda" {
		t.Errorf("without scores: %s", got)
	}
	speak.Scores = []policy.Score{{Agent: "a", Score: 1}, {Agent: "d", Score: 1}, {Agent: "b", Score: -3}}
	if got := order(speak); got != "bdae" {
		t.Errorf("with scores: %s", got)
	}
	if d := policy.Decline("no"); p.rank(&d, 1, 0) != 0 {
		t.Error("a decline ranks somebody")
	}
}

// TestReportIsTheSame whoever is first, and whatever the number of workers.
func TestReportIsTheSame(t *testing.T) {
	var all []*Talk
	for i := range 40 {
		talk := small()
		talk.ID = fmt.Sprintf("talk/%d", i)
		talk.Turns = talk.Turns[:3+i%4]
		all = append(all, talk)
	}
	var want string
	for workers := range 4 {
		r, err := Run(t.Context(), Config{Subjects: baselineSubjects(), Workers: workers + 1}, talks(all...))
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

// TestShuffledIDs: other ids for the same people move no figure by more than
// a point.
func TestShuffledIDs(t *testing.T) {
	figures := func(shuffle bool) map[string]float64 {
		rng := rand.New(rand.NewPCG(1, 2))
		r, err := Run(t.Context(), Config{Subjects: baselineSubjects(), Repeat: 1 << 20}, func(yield func(Transcript, error) bool) {
			for tr, err := range sharedTalks(t, "delidata") {
				if shuffle {
					rename(tr.Talk, rng)
				}
				if !yield(tr, err) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]float64{}
		for _, p := range r.Policies {
			m[p.Policy] = float64(p.Accuracy)
		}
		return m
	}
	plain := figures(false)
	for name, x := range figures(true) {
		// The two that go by byte order alone are about the ids.
		if name != "round-robin" && name != "least-recent" && math.Abs(x-plain[name]) > 0.01 {
			t.Errorf("%s: %.4f with other ids, %.4f with its own", name, x, plain[name])
		}
	}
}

// rename exchanges the ids of a talk's participants, in its texts too.
func rename(t *Talk, rng *rand.Rand) {
	var pairs []string
	ids := make([]string, len(t.Participants))
	for i, p := range t.Participants {
		ids[i] = p.ID
	}
	to := slices.Clone(ids)
	rng.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
	for i := range ids {
		pairs = append(pairs, ids[i], to[i], strings.ToLower(ids[i]), strings.ToLower(to[i]))
	}
	r := strings.NewReplacer(pairs...)
	for i := range t.Participants {
		t.Participants[i].ID = to[i]
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		turn.Speaker = to[slices.Index(ids, turn.Speaker)]
		turn.Text = r.Replace(turn.Text)
		for j, id := range turn.To {
			turn.To[j] = to[slices.Index(ids, id)]
		}
	}
}

// TestRunTwice: a policy that answers differently the second time is told on.
func TestRunTwice(t *testing.T) {
	n := 0
	moody := native{decide: func(in *policy.Input) policy.Decision {
		n++
		return policy.Decline(fmt.Sprintf("mood %d", n))
	}}
	r, err := Run(t.Context(), Config{Subjects: []Subject{{Name: "moody", Policy: moody}}, Repeat: 1, Workers: 1}, talks(small()))
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Policies[0]; p.Repeated != 4 || p.Differing != 4 {
		t.Errorf("%d of %d differ", p.Differing, p.Repeated)
	}
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil || !strings.Contains(b.String(), "NO: 4 of 4 differ") {
		t.Errorf("the table does not say so: %v\n%s", err, b.String())
	}
}

func TestRunFails(t *testing.T) {
	one := Subject{Name: "aba", Baseline: "ABA"}
	if _, err := Run(t.Context(), Config{}, talks(small())); err == nil {
		t.Error("no policies, no error")
	}
	if _, err := Run(t.Context(), Config{Subjects: []Subject{one, one}}, talks(small())); err == nil {
		t.Error("the same name twice, no error")
	}
	bad := errors.New("line 3")
	_, err := Run(t.Context(), Config{Subjects: []Subject{one}}, func(yield func(Transcript, error) bool) {
		_ = yield(Transcript{Name: "t", Talk: small()}, nil) && yield(Transcript{}, bad)
	})
	if !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := native{decide: func(*policy.Input) policy.Decision { cancel(); return policy.Decline("stop") }}
	endless := func(yield func(Transcript, error) bool) {
		for yield(Transcript{Name: "t", Talk: small()}, nil) {
		}
	}
	if _, err := Run(ctx, Config{Subjects: []Subject{{Name: "stop", Policy: stop}}}, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestEmptyReport(t *testing.T) {
	r, err := Run(t.Context(), Config{Subjects: baselineSubjects("round-robin")}, talks())
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(b), `"accuracy":null`) {
		t.Errorf("%v: %s", err, b)
	}
	if err := r.WriteTable(&bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}
