package plan_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/plan"
)

// states are all states of tasks.
var states = []plan.State{plan.Submitted, plan.Working, plan.InputRequired, plan.AuthRequired, plan.Completed, plan.Failed, plan.Canceled, plan.Rejected}

// workers own tasks in these tests.
var workers = []string{"w", "v"}

func owner(name string) (string, bool) {
	if name == "worker" {
		return "w", true
	}
	return name, slices.Contains(workers, name)
}

// TestStates checks the transitions of tasks: one that has ended stays as it is.
func TestStates(t *testing.T) {
	for _, from := range states {
		for _, to := range append(states, "done", "") {
			want := slices.Contains(states, to) && (from == to || !from.Ended())
			if got := from.May(to); got != want {
				t.Errorf("%s may become %q: %t", from, to, got)
			}
		}
	}
	if got := slices.DeleteFunc(slices.Clone(states), plan.State.Ended); !slices.Equal(got, states[:4]) {
		t.Errorf("open states are %v", got)
	}
}

// change applies a message to p and returns the code of the refusal.
func change(t *testing.T, p *plan.Plan, m plan.Post) string {
	t.Helper()
	before, _ := json.Marshal(p)
	m.Owner = owner
	c, err := p.Change(m)
	if after, _ := json.Marshal(p); string(after) != string(before) {
		t.Fatalf("Change has changed the plan from\n%s to\n%s", before, after)
	}
	if err != nil {
		coded, ok := err.(problem.Coded)
		if !ok {
			t.Fatalf("%v has no code", err)
		}
		return coded.ErrorCode()
	}
	if c != nil {
		p.Apply(stored(t, *c))
	}
	return ""
}

// stored returns c as the log returns it.
func stored(t *testing.T, c plan.Change) plan.Change {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back plan.Change
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// TestBounds checks each bound of a payload at its limit and over it.
func TestBounds(t *testing.T) {
	tasks := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(`{"id":"t%d","title":"x"}`, i))
		}
		return strings.Join(out, ",")
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	items := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf("%q", fmt.Sprint("c", i)))
		}
		return strings.Join(out, ",")
	}
	for name, c := range map[string]struct {
		kind     string
		fit, not string
	}{
		"tasks":       {kinds.IntentBrief, `{"tasks":[` + tasks(plan.MaxTasks) + `]}`, `{"tasks":[` + tasks(plan.MaxTasks+1) + `]}`},
		"proposed":    {kinds.PlanUpdate, `{"tasks":[` + tasks(plan.MaxProposed) + `]}`, `{"tasks":[` + tasks(plan.MaxProposed+1) + `]}`},
		"objective":   {kinds.IntentBrief, `{"intent":{"objective":"` + x(4000) + `"}}`, `{"intent":{"objective":"` + x(4001) + `"}}`},
		"item":        {kinds.IntentBrief, `{"intent":{"targets":["` + x(300) + `"]}}`, `{"intent":{"targets":["` + x(301) + `"]}}`},
		"items":       {kinds.IntentBrief, `{"intent":{"constraints":[` + items(50) + `]}}`, `{"intent":{"constraints":[` + items(51) + `]}}`},
		"empty item":  {kinds.IntentBrief, `{"intent":{"approvals":["a"]}}`, `{"intent":{"approvals":[" "]}}`},
		"same":        {kinds.IntentBrief, `{"intent":{"acceptance_criteria":["a","b"]}}`, `{"intent":{"acceptance_criteria":["a","A."]}}`},
		"title":       {kinds.IntentBrief, `{"tasks":[{"id":"t","title":"` + x(200) + `"}]}`, `{"tasks":[{"id":"t","title":"` + x(201) + `"}]}`},
		"empty title": {kinds.IntentBrief, `{"tasks":[{"id":"t","title":"x"}]}`, `{"tasks":[{"id":"t","title":" "}]}`},
		"reason":      {kinds.IntentBrief, `{"tasks":[{"id":"t","title":"x","reason":"` + x(300) + `"}]}`, `{"tasks":[{"id":"t","title":"x","reason":"` + x(301) + `"}]}`},
		"id":          {kinds.IntentBrief, `{"tasks":[{"id":"` + x(64) + `","title":"x"}]}`, `{"tasks":[{"id":"` + x(65) + `","title":"x"}]}`},
		"id form":     {kinds.IntentBrief, `{"tasks":[{"id":"a.b-c_1","title":"x"}]}`, `{"tasks":[{"id":".a","title":"x"}]}`},
		"null":        {kinds.IntentBrief, `null`, `[]`},
		"depth":       {kinds.IntentBrief, `{"tasks":[{"id":"t","title":"x","after":[]}]}`, `{"tasks":[{"id":"t","title":"x","after":[[[[]]]]}]}`},
		"case":        {kinds.IntentBrief, `{"tasks":[]}`, `{"Tasks":[]}`},
		"twice":       {kinds.IntentBrief, `{"tasks":[]}`, `{"tasks":[],"tasks":[]}`},
		"after":       {kinds.IntentBrief, `{"tasks":[` + tasks(2) + `,{"id":"u","title":"x","after":["t0","t1"]}]}`, `{"tasks":[{"id":"u","title":"x","after":["t0"]}]}`},
		"bundle":      {kinds.ResultBundle, `{}`, `{"state":"completed"}`},
		"cancel":      {kinds.Cancel, `{}`, `{"tasks":["t"]}`},
	} {
		if got := change(t, &plan.Plan{}, plan.Post{ID: "m", Kind: c.kind, From: "w", Payload: []byte(c.fit)}); got != "" {
			t.Errorf("%s: %s at the limit", name, got)
		}
		p := &plan.Plan{}
		if got := change(t, p, plan.Post{ID: "m", Kind: c.kind, From: "w", Payload: []byte(c.not)}); got != "ROOM-PLAN" || !reflect.DeepEqual(p, &plan.Plan{}) {
			t.Errorf("%s: %q over the limit, and the plan is %+v", name, got, p)
		}
	}
}

