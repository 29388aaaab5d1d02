package room_test

import (
	"math"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// recordTalk plays bids, decisions with every field, replies, a pass, declines,
// an end, and a person who opens the room again.
func recordTalk(r *recorder) {
	r.open(ann(), bob(), me())
	r.do("ann", room.BidMade{Decision: 1, Participant: "ann", Bid: policy.Bid{Score: 0.9, Reason: "I know"}})
	r.do("ann", room.BidMade{Decision: 1, Participant: "ann", Bid: policy.Bid{Score: 0.1}})
	r.do("bob", room.BidMade{Decision: 2, Participant: "bob"})
	r.do("bob", room.BidMade{Decision: 1, Participant: "bob", Failed: "no answer"})
	r.speak("ann")
	r.do("bob", room.BidMade{Decision: 2, Participant: "bob"})
	r.reply(said("Heron. @bob: is it free?"))
	r.do("me", room.Say{Text: "bob, please look", To: "bob", Kind: room.KindRequest, Visibility: room.Internal, MessageID: "m1"})
	r.do("me", room.Say{Text: "bob, please look", To: "bob", Kind: room.KindRequest, Visibility: room.Internal, MessageID: "m1"})
	r.do("me", room.Say{Text: "another text", MessageID: "m1"})
	r.speak("ann") // cooling
	r.do("me", room.Resume{})
	r.speak("bob")
	r.reply(endpoint.Reply{Outcome: endpoint.Said, Text: "It is. Ann, decide!", Usage: room.Usage{Input: 1, Output: 1}})
	r.speak("ann")
	r.reply(endpoint.Reply{Outcome: endpoint.Passed, Reason: "nothing to add", Usage: room.Usage{Known: true, Input: 4}})
	r.speak("bob")
	r.reply(endpoint.Reply{Outcome: endpoint.Refused})
	big := `{"s":"` + strings.Repeat("x", 600) + `"}`
	d := policy.Decline("waiting")
	d.RetryMS = 2500
	r.do(room.ActorPolicy, r.decided(d, big))
	r.state.SetPolicyState(policy.JSON(big))
	r.do(room.ActorPolicy, r.decided(d, big))
	r.do(room.ActorPolicy, r.decided(policy.Decline(""), ""))
	r.do(room.ActorHost, room.Say{Text: "One more round."})
	r.speak("ann")
	r.do(room.ActorRoom, room.Replied{Turn: 1, Participant: "ann", Request: "old", Reply: endpoint.Reply{Text: "late"}})
	r.reply(said("Heron it is."))
	r.do(room.ActorPolicy, r.decided(policy.Decision{Action: policy.ActionError, Message: "broken"}, ""))
	r.do("me", room.Resume{})
	failed := r.decided(policy.Decision{}, "").Record
	failed.Code, failed.Error, failed.Fix = "run.trap", "unreachable", "build it again"
	r.do(room.ActorPolicy, room.PolicyFailed{Record: failed})
	r.do("me", room.SetPolicy{Policy: room.PolicyRef{Use: "other", Name: "other", Digest: "d2"}})
	r.do("me", room.Resume{})
	r.do(room.ActorPolicy, r.decided(policy.Finish("all is said"), `{"n":2}`))
	r.do("me", room.Say{Text: "too late"})
}

// recordDrafts plays reviews: every rule that asks for one, edits, approvals,
// rejections, and what is refused meanwhile.
func recordDrafts(r *recorder) {
	a, b := ann(), bob()
	a.Mode, a.Cooldown, b.Mode = room.Manual, 0, room.SemiAuto
	b.Review = room.Review{ConfidenceBelow: 0.6, Words: []string{"Secret"}, LongerThan: 20, Patterns: []string{"h(", "^x+$"}, Remote: true, FirstContact: true}
	r.open(a, b, me())
	draft := func() string { return r.turn().Draft.Hash }
	r.speak("ann")
	r.reply(said("a first draft"))
	r.do("bob", room.Approve{Draft: draft()})
	r.do("me", room.Approve{Draft: "wrong"})
	r.do("me", room.Pause{Reason: "lunch"})
	r.do("me", room.Approve{Draft: draft()})
	r.do("me", room.Edit{Draft: draft(), Text: "better", Approve: true})
	r.do("me", room.Edit{Draft: draft(), Text: "better"})
	r.do("me", room.Resume{})
	r.do(room.ActorRoom, room.Replied{Turn: 1, Participant: "ann", Request: r.turn().Request, Reply: said("a second reply")})
	r.do("me", room.Approve{Draft: draft()})
	for _, c := range []struct {
		text string
		sure *float64
	}{
		{"low", ptr(0.5)},
		{"unsure", nil},
		{"not a number", ptr(math.NaN())},
		{"a SECRET", ptr(0.9)},
		{"a text of over twenty", ptr(0.9)},
		{"just twenty letters.", ptr(0.9)},
	} {
		r.speak("bob")
		r.reply(endpoint.Reply{Outcome: endpoint.Said, Text: c.text, Confidence: c.sure})
		r.do("me", room.Reject{Draft: draft(), Reason: "not yet"})
	}
	r.speak("ann")
	r.reply(said("the last"))
	r.do("me", room.Edit{Draft: draft(), Text: "the very last", Approve: true})
	r.do("me", room.Redact{Target: r.state.Seq, Reason: "names", Drafts: []int64{r.state.Seq - 3, r.state.Seq - 2}})
	r.do("me", room.Redact{Target: r.state.Seq + 1})
	r.do("me", room.Redact{Target: 0})
	r.do("me", room.Redact{Target: r.state.Seq})
	r.speak("ann")
	r.reply(said("and one more"))
	r.do("me", room.SetLimits{Limits: room.Limits{MaxTurns: 3}})
	r.do("me", room.SetLimits{Limits: room.Limits{MaxTurns: 30, MaxTokens: 70}})
	r.do("me", room.SetLimits{Limits: room.Limits{MaxTurns: 30, SameText: 2}})
	r.speak("ann")
	r.reply(said("stopped"))
	r.do("me", room.Stop{Reason: "enough"})
}

// recordSeats plays take-overs, standings, joins, memory that is lost, claims and
// restarts.
func recordSeats(r *recorder) {
	a := ann()
	a.Starts, a.Cooldown = true, 0
	r.open(a, bob(), me(), room.Participant{ID: "mod", Kind: policy.Local, Mode: room.FullAuto, Moderator: true})
	ready := func() {
		r.do("ann", room.Started{Participant: "ann", Attempt: r.state.Seats[0].Starting, Latency: time.Second})
	}
	ready()
	r.speak("ann")
	r.do("me", room.TakeOver{Participant: "ann"})
	r.do(room.ActorHost, room.TakeOver{Participant: "ann"})
	r.do("me", room.TakeOver{Participant: "ghost"})
	r.speak("ann")
	r.do(room.ActorHost, room.Claim{Owner: "host:2"})
	r.do("me", room.Say{Text: "typed by me", As: "ann"})
	r.do("me", room.Say{Text: "and again", As: "ann"})
	r.do("me", room.Say{Text: "as bob", As: "bob"})
	r.do("me", room.Release{Participant: "ann"})
	r.do("ann", room.Forgot{Participant: "ann"})
	ready()
	r.speak("bob")
	r.do(room.ActorHost, room.Claim{Owner: "host:3", Restart: true})
	r.do("me", room.Resume{})
	r.reply(endpoint.Reply{Outcome: endpoint.Said, Text: "bob again", ToolRounds: 3})
	r.speak("mod")
	r.do(room.ActorHost, room.Claim{Owner: "host:4", Restart: true})
	r.do("me", room.Resume{})
	r.do("mod", room.SetStanding{Participant: "bob", Standing: room.Muted, Reason: "loud"})
	r.do("mod", room.SetStanding{Participant: "bob", Standing: "banned"})
	r.do("bob", room.SetStanding{Participant: "ann", Standing: room.Muted})
	r.do("me", room.Join{Participant: room.Participant{ID: "eve", Name: "x", Kind: policy.Human, Owner: "Eve", Device: "dev5", Moderator: true}})
	r.do("eve", room.Say{Text: "hello ann"})
	r.do("eve", room.Pause{})
	r.do("me", room.SetStanding{Participant: "mod", Standing: room.Suspended})
	r.do("mod", room.SetStanding{Participant: "ann", Standing: room.Muted})
	r.do("me", room.SetStanding{Participant: "eve", Standing: room.Removed})
	r.do("me", room.SetStanding{Participant: "bob", Standing: room.Active})
	r.do("ann", room.Exited{Participant: "ann", Code: room.FailFailed, Error: "gone"})
	r.do("me", room.Next{Participant: "bob", Grant: room.Grant{Request: "qn", Prompt: "pn", Tokens: 5}})
	r.do("bob", room.Forgot{Participant: "bob"})
	r.reply(said("bob for the third time"))
	r.do("me", room.Complete{Reason: "done"})
	r.do(room.ActorRoom, room.Broken{Code: "LOG", Reason: "after the end"})
}

// recordFailures plays failed turns, violations, time-outs, held prompts and a
// room that breaks.
func recordFailures(r *recorder) {
	r.open(ann(), bob(), me())
	r.speak("ann")
	r.fail(room.FailInterrupted, "restarted")
	r.speak("bob")
	r.fail(room.FailHeld, "held back")
	r.speak("bob")
	r.reply(said(strings.Repeat("x", 40)))
	r.speak("ann")
	r.reply(said(strings.Repeat("é", 41)))
	r.speak("bob")
	r.clock += 6 * time.Second
	r.do(room.ActorRoom, room.Tick{})
	r.clock += time.Second
	r.do(room.ActorRoom, room.Tick{})
	r.do("bob", room.Violated{Participant: "bob", Code: "noise", Detail: strings.Repeat("d", 600)})
	r.speak("bob")
	r.do("bob", room.Violated{Participant: "bob", Code: "noise", Detail: "again"})
	r.do("bob", room.Violated{Participant: "bob", Code: "noise"})
	r.do("me", room.SetStanding{Participant: "bob", Standing: room.Active, Reason: "repaired"})
	r.speak("ann")
	r.fail(room.FailDenied, "")
	r.do(room.ActorPolicy, r.decided(policy.Decline("nobody"), ""))
	r.do(room.ActorPolicy, r.decided(policy.Decline("nobody"), ""))
	r.do(room.ActorPolicy, r.decided(policy.Decline("nobody"), ""))
	r.do("me", room.SetStanding{Participant: "ann", Standing: room.Active})
	r.do("me", room.Resume{})
	r.speak("bob")
	r.do(room.ActorRoom, room.Broken{Code: "LOG", Reason: "the disk is full"})
	r.do(room.ActorRoom, room.Broken{Code: "LOG", Reason: "again"})
}

// recordMessages plays what agents post outside their turns.
func recordMessages(r *recorder) {
	c := room.Participant{ID: "cyd", Kind: policy.Local, Mode: room.Manual}
	r.open(ann(), bob(), me(), c)
	m := room.Message{
		ID: "x1", Session: "s", Thread: "t", From: "bob", To: "bob", Kind: "status", Summary: "busy", Payload: policy.JSON(`{"p":1}`), Visibility: room.UserRedacted,
		Priority: "urgent", RequiresAck: true, Correlation: "co", Parent: "pa", Text: "working on it", By: "me", Source: "user",
		Trace: &room.Trace{ID: "tr", Hops: 2, OriginDevice: "d", Orchestrator: "o", Path: []string{"d"}}, Confidence: ptr(2.0),
	}
	r.do("ann", room.Posted{Message: m})
	r.do("ann", room.Posted{Message: m})
	m.ID, m.Trace = "x2", &room.Trace{Hops: 3}
	r.do("ann", room.Posted{Message: m})
	r.do("ann", room.Posted{Message: room.Message{Text: "a note, Bob", Visibility: room.Internal, To: "bob", Priority: "high"}})
	r.do("ann", room.Posted{Message: room.Message{Text: "the third"}})
	r.do("cyd", room.Posted{Message: room.Message{Text: "unreviewed"}})
	r.do("bob", room.Posted{Message: room.Message{Text: strings.Repeat("é", 41)}})
	r.do("bob", room.Posted{Message: room.Message{Text: strings.Repeat("é", 40), To: "ghost"}})
	r.do("bob", room.Posted{Message: room.Message{Text: strings.Repeat("é", 40)}})
	r.speak("bob")
	r.do("bob", room.Posted{Message: room.Message{Text: "same"}})
	r.reply(said("SAME!"))
	r.do("me", room.TakeOver{Participant: "ann"})
	r.do("ann", room.Posted{Message: room.Message{Text: "not mine"}})
	r.do("me", room.Pause{})
	r.do("bob", room.Posted{Message: room.Message{Text: "paused"}})
	r.do("me", room.Resume{})
	r.do("me", room.Release{Participant: "ann"})
	r.speak("ann")
	r.reply(said("other"))
	r.speak("bob")
	r.do("ann", room.Posted{Message: room.Message{Text: "same."}})
	r.do("me", room.Say{Text: "same", As: "bob"})
}

// recordFork plays a room that goes on from another one.
func recordFork(r *recorder) {
	spec := room.Spec{Room: "r2", Secret: "s", OneToOne: true, OnRestart: room.RestartContinue, ForkedFrom: &room.Fork{Room: "r1", Seq: 4}, Policy: room.PolicyRef{Hints: true}}
	r.do(room.ActorHost, room.Open{Spec: spec, Participants: []room.Participant{
		{ID: "a", Mode: room.FullAuto, Kind: policy.Local}, {ID: "b", Mode: room.FullAuto, Kind: policy.Remote},
	}})
	r.do(room.ActorHost, room.Claim{Owner: "host:1", Restart: true})
	r.speak("a")
	r.reply(said("hello"))
	r.speak("b")
	r.fail(room.FailExited, "killed")
	r.do(room.ActorHost, room.Say{Text: "what now?"})
	r.do(room.ActorHost, room.Resume{})
	r.do(room.ActorHost, room.Stop{})
	r.do(room.ActorHost, room.Claim{Owner: "host:2"})
}
