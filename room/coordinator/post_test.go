package coordinator_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/scripted"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/log/memory"
)

// playing returns what agents do that follow scripts of JSON rows.
func playing(t *testing.T, scripts map[string]string) speakFunc {
	t.Helper()
	agents := map[string]*scripted.Endpoint{}
	for id, text := range scripts {
		steps, err := scripted.Parse(id, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		agents[id] = scripted.New(steps...)
	}
	return func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		return agents[p.You.ID].Speak(ctx, p, f)
	}
}

// inOrder gives the turns to the ids, and finishes after that.
func inOrder(ids ...string) policyFunc {
	return func(in policy.Input) policy.Decision {
		if in.Turn > len(ids) {
			return policy.Finish("done")
		}
		return policy.Speak(ids[in.Turn-1], "in order")
	}
}

// TestScriptedMessages: agents that follow scripts post typed messages, acknowledge
// them, claim a task, call and hand off. A refusal of the room ends a step, and its
// reason is that of the pass.
func TestScriptedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		say := playing(t, map[string]string{
			"lead": `{"say":"Work is given out.","post":[{"message_id":"brief","to":"dba","kind":"intent_brief","text":"Estimate it.","requires_ack":true,"payload":{"intent":{"objective":"estimate"},"tasks":[{"id":"t1","title":"Estimate"}]}}],"handoff":{"to":"dba","reason":"hers"}}
{"say":"Thanks.","ack":["*"],"call":[{"agent_name":"dba","task":"Check it."}]}`,
			"dba": `{"pass":"working","ack":["brief"],"claim":"t1","post":[{"message_id":"result","to":"manager","kind":"result_bundle","summary":"40 s","payload":{"task":"t1","state":"completed"},"correlation_id":"brief","requires_ack":true}]}
{"say":"40 seconds."}
{"say":"not said","post":[{"message_id":"x","to":"lead","kind":"decision","text":"So be it."}]}`,
		})
		ps := agents("lead", "dba")
		ps[0].Role, ps[0].Calls, ps[1].Role = "manager", room.CallsAllow, "worker"
		l := &memory.Log{}
		r, err := coordinator.Open(t.Context(), config(l, inOrder("lead", "dba", "lead", "dba"), say), spec(room.Limits{}), ps)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"brief", "result"} {
			got, err := r.Receipt(t.Context(), id)
			if err != nil || got.State != delivery.Acked {
				t.Errorf("%s is %+v (%v), want acked", id, got, err)
			}
		}
		if v := r.View(); len(v.Tasks) != 1 || v.Tasks[0].Owner != "dba" || v.Tasks[0].State != "completed" {
			t.Errorf("tasks %+v", v.Tasks)
		}
		if c := r.Calls(); len(c) != 1 || c[0].State != "completed" || c[0].Caller != "lead" {
			t.Errorf("calls %+v", c)
		}
		if h := bodies[room.HandoffAsked](t, l, r.ID()); len(h) != 1 || h[0].To != "dba" || h[0].Refused != "" {
			t.Errorf("hand-offs %+v", h)
		}
		dead, passes := bodies[room.MessageDead](t, l, r.ID()), bodies[room.TurnPassed](t, l, r.ID())
		if len(dead) != 1 || dead[0].Message.ID != "x" || len(passes) != 2 || !strings.Contains(passes[1].Reason, dead[0].Reason) {
			t.Errorf("dead letters %+v and passes %+v", dead, passes)
		}
		said := bodies[room.MessagePosted](t, l, r.ID())
		if slices.ContainsFunc(said, func(b room.MessagePosted) bool { return b.Message.Text == "not said" }) {
			t.Error("a step went on after a refusal")
		}
	})
}

