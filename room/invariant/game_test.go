package invariant_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// A game plays a room as a coordinator does, and keeps what a checker is told of it.
type game struct {
	t *testing.T
	history
	s       room.State
	log     []room.Event
	clock   time.Duration
	n       int
	working string // request that was sent
}

// levels are those of the watchers of a game.
var levels = []room.Visibility{room.Internal, room.UserRedacted, room.UserVisible}

// do gives the room a command after a second, and then does what is due.
func (g *game) do(actor string, act room.Act) {
	g.t.Helper()
	g.clock += time.Second
	g.command(actor, act)
	for at, ok := g.s.Deadline(); ok && at < g.clock; at, ok = g.s.Deadline() {
		g.command(room.ActorRoom, room.Tick{})
	}
	if g.s.Seq > 0 {
		g.add(entry{what: settled, clock: g.clock})
	}
}

func (g *game) add(e entry) { g.history = append(g.history, e) }

func (g *game) command(actor string, act room.Act) {
	g.t.Helper()
	g.n++
	cmd := room.Command{ID: fmt.Sprintf("c%d", g.n), Actor: actor, Do: act}
	events, err := g.s.Decide(cmd, room.Now{Wall: time.Unix(1_800_000_000, 0).Add(g.clock), Clock: g.clock})
	if err != nil {
		g.t.Fatalf("%s %T: %v", actor, act, err)
	}
	g.add(entry{what: decided, cmd: cmd, events: events})
	if len(events) == 0 {
		return
	}
	g.store(events)
	g.prompt()
}

// store applies events that are stored, acknowledges them, and shows them.
func (g *game) store(events []room.Event) {
	last := events[len(events)-1].Seq
	g.add(entry{what: stored, seq: last})
	for _, e := range events {
		g.s.Apply(e)
		g.log = append(g.log, e)
		g.add(entry{what: applied, event: e})
	}
	g.add(entry{what: acknowledged, seq: last})
	for _, level := range levels {
		if events[0].Seq == 1 {
			g.add(entry{what: watches, who: string(level), level: level})
		}
		for _, e := range events {
			if seen, ok := e.VisibleAt(level); ok {
				g.add(entry{what: shown, who: string(level), event: seen})
			}
		}
	}
}

// prompt sends the prompt that the state demands, once in each epoch.
func (g *game) prompt() {
	for _, f := range g.s.Effects() {
		if f, ok := f.(room.Speak); ok && g.working != fmt.Sprint(f.Request, g.s.Epoch) {
			first := g.working == "" || g.working[:len(f.Request)] != f.Request
			g.working = fmt.Sprint(f.Request, g.s.Epoch)
			g.add(entry{what: sent, request: f.Request, who: f.Participant})
			if first {
				g.add(entry{what: executed, request: f.Request})
			}
		}
	}
}

// reopen folds the log as a new process does after a crash.
func (g *game) reopen() {
	g.add(entry{what: failed})
	g.add(entry{what: recovered})
	g.do(room.ActorHost, room.Claim{Owner: "host", Restart: true})
}

func (g *game) record() policy.Record {
	n := g.s.Policy.Decision + 1
	return policy.Record{Decision: n, Digest: g.s.Policy.Ref.Digest, Through: g.s.Seq, Seed: room.Seed(g.s.Spec.Room, n)}
}

// speak has the policy give a participant the floor.
func (g *game) speak(id string) {
	g.t.Helper()
	g.do(room.ActorPolicy, room.Decided{Decision: policy.Speak(id, "its turn"), Record: g.record(), Grant: room.Grant{Request: fmt.Sprintf("q%03d", g.s.Tally.Turns+1), Tokens: 10}})
	if g.s.Turn == nil {
		g.t.Fatalf("%s has no turn: %s %+v", id, g.s.Phase, g.s.Ending)
	}
}

func (g *game) decline() {
	g.t.Helper()
	g.do(room.ActorPolicy, room.Decided{Decision: policy.Decline("not now"), Record: g.record()})
}