// TestProposalsAreBounded checks that workers cannot fill the plan with proposals.
func TestProposalsAreBounded(t *testing.T) {
	p := &plan.Plan{}
	for i := range 30 {
		got := change(t, p, plan.Post{ID: fmt.Sprint("p", i), Kind: kinds.PlanUpdate, From: "w", Payload: []byte(`{"tasks":[{"id":"t","title":"x"}]}`)})
		if want := map[bool]string{true: "", false: "ROOM-PLAN"}[i < 20]; got != want {
			t.Errorf("proposal %d: %q", i, got)
		}
	}
}

// TestCriteria checks that criteria keep their state while their text stays, and that a
// result needs evidence and a known criterion.
func TestCriteria(t *testing.T) {
	p := &plan.Plan{}
	do := func(kind, from, payload, want string) {
		t.Helper()
		if got := change(t, p, plan.Post{ID: "m", Kind: kind, From: from, Payload: []byte(payload)}); got != want {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
	do(kinds.ResultBundle, "w", `{"results":[{"criterion":"a","met":true,"evidence":"x"}]}`, "ROOM-PLAN")
	do(kinds.IntentBrief, "m", `{"intent":{"acceptance_criteria":["All tests pass.","b"]}}`, "")
	do(kinds.ResultBundle, "w", `{"results":[{"criterion":"c","met":true,"evidence":"x"}]}`, "ROOM-PLAN")
	do(kinds.ResultBundle, "w", `{"results":[{"criterion":"b","met":true}]}`, "ROOM-PLAN")
	do(kinds.ResultBundle, "w", `{"results":[{"criterion":"all  tests pass","met":true,"evidence":"x"}]}`, "")
	do(kinds.IntentBrief, "m", `{"intent":{"acceptance_criteria":["All tests pass.","b"]}}`, "") // the same: no new version
	do(kinds.Decision, "m", `{"intent":{"acceptance_criteria":["b","All tests pass."]},"waive":["b"]}`, "")
	want := []plan.Criterion{
		{Number: 1, Text: "b", Waived: true, By: "m", Message: "m"},
		{Number: 2, Text: "All tests pass.", Met: true, Evidence: "x", By: "w", Message: "m"},
	}
	if got := p.Judged(); p.Intent.Version != 2 || !slices.Equal(got, want) {
		t.Errorf("version %d, %+v", p.Intent.Version, got)
	}
	do(kinds.Decision, "m", `{"results":[{"criterion":"All tests pass.","met":false}]}`, "") // the manager does not believe it
	do(kinds.FinalResponse, "m", "", "ROOM-UNMET")
	do(kinds.Decision, "m", `{"waive":["All tests pass."]}`, "")
	do(kinds.FinalResponse, "m", "", "")
	do(kinds.Decision, "m", `{"waive":["b"]}`, "ROOM-PLAN")
}

// TestOneClaimWins lets two workers claim one task 10,000 times in each order.
func TestOneClaimWins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 10_000 {
		p := &plan.Plan{Tasks: []plan.Task{{ID: "t", Title: "x", State: plan.Submitted}}}
		order := slices.Clone(workers)
		rng.Shuffle(2, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for n, by := range order {
			c, err := p.Claim("t", by, time.Duration(i))
			if (err == nil) != (n == 0) || n == 1 && err.(problem.Coded).ErrorCode() != "ROOM-CLAIMED" {
				t.Fatalf("%s, as number %d: %v", by, n, err)
			}
			if c != nil {
				p.Apply(stored(t, *c))
			}
		}
		if got := p.Tasks[0]; got.Owner != order[0] || got.State != plan.Working || got.Title != "x" {
			t.Fatalf("the task is %+v, and %s was the first", got, order[0])
		}
	}
}

// TestRandomMessages sends random messages and checks after each that only the allowed
// ones change tasks, and that the plan keeps its bounds.
func TestRandomMessages(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		p := &plan.Plan{}
		for step := range 200 {
			m, claims := randomPost(rng, step), false
			before := tasksOf(t, p)
			if rng.IntN(6) == 0 {
				claims, m.Kind = true, "claim"
				if c, err := p.Claim(fmt.Sprint("t", rng.IntN(5)), m.From, m.At); err == nil && c != nil {
					p.Apply(stored(t, *c))
				}
			} else {
				change(t, p, m)
			}
			checkStep(t, p, before, m, claims)
			if t.Failed() {
				t.Fatalf("seed %d, step %d: %+v %s", seed, step, m, m.Payload)
			}
		}
	}
}

func tasksOf(t *testing.T, p *plan.Plan) map[string]plan.Task {
	t.Helper()
	out := map[string]plan.Task{}
	for _, x := range p.Tasks {
		out[x.ID] = x
	}
	return out
}

// checkStep checks what a message has changed.
func checkStep(t *testing.T, p *plan.Plan, before map[string]plan.Task, m plan.Post, claims bool) {
	for _, x := range p.Tasks {
		was, known := before[x.ID]
		if known && reflect.DeepEqual(was, x) {
			continue
		}
		decides := m.From == "m"
		switch {
		case !decides && !claims && m.Kind != kinds.ResultBundle && m.Kind != kinds.Blocker && m.Kind != kinds.ClarificationRequest:
			t.Errorf("a %s of %s changes task %s", m.Kind, m.From, x.ID)
		case !decides && !claims && was.Owner != m.From:
			t.Errorf("%s changes task %s, which is of %q", m.From, x.ID, was.Owner)
		case claims && was.Owner != "" && was.Owner != m.From:
			t.Errorf("%s has claimed task %s of %s", m.From, x.ID, was.Owner)
		case known && was.State.Ended() && was.State != x.State:
			t.Errorf("task %s has ended and becomes %s", x.ID, x.State)
		case x.Title == "":
			t.Errorf("task %s has no title", x.ID)
		}
	}
	if len(p.Tasks) > plan.MaxTasks || len(p.Tasks) < len(before) {
		t.Errorf("%d tasks after %d", len(p.Tasks), len(before))
	}
	if p.Intent != nil && len(p.Criteria) != len(p.Intent.Acceptance) {
		t.Errorf("%d criteria have a state, of %d", len(p.Criteria), len(p.Intent.Acceptance))
	}
	done := map[string]bool{}
	for range p.Tasks { // an order in which the tasks can be worked on
		for _, x := range p.Tasks {
			if !slices.ContainsFunc(x.After, func(id string) bool { return !done[id] }) {
				done[x.ID] = true
			}
		}
	}
	if len(done) != len(p.Tasks) {
		t.Error("tasks wait for each other")
	}
}

// randomPost returns a message whose kind and sender the table of kinds allows. Its
// payload may be that of another kind.
func randomPost(rng *rand.Rand, n int) plan.Post {
	of := []string{kinds.IntentBrief, kinds.Decision, kinds.ClarificationReply, kinds.Cancel, kinds.StatusCheck}
	from := "m"
	if rng.IntN(2) == 0 {
		of = []string{kinds.PlanUpdate, kinds.ResultBundle, kinds.Blocker, kinds.ClarificationRequest, kinds.StatusReply, kinds.ToolResult, kinds.Utterance}
		from = workers[rng.IntN(2)]
	}
	id := func() string { return fmt.Sprint("t", rng.IntN(5)) }
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	task := func() string {
		out := `{"id":"` + id() + `"`
		if rng.IntN(3) > 0 {
			out += `,"title":"x"`
		}
		if rng.IntN(2) == 0 {
			out += `,"owner":"` + pick("", "w", "v", "worker", "m", "nobody") + `"`
		}
		if rng.IntN(3) == 0 {
			out += `,"after":["` + id() + `"]`
		}
		if rng.IntN(3) == 0 {
			out += `,"state":"` + string(states[rng.IntN(len(states))]) + `"`
		}
		return out + "}"
	}
	ref := func() string { return fmt.Sprint("m", max(0, n-1-rng.IntN(8))) }
	payload := pick(
		`{"tasks":[`+task()+`]}`, `{"tasks":[`+task()+`,`+task()+`]}`, `{"task":"`+id()+`"}`, `{"task":"`+id()+`","state":"`+string(states[rng.IntN(len(states))])+`"}`,
		`{"accept":["`+ref()+`"]}`, `{"reject":["`+ref()+`"]}`, `{"intent":{"acceptance_criteria":["a","`+id()+`"]}}`, `{"results":[{"criterion":"a","met":true,"evidence":"e"}]}`,
		`{"waive":["`+id()+`"]}`, ``, `[`, `{"text":"decision: cancel t1"}`,
	)
	return plan.Post{ID: fmt.Sprint("m", n), Kind: of[rng.IntN(len(of))], From: from, To: "w", Answers: []string{ref()}, Payload: []byte(payload), At: time.Duration(n), Owner: owner}
}

// FuzzChange checks that no payload panics or leaves a plan that cannot be stored.
func FuzzChange(f *testing.F) {
	for _, s := range []string{`{"intent":{"acceptance_criteria":["a"]},"tasks":[{"id":"t","title":"x","after":["t"]}]}`, `{"task":"t","results":[{"criterion":"a","met":true,"evidence":"e"}]}`, `{"accept":["m"]}`, `[`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		p := &plan.Plan{Tasks: []plan.Task{{ID: "t", Title: "x", Owner: "w", State: plan.Working}}}
		for _, kind := range []string{kinds.IntentBrief, kinds.PlanUpdate, kinds.Blocker, kinds.Decision, kinds.ClarificationReply, kinds.ResultBundle, kinds.Cancel, kinds.FinalResponse} {
			from := "m"
			if r, _ := kinds.Of(kind); r.From&kinds.Worker != 0 {
				from = "w"
			}
			change(t, p, plan.Post{ID: "m", Kind: kind, From: from, Payload: []byte(payload)})
		}
	})
}
