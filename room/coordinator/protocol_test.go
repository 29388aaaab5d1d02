package coordinator_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/policies/inbox"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/log/memory"
	"github.com/folkmoot/moot/room/plan"
)

// protocol runs a room of a manager, a worker and a specialist, which follow scripts, with
// the policy inbox. A person speaks first.
func protocol(t *testing.T, scripts map[string]string) (*coordinator.Room, *memory.Log) {
	t.Helper()
	ps := agents("lead", "coder", "dba")
	ps[0].Role, ps[1].Role, ps[2].Role = "manager", "worker", "specialist:db"
	ps[1].Calls = room.CallsAllow
	l, p := &memory.Log{}, inbox.New(nil)
	cfg := config(l, func(in policy.Input) policy.Decision { return p.Decide(&in) }, nil)
	cfg.Endpoint = func(_ context.Context, _ room.Spec, p room.Participant) (coordinator.Endpoint, error) {
		steps, err := scripted.Parse(p.ID, []byte(scripts[p.ID]))
		return scripted.New(steps...), err
	}
	r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{PairBurst: 100, MaxDuration: 1 << 50, MaxDeclines: 3}), append(ps, room.Participant{ID: "ana", Kind: policy.Human}))
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan error, 1)
	go func() {
		_, err := r.Do(t.Context(), room.Command{Actor: "ana", Do: room.Say{Text: "Please add the column.", To: "coder"}})
		said <- err
	}()
	synctest.Wait() // the room takes it first, however fast its agents are
	if err := errors.Join(r.Run(t.Context()), <-said); err != nil {
		t.Fatal(err)
	}
	return r, l
}

// TestProtocol plays the scripts of examples/manager-worker: a blocker waits for the
// manager's answer, a call returns, every criterion gets its evidence, and the final
// response completes the room.
func TestProtocol(t *testing.T) {
	scripts := map[string]string{}
	for _, id := range []string{"lead", "coder", "dba"} {
		b, err := os.ReadFile("../../examples/manager-worker/" + id + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		scripts[id] = string(b)
	}
	synctest.Test(t, func(t *testing.T) {
		r, l := protocol(t, scripts)
		v := r.View()
		if v.Phase != room.PhaseCompleted || v.Ending.Cause != room.CauseFinalResponse {
			t.Errorf("the room is %s: %+v", v.Phase, v.Ending)
		}
		if dead := bodies[room.MessageDead](t, l, r.ID()); len(dead) > 0 {
			t.Errorf("dead letters %+v", dead)
		}
		var states []string
		for _, c := range bodies[room.PlanChanged](t, l, r.ID()) {
			for _, x := range c.Tasks {
				states = append(states, x.ID+" "+string(x.State))
			}
		}
		want := "migration submitted, review submitted, migration working, undo submitted, migration input_required, migration working, migration completed, review working, review completed, undo working, undo completed"
		if got := strings.Join(states, ", "); got != want {
			t.Errorf("the tasks went through\n%s, want\n%s", got, want)
		}
		for _, c := range v.Criteria {
			if !c.Met || c.Evidence == "" {
				t.Errorf("criterion %+v", c)
			}
		}
		for id, want := range map[string]delivery.State{"brief": delivery.Acked, "check": delivery.Delivered, "question": delivery.Delivered, "final": delivery.Posted} {
			got, err := r.Receipt(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range got.Deliveries {
				if d.State != want {
					t.Errorf("%s to %s is %s, want %s", id, d.To, d.State, want)
				}
			}
			if len(got.Deliveries) == 0 && got.State != want {
				t.Errorf("%s is %s, want %s", id, got.State, want)
			}
		}
		if c := r.Calls(); len(c) != 1 || c[0].Caller != "coder" || c[0].Agent != "dba" || c[0].State != "completed" {
			t.Errorf("calls %+v", c)
		}
		if s := v.Steering; len(s) != 1 || s[0].From != "ana" || s[0].For != "coder" || s[0].Reply != "" {
			t.Errorf("steering %+v", s)
		}
	})
}

// TestProtocolRefused: a final response with criteria that are not met or tasks that are
// open is refused, a worker cannot decide, and a task that was canceled stays so. After a
// cancel and a decision that waives the rest the room is completed.
func TestProtocolRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := protocol(t, map[string]string{
			"lead": `{"pass":"given out","post":[{"message_id":"brief","kind":"intent_brief","text":"Add it.","payload":{"intent":{"objective":"the column","acceptance_criteria":["tests"]},"tasks":[{"id":"t1","title":"Write","owner":"coder"},{"id":"t2","title":"Review","owner":"dba","after":["t1"]}]}}]}
{"say":"not said","post":[{"message_id":"early","kind":"final_response","text":"It is done."}]}
{"pass":"canceled","post":[{"message_id":"stop","to":"dba","kind":"cancel","text":"Stop.","payload":{"task":"t2","reason":"not needed"}},{"message_id":"stop1","to":"coder","kind":"cancel","text":"Stop.","payload":{"task":"t1"}}]}
{"say":"Done without tests.","post":[{"message_id":"waived","to":"coder","kind":"decision","text":"Without tests.","payload":{"waive":["tests"]}},{"message_id":"final","kind":"final_response","text":"The column is there."}]}`,
			"coder": `{"say":"not said","claim":"t1","post":[{"message_id":"mine","to":"lead","kind":"decision","text":"I waive it.","payload":{"waive":["tests"]}}]}
{"pass":"half","post":[{"message_id":"half","to":"lead","kind":"result_bundle","text":"Half.","payload":{"results":[{"criterion":"tests","met":false}]}}]}
{"say":"not said","post":[{"message_id":"late","to":"lead","kind":"result_bundle","text":"Done.","payload":{"task":"t1"}}]}
{"say":"I have stopped."}`,
			"dba": `{"say":"I wait for t1."}
{"say":"I have stopped."}`,
		})
		v := r.View()
		if v.Phase != room.PhaseCompleted || v.Ending.Cause != room.CauseFinalResponse {
			t.Errorf("the room is %s: %+v", v.Phase, v.Ending)
		}
		refused := map[string]string{}
		for _, d := range bodies[room.MessageDead](t, l, r.ID()) {
			refused[d.Message.ID] = d.Code
		}
		for id, code := range map[string]string{"mine": "ROOM-KIND", "early": "ROOM-UNMET", "late": "ROOM-TASK"} {
			if refused[id] != code {
				t.Errorf("%s is refused with %q, want %s", id, refused[id], code)
			}
		}
		if len(refused) != 3 {
			t.Errorf("refused are %v", refused)
		}
		for _, x := range v.Tasks {
			if x.State != plan.Canceled {
				t.Errorf("task %+v", x)
			}
		}
		for _, b := range bodies[room.MessagePosted](t, l, r.ID()) {
			if b.Message.Text == "not said" {
				t.Errorf("a step went on after a refusal: %+v", b.Message)
			}
		}
	})
}