func (g *game) reply(r endpoint.Reply) {
	g.t.Helper()
	t := g.s.Turn
	g.do(t.Participant, room.Replied{Turn: t.Number, Participant: t.Participant, Request: t.Request, Reply: r})
}

func (g *game) say(text string) {
	g.t.Helper()
	g.reply(endpoint.Reply{Outcome: endpoint.Said, Text: text})
}

func (g *game) pass() { g.t.Helper(); g.reply(endpoint.Reply{Outcome: endpoint.Passed}) }

func (g *game) fail() {
	g.t.Helper()
	g.do(g.s.Turn.Participant, room.Failed{Turn: g.s.Turn.Number, Request: g.s.Turn.Request, Code: room.FailAgent, Error: "it broke"})
}

// end ends a game.
func (g *game) end() history {
	g.add(entry{what: finished})
	return g.history
}

// talk is a room with drafts, permissions, failures, pauses, restarts, and a device of
// another owner.
func talk(t *testing.T) history {
	g := &game{t: t}
	sure := 0.9
	spec := room.Spec{
		Room: "r1", Objective: "Choose a name.", Secret: "s3cret", Dir: "/home",
		Policy: room.PolicyRef{Use: "quiet", Name: "quiet", Digest: "d1", Needs: policy.Needs{Bids: true}},
		Limits: room.Limits{MaxTokens: 10_000, MaxCost: 10_000, MaxViolations: 1, MaxOutput: 100, MaxFailures: 3, SameText: 3, DraftTimeout: time.Hour},
	}
	g.do(room.ActorHost, room.Open{Spec: spec, Participants: []room.Participant{
		{ID: "a", Kind: policy.Local, Mode: room.FullAuto, Remembers: true, MaxTokens: 5000, Endpoint: policy.JSON(`{"kind":"x"}`), Instructions: "be brief"},
		{ID: "b", Kind: policy.Local, Mode: room.Manual, Cooldown: 1, Budget: room.Budget{Room: room.Amounts{Turns: 30}}},
		{ID: "c", Kind: policy.Local, Mode: room.SemiAuto, Review: room.Review{Words: []string{"secret"}}},
		{ID: "p", Kind: policy.Local, Mode: room.FullAuto, Starts: true, Tools: true},
		{ID: "r", Kind: policy.Remote, Device: "dev", Mode: room.FullAuto},
		{ID: "z", Kind: policy.Local, Mode: room.FullAuto, Session: true},
		{ID: "me", Kind: policy.Human},
	}})
	g.do(room.ActorHost, room.Claim{Owner: "host"})
	g.do("p", room.Started{Participant: "p", Attempt: g.s.Seats[3].Starting, Latency: time.Second})
	g.do("z", room.Present{Participant: "z", Presence: room.Live})
	g.do("me", room.Say{Text: "Which name?", MessageID: "m1"})
	g.do("a", room.BidMade{Decision: 1, Participant: "a", Bid: policy.Bid{Score: 0.5, Reason: "mine"}})
	g.speak("a")
	g.say("Oak")
	g.speak("b")
	g.say("Elm")
	g.do("me", room.Edit{Draft: g.s.Turn.Draft.Hash, Text: "Elm tree"})
	g.do("me", room.Approve{Draft: g.s.Turn.Draft.Hash})
	g.speak("c")
	g.reply(endpoint.Reply{Outcome: endpoint.Said, Text: "Ash", Confidence: &sure, Usage: room.Usage{Known: true, Input: 20, Output: 5}})
	g.speak("c")
	g.say("Yew")
	g.do("me", room.Reject{Draft: g.s.Turn.Draft.Hash, Reason: "no"})
	g.decline()
	g.decline()
	g.speak("p")
	g.do("p", room.Asked{Request: g.s.Turn.Request, Permission: room.Permission{ID: "t", Kind: "read", Title: "read it"}})
	g.do("me", room.Permit{ID: g.s.Turn.Requests[0].ID, Allowed: true})
	g.do("a", room.Posted{Message: room.Message{ID: "side", To: "c", Text: "c, look", Visibility: room.UserRedacted, Summary: "a note"}})
	g.do("a", room.Replied{Turn: 1, Participant: "a", Request: "gone", Reply: endpoint.Reply{Outcome: endpoint.Said, Text: "late"}})
	g.do("a", room.Violated{Participant: "a", Code: "noise"})
	g.do("p", room.HandOff{To: "a", Reason: "it knows"})
	g.say("Fir")
	g.speak("a")
	g.fail()
	g.speak("a")
	g.pass()
	g.do("me", room.SetMode{Participant: "a", Mode: room.Manual})
	g.do("me", room.SetMode{Participant: "a"})
	g.do("me", room.TakeOver{Participant: "c"})
	g.do("me", room.Say{Text: "I write for it", As: "c", MessageID: "m2"})
	g.do("me", room.Release{Participant: "c"})
	g.do("me", room.Redact{Target: g.s.Seq - 1})
	g.do("me", room.SetStanding{Participant: "z", Standing: room.Muted})
	g.speak("a")
	g.do("me", room.Pause{})
	g.do("me", room.Resume{})
	g.speak("r")
	g.reopen()
	g.do("me", room.Resume{})
	g.say("Pine")
	g.do("me", room.SetLimits{Limits: spec.Limits})
	g.do("me", room.SetPolicy{Policy: room.PolicyRef{Use: "mention", Name: "mention", Digest: "d2"}})
	g.speak("b")
	g.say("Oak?")
	g.do("me", room.SetMode{Participant: "r", Mode: room.Manual})
	g.do("me", room.Stop{})
	return g.end()
}

