package room_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/plan"
)

// A modelTask is a task of the plan as the model knows it.
type modelTask struct {
	id, owner string
	state     plan.State
	after     string // the task that it waits for
}

// A planModel states who may claim a task and what follows: one owner, who begins it
// when nothing is before it.
type planModel struct {
	*rapid.T
	s     room.State
	tasks []*modelTask
	n     int
}

// TestPlanModel gives random claims, decisions, results and changes of seats to a room
// with a manager and two workers and to the model, and compares what is allowed, the
// plan, and the open tasks that the policy is given.
func TestPlanModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &planModel{T: rt}
		seats := []room.Participant{
			{ID: "m", Kind: policy.Local, Role: "manager", Mode: room.FullAuto},
			{ID: "v", Kind: policy.Local, Role: "worker", Mode: room.FullAuto},
			{ID: "w", Kind: policy.Local, Role: "specialist:db", Mode: room.FullAuto},
			{ID: "o", Kind: policy.Local, Mode: room.FullAuto},
			{ID: "me", Kind: policy.Human},
		}
		limits := room.Limits{MaxInternal: 1000, SameText: 1000, PairRate: 1_000_000, PairBurst: 1000, MaxRing: 1000, MaxPingPong: 1000}
		m.do(room.ActorHost, room.Open{Spec: room.Spec{Room: "r", Objective: "x", Limits: limits}, Participants: seats})
		for range rapid.IntRange(5, 60).Draw(rt, "steps") {
			m.step()
			m.check()
		}
	})
}

// do gives a command, and reports whether it was allowed.
func (m *planModel) do(actor string, do room.Act) bool {
	m.n++
	evs, err := m.s.Decide(room.Command{ID: fmt.Sprint("c", m.n), Actor: actor, Do: do}, room.Now{Clock: time.Duration(m.n) * time.Second})
	for _, e := range evs {
		if why := m.s.Follows(e); why != "" && e.Seq > 1 {
			m.Fatalf("%T: %s", do, why)
		}
		m.s.Apply(e)
	}
	return err == nil && room.Refusal(evs) == nil
}

// says has an agent post a message with a payload.
func (m *planModel) says(from, to, kind, payload string) bool {
	return m.do(from, room.Posted{Message: room.Message{Kind: kind, To: to, Text: fmt.Sprint("message ", m.n), Payload: []byte(payload)}})
}

func (m *planModel) step() {
	draw := func(list ...string) string { return rapid.SampledFrom(list).Draw(m.T, "x") }
	who, id := draw("v", "v", "w", "w", "o", "m", "me", "ghost"), draw("t0", "t1", "t2", "t9")
	switch draw("task", "claim", "claim", "claim", "end", "cancel", "seat", "run") {
	case "task":
		x := &modelTask{id: fmt.Sprint("t", len(m.tasks)), state: plan.Submitted, owner: draw("", "", "v", "w"), after: draw("", "t0")}
		if x.id == x.after || len(m.tasks) == 3 {
			return
		}
		after := ""
		if x.after != "" {
			after = `,"after":["` + x.after + `"]`
		}
		if m.says("m", draw("v", "w"), "decision", `{"tasks":[{"id":"`+x.id+`","title":"do it","owner":"`+x.owner+`"`+after+`}]}`) {
			m.tasks = append(m.tasks, x)
		}
	case "claim":
		if got, want := m.do(who, room.ClaimTask{Task: id}), m.claims(who, id); got != want {
			m.Fatalf("%s claims %s: allowed is %t, want %t; %+v", who, id, got, want, m.s.Plan.Tasks)
		}
	case "end":
		if x := m.task(id); m.says(who, "m", "result_bundle", `{"task":"`+id+`","state":"completed"}`) {
			if x == nil || x.owner != who || x.state == plan.Completed {
				m.Fatalf("%s ends %s: %+v", who, id, x)
			}
			x.state = plan.Completed
		}
	case "cancel":
		if x := m.task(id); m.says("m", draw("v", "w"), "cancel", `{"task":"`+id+`"}`) {
			x.state = plan.Canceled
		}
	case "seat":
		standing := rapid.SampledFrom([]room.Standing{room.Active, room.Active, room.Muted}).Draw(m.T, "standing")
		m.do("me", rapid.SampledFrom([]room.Act{
			room.SetStanding{Participant: "v", Standing: standing}, room.TakeOver{Participant: "w"}, room.Release{Participant: "w"}, room.Release{Participant: "w"},
		}).Draw(m.T, "act"))
	case "run":
		m.do("me", rapid.SampledFrom([]room.Act{room.Pause{}, room.Resume{}, room.Resume{}}).Draw(m.T, "act"))
	}
}

func (m *planModel) task(id string) *modelTask {
	if i := slices.IndexFunc(m.tasks, func(x *modelTask) bool { return x.id == id }); i >= 0 {
		return m.tasks[i]
	}
	return nil
}

func (m *planModel) ended(id string) bool {
	x := m.task(id)
	return x != nil && (x.state == plan.Completed || x.state == plan.Canceled)
}

// claims states who may claim a task, and what follows.
func (m *planModel) claims(who, id string) bool {
	seat, _ := m.s.Seat(who)
	if who != "v" && who != "w" || seat.Standing != room.Active || seat.TakenBy != "" || m.s.Phase != room.PhaseLive {
		return false
	}
	x := m.task(id)
	if x == nil || x.owner != "" && x.owner != who || m.ended(id) {
		return false
	}
	x.owner = who
	if x.after == "" || m.done(x.after) {
		x.state = plan.Working
	}
	return true
}

// done reports whether a task does not hold up those after it.
func (m *planModel) done(id string) bool { return m.task(id) == nil || m.ended(id) }

// check compares the plan, and what the policy is given of it.
func (m *planModel) check() {
	var got, want []modelTask
	for _, x := range m.s.Plan.Tasks {
		after := ""
		if len(x.After) > 0 {
			after = x.After[0]
		}
		got = append(got, modelTask{x.ID, x.Owner, x.State, after})
	}
	for _, x := range m.tasks {
		want = append(want, *x)
	}
	if !reflect.DeepEqual(got, want) {
		m.Fatalf("the plan is %+v, want %+v", got, want)
	}
	in, err := m.s.Input(m.s.Policy, 0, nil)
	if err != nil {
		m.Fatal(err)
	}
	for _, a := range in.Agents {
		var open []policy.Task
		for _, x := range m.tasks {
			if x.owner == a.ID && !m.ended(x.id) {
				p := policy.Task{ID: x.id, Title: "do it", State: string(x.state)}
				if x.after != "" && !m.done(x.after) {
					p.After = []string{x.after}
				}
				open = append(open, p)
			}
		}
		if !reflect.DeepEqual(a.Tasks, open) {
			m.Fatalf("the policy is given %+v of %s, want %+v", a.Tasks, a.ID, open)
		}
	}
}
