package room_test

import (
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// lead is an agent that may call others.
func lead() room.Participant {
	return room.Participant{
		ID: "lead", Name: "Lea", Kind: policy.Local, Role: "manager", Mode: room.FullAuto, Calls: room.CallsAllow, Profile: "p1",
		Price: room.Price{Input: 3_000_000, Output: 15_000_000}, Timeout: time.Minute,
	}
}

// coder is an agent that is called, with everything that a called agent does not keep.
func coder() room.Participant {
	return room.Participant{
		ID: "coder", Name: "Cody", Kind: policy.Remote, Role: "manager", Calls: room.CallsAsk, Cooldown: 2, MaxTokens: 50_000, Moderator: true, Session: true,
		MayUse: []string{"read", "edit"}, MayDelegate: []string{"read", "execute"}, Profile: "p2", Price: room.Price{Input: 1_000_000},
	}
}

// calling opens a room whose agents may call each other, without bids.
func (r *recorder) calling(participants ...room.Participant) {
	r.openWith(func(s *room.Spec) {
		s.Policy.Needs.Bids, s.Agents, s.OnRestart = false, []room.Participant{coder(), {ID: "twin", Kind: policy.Local, Profile: "p1"}, {ID: "deaf", Kind: policy.Local}}, room.RestartContinue
		s.Limits.MaxOutput = 400
	}, participants...)
}

func (r *recorder) call(actor string, list ...calls.Args) { r.do(actor, room.CallAgents{Calls: list}) }

// returned ends a call as the coordinator does.
func (r *recorder) returned(id string, state calls.State, result calls.Result) {
	r.do(room.ActorRoom, room.CallReturned{Call: id, State: state, Result: result})
}

// recordCalls plays the caller's side of calls.
func recordCalls(r *recorder) {
	writer := room.Participant{ID: "writer", Kind: policy.Local, Mode: room.SemiAuto, MaxSubAgentDepth: 2}
	polite := lead()
	polite.ID, polite.Name, polite.Role, polite.Calls, polite.Profile = "polite", "", "", room.CallsAsk, ""
	r.calling(lead(), writer, polite, me())
	now := ptr(int64(0))
	r.call("lead", calls.Args{Agent: "coder", Task: "x"}) // not in its turn
	r.speak("lead")
	r.call("lead")
	r.call("lead", calls.Args{Agent: "twin", Task: "x"})
	r.call("lead", calls.Args{Agent: "coder", Task: " "})
	r.call("lead", calls.Args{Agent: "me", Task: "x"})
	r.call("lead", calls.Args{Agent: "coder", Task: "read the plan", AllowNested: true, WaitMS: ptr(int64(5000)), AllowedTools: []string{"read", "execute"}, Input: []byte(`{"n":1}`)})
	r.call("lead", calls.Args{Agent: "writer", Task: "write it", WaitMS: now, MaxTokens: 600}, calls.Args{Agent: "deaf", Task: "hear it", WaitMS: now, AllowNested: true, TimeoutMS: 9000})
	r.do(room.ActorRoom, room.CallProgressed{Call: "c1", State: calls.InputRequired, Asked: "lead", Text: "which plan?"})
	r.do(room.ActorRoom, room.CallProgressed{Call: "c1", State: calls.InputRequired, Asked: "lead", Text: "which plan?"})
	r.do(room.ActorRoom, room.CallProgressed{Call: "c1", State: calls.Completed})
	r.do(room.ActorRoom, room.CallProgressed{Call: "c9", State: calls.Working})
	r.do("writer", room.AwaitCall{Call: "c1", Wait: time.Second})
	r.do("lead", room.AwaitCall{Call: "c1", Wait: time.Hour})
	r.do("lead", room.AwaitCall{Call: "c1", Wait: time.Hour})
	r.do("lead", room.AwaitCall{Call: "c1", Wait: 2 * time.Second})
	r.clock += time.Second
	r.do(room.ActorRoom, room.Tick{}) // the wait ends
	r.returned("c1", calls.Working, calls.Result{Output: "half a plan", Errors: []string{"lost"}, Tokens: 800, Cost: 2400, Calls: 2, Estimated: true, CostEstimated: true, Tools: []string{"read"}, Duration: 1.5, Seq: 9})
	r.returned("c1", calls.Completed, calls.Result{})
	r.do("lead", room.AwaitCall{Call: "c1", Lost: true})
	r.do("me", room.CancelCall{Call: "c2", Reason: "enough"})
	r.do("me", room.CancelCall{Call: "c2"})
	r.do("writer", room.CancelCall{Call: "c3"})
	r.do("lead", room.CancelCall{Call: "c3"})
	r.returned("c2", calls.Failed, calls.Result{Errors: []string{"it was ended"}})
	r.returned("c3", calls.Completed, calls.Result{Output: "@writer heard", Tokens: 10})
	r.returned("c3", calls.Completed, calls.Result{Output: "again"})
	r.do("lead", room.CancelCall{Call: "c3"})
	r.call("lead", calls.Args{Agent: "coder", Task: "read more", TimeoutMS: 3000})
	r.clock += 5 * time.Second
	r.do(room.ActorRoom, room.Tick{}) // its time is over
	r.returned("c6", calls.Canceled, calls.Result{})
	r.do("lead", room.AwaitCall{Call: "c6", Lost: true})
	r.do("lead", room.AwaitCall{Call: "c6", Lost: true})
	r.call("lead", calls.Args{Agent: "deaf", Task: "hear on"}, calls.Args{Agent: "writer", Task: "write on"})
	r.fail(room.FailFailed, "it broke") // what it waited for is cancelled
	r.returned("c7", calls.Canceled, calls.Result{})
	r.speak("polite")
	r.call("polite", calls.Args{Agent: "coder", Task: "ask me", AllowNested: true}, calls.Args{Agent: "deaf", Task: "and me", WaitMS: now})
	request := r.turn().Requests[0].ID
	r.do("me", room.Permit{ID: request, Allowed: true, Always: true})
	r.do("me", room.Permit{ID: request, Allowed: true, Reason: "go on"})
	r.do("polite", room.CallAgents{Calls: []calls.Args{{Agent: "deaf", Task: "alone"}}, Absent: true})
	r.call("polite", calls.Args{Agent: "writer", Task: "once more"})
	r.do("me", room.SetStanding{Participant: "writer", Standing: room.Muted})
	r.do("me", room.Permit{ID: r.turn().Requests[0].ID, Allowed: true}) // it takes no calls now
	r.do("me", room.SetStanding{Participant: "polite", Standing: room.Suspended, Reason: "too many"})
	r.do("me", room.Pause{})
	r.returned("c9", calls.Rejected, calls.Result{Errors: []string{"not mine"}})
	r.do("me", room.Stop{})
	r.returned("c10", calls.Canceled, calls.Result{})
	r.do("polite", room.AwaitCall{Call: "c10", Lost: true})
	recordCallLimits(r)
}

// recordCallLimits plays what bounds calls: their number, tokens, cost and time, the
// list of ended ones, and an end of the room.
func recordCallLimits(r *recorder) {
	l := lead()
	l.MaxTokens = 20_000
	r.another("limits", func() {
		r.calling(l, room.Participant{ID: "b", Kind: policy.Local, Mode: room.FullAuto, Calls: room.CallsAllow, Session: true}, me())
	})
	r.do("me", room.SetLimits{Limits: room.Limits{MaxCalls: 4, MaxCost: 4000, MaxTokens: 90_000, MaxDuration: 60 * time.Second}})
	r.do("b", room.Present{Participant: "b", Presence: room.Live})
	r.call("b", calls.Args{Agent: "deaf", Task: "between turns"})
	r.speak("lead")
	r.call("lead", calls.Args{Agent: "deaf", Task: "one", WaitMS: ptr(int64(0))})
	r.call("lead", calls.Args{Agent: "deaf", Task: "two", MaxTokens: 19_000, WaitMS: ptr(int64(0))})
	r.call("lead", calls.Args{Agent: "deaf", Task: "three", MaxTokens: 14_000, WaitMS: ptr(int64(0))})
	r.call("lead", calls.Args{Agent: "deaf", Task: "four", MaxTokens: 500}, calls.Args{Agent: "deaf", Task: "five", MaxTokens: 500})
	r.returned("c2", calls.Completed, calls.Result{Output: "one", Tokens: 100, Cost: 10})
	r.clock = 58 * time.Second
	r.call("lead", calls.Args{Agent: "deaf", Task: "last", MaxTokens: 500})
	r.call("lead", calls.Args{Agent: "deaf", Task: "too late", MaxTokens: 1})
	r.clock = 59 * time.Second
	r.do(room.ActorRoom, room.Tick{}) // the room ends, and all calls
	r.do("me", room.SetLimits{Limits: room.Limits{MaxCalls: 400}})
	for _, c := range r.state.Calls {
		if c.State.Open() {
			r.returned(c.ID, calls.Canceled, calls.Result{Calls: 1})
		}
	}
}

// child begins the child room of a call of coder by lead, as change makes the call.
func (r *recorder) child(name string, called room.Participant, change func(*room.Spec, []room.Participant), args calls.Args) {
	r.t.Helper()
	parent := &recorder{t: r.t, before: map[string]string{}}
	parent.openWith(func(s *room.Spec) {
		s.Policy.Needs.Bids, s.Agents = false, []room.Participant{called, {ID: "deaf", Kind: policy.Local}}
	}, lead())
	parent.speak("lead")
	args.Agent, args.Task = called.ID, "read the plan"
	parent.call("lead", args)
	spec, seats, ok := parent.state.Child("c1")
	if !ok {
		r.t.Fatal(parent.out.String())
	}
	spec.Secret = "s"
	if change != nil {
		change(&spec, seats)
	}
	r.another(name, func() {
		r.do(room.ActorHost, room.Open{Spec: spec, Participants: seats})
		r.do(room.ActorHost, room.Claim{Owner: "host:1"})
	})
}

func (r *recorder) serve(tokens int64) {
	r.do(room.ActorRoom, room.Serve{Grant: room.Grant{Request: "s" + strings.Repeat("q", r.n), Prompt: "pd", Tokens: tokens}})
}

func (r *recorder) task() {
	r.do(room.ActorRoom, room.GiveTask{Text: "read the plan", Input: []byte(`{"n":1}`)})
}

// recordChildren plays child rooms: every way in which a called agent answers, asks or
// ends.
func recordChildren(r *recorder) {
	used := childReply()
	ask := func(m room.Message) { r.do("coder", room.Posted{Message: m}) }
	r.child("answers", coder(), nil, calls.Args{})
	r.serve(5)
	r.task()
	r.task()
	r.do("me", room.ReplyTo{Text: "unasked"})
	r.serve(5)
	r.serve(5)
	ask(room.Message{To: "lead", Text: "half way"})
	r.reply(used)
	r.serve(5)

	nested := coder()
	nested.Calls = room.CallsAllow
	r.child("asks", nested, nil, calls.Args{AllowNested: true})
	r.task()
	r.serve(5)
	r.do(room.ActorHost, room.Say{Text: "hurry", To: "coder"})
	ask(room.Message{Kind: "clarification_request", To: "lead", Text: "Which plan? There are two."})
	ask(room.Message{To: "lead", Text: "I look at both"})
	r.reply(endpoint.Reply{Outcome: endpoint.Passed, Reason: "it waits", Usage: room.Usage{Known: true, Input: 3}})
	r.serve(5)
	r.do(room.ActorRoom, room.ReplyTo{Text: " "})
	r.do(room.ActorRoom, room.ReplyTo{Text: "the first"})
	r.do(room.ActorRoom, room.ReplyTo{Text: "the second"})
	r.serve(5)
	ask(room.Message{Kind: "blocker", To: "lead", Summary: "no rights to read it"})
	r.do("me", room.Pause{})
	r.do(room.ActorHost, room.Pause{Reason: "wait"})
	r.do(room.ActorRoom, room.ReplyTo{Text: "you have them now"})
	r.serve(5)
	r.do(room.ActorHost, room.Resume{})
	r.serve(5)
	ask(room.Message{Kind: "clarification_request", To: "lead", Payload: []byte(`{"reason":"stuck"}`)})
	r.reply(used)
	r.do(room.ActorRoom, room.ReplyTo{Text: "yes"})
	r.serve(5)
	r.call("coder", calls.Args{Agent: "deaf", Task: "hear it", WaitMS: ptr(int64(0))})
	r.do(room.ActorRoom, room.CallProgressed{Call: "c1", State: calls.InputRequired, Asked: calls.Owner, Text: "may it?"})
	r.reply(endpoint.Reply{Outcome: endpoint.Said, Text: "deaf works", Usage: room.Usage{Known: true, Input: 1}})
	r.serve(5)
	r.returned("c1", calls.Completed, calls.Result{Output: "heard", Tokens: 7})
	r.serve(5)
	r.reply(endpoint.Reply{Outcome: endpoint.Said, Text: "all done"})

	r.child("is stopped with a call", nested, nil, calls.Args{AllowNested: true})
	r.task()
	r.serve(5)
	r.call("coder", calls.Args{Agent: "deaf", Task: "hear it"})
	r.do(room.ActorHost, room.Stop{})
	r.returned("c1", calls.Canceled, calls.Result{Tokens: 3})
	recordChildEnds(r)
}

// childReply is the answer of a called agent that has used tools.
func childReply() endpoint.Reply {
	return endpoint.Reply{
		Outcome: endpoint.Said, Text: "the plan is good", Usage: room.Usage{Known: true, Input: 20, Output: 5},
		Tools: []endpoint.ToolCall{{Kind: "read"}, {Kind: "edit"}, {Kind: "read"}},
	}
}

// recordChildEnds plays child rooms that end without an answer, or late.
func recordChildEnds(r *recorder) {
	used := childReply()
	r.child("passes", coder(), nil, calls.Args{})
	r.task()
	r.serve(5)
	r.reply(endpoint.Reply{Outcome: endpoint.Passed, Reason: "not my work"})
	r.child("passes silently", coder(), nil, calls.Args{})
	r.task()
	r.serve(5)
	r.reply(endpoint.Reply{Outcome: endpoint.Passed})

	r.child("fails", coder(), nil, calls.Args{})
	r.task()
	r.serve(5)
	r.fail(room.FailFailed, "it broke")
	r.do(room.ActorHost, room.SetStanding{Participant: "coder", Standing: room.Active})
	r.do(room.ActorHost, room.SetLimits{Limits: room.Limits{MaxFailures: 9}})
	r.serve(5)
	r.reply(used)
	starts := coder()
	starts.Starts, starts.Mode = true, room.Manual
	r.child("does not start", starts, nil, calls.Args{})
	r.task()
	r.do("coder", room.Started{Participant: "coder", Attempt: r.state.Seats[0].Starting, Code: room.FailFailed, Error: "no program"})
	r.child("waits for a person", starts, nil, calls.Args{})
	r.task()
	r.do("coder", room.Started{Participant: "coder", Attempt: r.state.Seats[0].Starting})
	r.serve(5)
	r.do("coder", room.Asked{Request: r.turn().Request, Permission: room.Permission{ID: "t", Kind: "read", Title: "Read plan.md"}})
	r.do(room.ActorHost, room.Permit{ID: r.turn().Requests[0].ID, Allowed: true})
	r.reply(used)
	r.do(room.ActorHost, room.Stop{Reason: "enough"})

	r.child("is interrupted", coder(), nil, calls.Args{})
	r.task()
	r.serve(500)
	r.do(room.ActorHost, room.Pause{})
	r.do(room.ActorHost, room.Resume{})
	r.serve(70)
	r.do(room.ActorHost, room.Say{Text: "read both"})
	r.do(room.ActorHost, room.Say{Text: "and this", To: "coder"})
	r.reply(used)
	r.serve(70)
	r.do(room.ActorHost, room.Stop{})
	r.child("has no tokens", coder(), nil, calls.Args{MaxTokens: 30})
	r.task()
	r.serve(31)
	r.child("is completed", coder(), func(s *room.Spec, seats []room.Participant) {
		s.Call.Root, seats[0].Name = "r0", ""
	}, calls.Args{})
	r.do(room.ActorHost, room.Complete{})
	r.do(room.ActorRoom, room.ReplyTo{Text: "late"})
}