// settling is a room that settles after its declines, goes on, and ends.
func settling(t *testing.T) history {
	g := &game{t: t}
	g.do(room.ActorHost, room.Open{Spec: room.Spec{
		Room: "r2", Policy: room.PolicyRef{Name: "quiet"}, OnRestart: room.RestartContinue, Limits: room.Limits{MaxTurns: 4, MaxFailures: 2, SameText: 2, SameTextOf: 4},
	}, Participants: []room.Participant{
		{ID: "a", Kind: policy.Local, Mode: room.FullAuto}, {ID: "b", Kind: policy.Local, Mode: room.FullAuto, MaxTokens: 1000}, {ID: "me", Kind: policy.Human},
	}})
	g.do(room.ActorHost, room.Claim{Owner: "host"})
	g.do("me", room.Say{Text: "begin"})
	g.speak("a")
	g.say("done")
	g.decline()
	g.decline()
	g.decline()
	g.do("me", room.Say{Text: "once more"})
	g.speak("b")
	g.reopen()
	g.speak("b")
	g.fail()
	g.speak("a")
	g.say("done")
	return g.end()
}

// mailing is a room of a manager and its workers.
func mailing(t *testing.T) history {
	g := &game{t: t}
	g.do(room.ActorHost, room.Open{Spec: room.Spec{
		Room: "r3", Policy: room.PolicyRef{Name: "inbox"}, Context: room.Context{Tokens: 40, SummaryTokens: 20},
		Limits: room.Limits{PairRate: 6, PairBurst: 2, AckTimeout: time.Minute, MaxAckAttempts: 2, MaxDuration: time.Hour, SameText: 100, SameTextOf: 100, MaxInternal: 6},
	}, Participants: []room.Participant{
		{ID: "m", Kind: policy.Local, Role: "manager", Mode: room.FullAuto},
		{ID: "w", Kind: policy.Local, Role: "worker", Mode: room.FullAuto},
		{ID: "x", Kind: policy.Local, Role: "worker", Mode: room.FullAuto},
		{ID: "me", Kind: policy.Human},
	}})
	g.do(room.ActorHost, room.Claim{Owner: "host"})
	for i := range 3 {
		g.do("m", room.Posted{Message: room.Message{ID: fmt.Sprintf("d%d", i), Kind: "decision", To: "w", Text: fmt.Sprintf("we use number %d of the list", i), RequiresAck: true}})
	}
	g.do("me", room.Say{Text: "go on"})
	g.do("m", room.Posted{Message: room.Message{ID: "all", Kind: "decision", Text: "we use B", RequiresAck: true}})
	g.do("m", room.Posted{Message: room.Message{ID: "bad", Kind: "final_response", To: "ghost", Text: "done"}})
	g.speak("w")
	g.say("yes")
	g.do("w", room.Ack{Message: "d0"})
	g.do("w", room.Ack{Message: "all"})
	g.clock += 20 * time.Second
	g.do(room.ActorRoom, room.Tick{})
	g.speak("w")
	g.say("yes again")
	g.clock += 2 * time.Minute
	g.do(room.ActorRoom, room.Tick{})
	g.clock += 2 * time.Minute
	g.do(room.ActorRoom, room.Tick{})
	big := policy.JSON(`{"log":"` + fmt.Sprintf("%09000d", 7) + `"}`)
	g.do("w", room.Posted{Message: room.Message{ID: "big", Kind: "tool_result", To: "m", Text: "the log", Payload: big}})
	for i := range 6 {
		g.clock += time.Minute
		g.do("x", room.Posted{Message: room.Message{ID: fmt.Sprintf("s%d", i), Kind: "status_reply", To: "m", Text: fmt.Sprintf("at step %d", i)}})
	}
	g.do("m", room.Posted{Message: room.Message{ID: "last", Kind: "status_check", To: "x", Text: "and now?"}})
	return g.end()
}