// TestPostRefused: an agent is told why the room refuses its message, acknowledgement or
// claim, and one that is repeated is accepted and posted once.
func TestPostRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post := func(m endpoint.Post) endpoint.Signal {
			return endpoint.Signal{Kind: endpoint.SignalMessage, Post: &m}
		}
		ask := endpoint.Post{ID: "q", To: "lead", Kind: "clarification_request", Text: "Which table?"}
		other := ask
		other.Text = "Which one?"
		cases := []struct {
			signal endpoint.Signal
			why    string // "" if it is accepted
		}{
			{post(ask), ""},
			{post(ask), ""},
			{post(other), "belongs to another message"},
			{post(endpoint.Post{To: "lead", Kind: "decision", Text: "x"}), "its sender is worker"},
			{post(endpoint.Post{To: "lead", Kind: "gossip", Text: "x"}), "no kind"},
			{post(endpoint.Post{To: "eve", Kind: "blocker", Text: "x"}), "no participant"},
			{post(endpoint.Post{To: "lead", Kind: "blocker", Text: "x", Payload: []byte(`[1]`)}), "payload"},
			{endpoint.Signal{Kind: endpoint.SignalAck, Of: []string{"nothing"}}, "no message"},
			{endpoint.Signal{Kind: endpoint.SignalClaim, Code: "t9"}, "no task"},
		}
		say := func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			for _, c := range cases {
				a, err := f.Raise(ctx, c.signal)
				if receipt := string(a.Body); a.Allowed && receipt != `{"message_id":"q","state":"queued"}` {
					t.Errorf("the receipt is %s", receipt)
				}
				if err != nil || a.Allowed != (c.why == "") || !strings.Contains(a.Reason, c.why) {
					t.Errorf("%+v %+v: %+v (%v), want %q", c.signal, c.signal.Post, a, err, c.why)
				}
			}
			return endpoint.Reply{Outcome: endpoint.Passed}, nil
		}
		ps := agents("lead", "dba")
		ps[0].Role, ps[1].Role = "manager", "worker"
		l := &memory.Log{}
		r, err := coordinator.Open(t.Context(), config(l, inOrder("dba"), say), spec(room.Limits{}), ps)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(bodies[room.MessagePosted](t, l, r.ID())); n != 1 {
			t.Errorf("%d messages", n)
		}
	})
}

// TestMail: the mail of a prompt is what waits for its agent, urgent messages first: once,
// again when the agent has forgotten what it did not acknowledge, and no more once that is
// acknowledged. Talk to everybody is no mail.
func TestMail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lead := playing(t, map[string]string{"lead": `{"say":"Hello.","post":[` +
			`{"message_id":"brief","to":"dba","kind":"intent_brief","text":"Estimate it.","requires_ack":true,"priority":"low","thread_id":"th"},` +
			`{"message_id":"once","to":"dba","kind":"decision","summary":"Use batches.","correlation_id":"c","parent_id":"p"},` +
			`{"message_id":"all","kind":"status_check","text":"How is it?"},` +
			`{"message_id":"urgent","to":"worker","kind":"decision","text":"Now.","priority":"urgent"}]}`})
		var got []string
		say := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			if p.You.ID == "lead" {
				return lead(ctx, p, f)
			}
			ids := ""
			for _, m := range p.Mail {
				ids += m.ID + " "
				if want := mailWanted[m.ID]; !reflect.DeepEqual(m, want) {
					t.Errorf("mail %+v, want %+v", m, want)
				}
			}
			got = append(got, ids)
			var err error
			switch len(got) {
			case 2:
				_, err = f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalForgot})
			case 3:
				_, err = f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalAck, Of: []string{"brief"}})
			case 4:
				_, err = f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalForgot})
			}
			return endpoint.Reply{Outcome: endpoint.Passed}, err
		}
		ps := agents("lead", "dba")
		ps[0].Role, ps[1].Role, ps[1].Remembers = "manager", "worker", true
		l := &memory.Log{}
		r, err := coordinator.Open(t.Context(), config(l, inOrder("lead", "dba", "dba", "dba", "dba", "dba"), say), spec(room.Limits{PairBurst: 20}), ps)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := []string{"urgent brief once all ", "", "brief ", "", ""}; !slices.Equal(got, want) {
			t.Errorf("the mail of the turns is %q, want %q", got, want)
		}
	})
}

// mailWanted are the messages of TestMail as their receiver gets them.
var mailWanted = map[string]endpoint.Mail{
	"brief":  {From: "lead", Post: endpoint.Post{ID: "brief", To: "dba", Kind: "intent_brief", Text: "Estimate it.", RequiresAck: true, Priority: "low", Thread: "th"}},
	"once":   {From: "lead", Post: endpoint.Post{ID: "once", To: "dba", Kind: "decision", Summary: "Use batches.", Correlation: "c", Parent: "p"}},
	"all":    {From: "lead", Post: endpoint.Post{ID: "all", Kind: "status_check", Text: "How is it?"}},
	"urgent": {From: "lead", Post: endpoint.Post{ID: "urgent", To: "dba", Kind: "decision", Text: "Now.", Priority: "urgent"}},
}