// calling is a room whose agents call others.
func calling(t *testing.T) history {
	g := &game{t: t}
	now := int64(0)
	g.do(room.ActorHost, room.Open{Spec: room.Spec{
		Room: "r4", Secret: "s", Policy: room.PolicyRef{Name: "quiet"}, Limits: room.Limits{MaxTokens: 100_000, MaxCalls: 6, MaxDuration: time.Hour},
		Agents: []room.Participant{{ID: "coder", Kind: policy.Local, MayUse: []string{"read", "edit"}}},
	}, Participants: []room.Participant{
		{ID: "lead", Kind: policy.Local, Mode: room.FullAuto, Calls: room.CallsAllow, MayDelegate: []string{"read", "execute"}},
		{ID: "polite", Kind: policy.Local, Mode: room.FullAuto, Calls: room.CallsAsk},
		{ID: "me", Kind: policy.Human},
	}})
	g.do(room.ActorHost, room.Claim{Owner: "host"})
	g.speak("lead")
	g.do("lead", room.CallAgents{Calls: []calls.Args{{Agent: "coder", Task: "read it"}, {Agent: "polite", Task: "check it", WaitMS: &now}}})
	g.do(room.ActorRoom, room.CallProgressed{Call: "c1", State: calls.Working})
	g.do(room.ActorRoom, room.CallReturned{Call: "c1", State: calls.Completed, Result: calls.Result{Output: "read", Tokens: 100}})
	g.say("coder has read it")
	g.speak("polite")
	g.do("polite", room.CallAgents{Calls: []calls.Args{{Agent: "coder", Task: "read again"}}})
	g.do("me", room.Permit{ID: g.s.Turn.Requests[0].ID, Allowed: true})
	g.do("me", room.Stop{})
	g.do(room.ActorRoom, room.CallReturned{Call: "c2", State: calls.Canceled})
	g.do(room.ActorRoom, room.CallReturned{Call: "c3", State: calls.Canceled})
	return g.end()
}

// TestHistories checks that nothing is broken in the histories from which the mutants
// are made.
func TestHistories(t *testing.T) {
	for name, play := range games {
		t.Run(name, func(t *testing.T) {
			for _, b := range play(t).play() {
				t.Error(b)
			}
		})
	}
}

var games = map[string]func(*testing.T) history{"talk": talk, "settling": settling, "mailing": mailing, "calling": calling}
