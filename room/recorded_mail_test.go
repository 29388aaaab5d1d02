package room_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// mailing opens a room with a manager, two workers and an agent without a role.
func (r *recorder) mailing(change func(*room.Spec)) {
	agent := func(id, role string) room.Participant {
		return room.Participant{ID: id, Kind: policy.Local, Role: role, Mode: room.FullAuto}
	}
	planner := agent("m", "manager")
	planner.Endpoint = policy.JSON(`{"kind":"x"}`)
	r.openWith(func(s *room.Spec) {
		s.Policy.Needs.Bids, s.Limits.MaxOutput, s.Limits.MaxInternal, s.Limits.AckTimeout, s.Limits.MaxAckAttempts = false, 400, 50, 20*time.Second, 2
		s.Context.Tokens = 400
		change(s)
	}, planner, agent("w", "worker"), agent("x", "specialist:db"), agent("o", ""), me())
}

func (r *recorder) post(actor string, m room.Message) { r.do(actor, room.Posted{Message: m}) }

// receipt notes what has become of a message, for its sender and for one receiver.
func (r *recorder) receipt(id, receiver string) {
	got, ok := r.state.Receipt(id)
	fmt.Fprintf(&r.out, "receipt of %s: %t %+v\n  for %s: %+v\n", id, ok, got, receiver, got.For(receiver))
}

// tick lets time pass.
func (r *recorder) tick(d time.Duration) {
	r.clock += d
	r.do(room.ActorRoom, room.Tick{})
}

// recordDeliveries plays messages with every field, dead letters, acknowledgements that
// are given, missed and refused, holds, notices of idle receivers, and what is delivered
// again.
func recordDeliveries(r *recorder) {
	r.mailing(func(*room.Spec) {})
	full := room.Message{
		ID: "m1", From: "x", By: "me", Run: "other", Session: "s1", Thread: "t1", To: "w", Kind: "decision", Summary: "in short", Text: "w, use B; x agrees", Payload: []byte(` { "accept": [ ] } `),
		Visibility: room.Internal, Priority: "high", RequiresAck: true, Correlation: "c0", Parent: "p0", CreatedAt: 7, Turn: 9, Source: "user", Confidence: ptr(0.5), FromSession: "r.s", Applet: "ci",
		Tools: []endpoint.ToolCall{{Kind: "read"}}, ToolsMore: 3, Receivers: []string{"o"}, For: "o", Mentions: []string{"o"}, Addressed: []string{"o"}, ToolRounds: 4,
	}
	r.post("m", full)
	r.post("m", full)
	other := full
	other.Text = "use C"
	r.post("m", other)
	r.receipt("m1", "w")
	r.receipt("m9", "w")
	r.post("w", room.Message{ID: "bad", To: "nobody", Kind: "gossip", Text: "psst"})
	r.post("w", room.Message{ID: "bad", To: "nobody", Kind: "gossip", Text: "psst"})
	r.receipt("bad", "w")
	long := strings.Repeat("\u00e9", 1500)
	r.post("w", room.Message{
		ID: strings.Repeat("i", 200), To: strings.Repeat("t", 200), Kind: "kind " + strings.Repeat("k", 200), Text: long, Summary: long, Priority: strings.Repeat("p", 200), Session: strings.Repeat("s", 200),
		Thread: strings.Repeat("h", 200), Correlation: strings.Repeat("c", 200), Parent: strings.Repeat("r", 200), Payload: []byte(`{"a":"` + strings.Repeat("x", 2500) + `"}`), Trace: &room.Trace{Hops: 9},
	})
	r.post("w", room.Message{To: "m", Text: "far", Trace: &room.Trace{Hops: 2}})
	r.post("w", room.Message{To: "m", Text: "too far", Trace: &room.Trace{Hops: 3}})
	for i := range 4 {
		m := room.Message{To: "m", Text: "odd id"}
		*[]*string{&m.Correlation, &m.Parent, &m.Session, &m.Thread}[i] = "a\nb"
		r.post("w", m)
	}
	r.post("w", room.Message{To: "m", Text: "ring", Notify: "loud"})
	r.post("w", room.Message{To: room.Broadcast, Text: "ring", Notify: room.NotifyIdle})
	r.post("o", room.Message{To: "w", Text: "a long text", Summary: "in short", Visibility: room.UserRedacted})
	r.do("o", room.Ack{Message: "m1"})
	r.do("me", room.Ack{Message: "m1"})
	r.do(room.ActorHost, room.Ack{Message: "m1"})
	r.do("w", room.Ack{})
	r.speak("w")
	r.post("m", room.Message{ID: "m2", To: "w", Kind: "status_check", Text: "how far?", Priority: "low", RequiresAck: true, Notify: room.NotifyIdle})
	r.reply(said("working"))
	r.receipt("m1", "w")
	r.do("w", room.Ack{Message: "m1"})
	r.do("w", room.Ack{Message: "m1"})
	r.post("w", room.Message{ID: "r1.500", To: "m", Kind: "gossip", Text: "psst"})
	r.post("m", room.Message{ID: "m3", To: "x", Kind: "decision", Text: "draw", RequiresAck: true, Notify: room.NotifyIdle})
	r.post("m", room.Message{ID: "m4", To: "x", Kind: "decision", Text: "and print", RequiresAck: true})
	r.do("x", room.Ack{Message: "m4"}) // before it is handed over
	r.speak("x")
	r.tick(0) // x has a turn
	r.reply(said("drawing"))
	r.speak("w")
	r.tick(0) // another has one
	r.reply(said("waiting"))
	r.do("w", room.Forgot{Participant: "w"})
	r.tick(20 * time.Second) // m2 is missed
	r.tick(20 * time.Second) // and expires
	r.receipt("m2", "w")
	r.do("w", room.Ack{Message: "m2"})
	r.tick(time.Second) // w is idle, and m is told
	r.tick(time.Second)
	recordHolds(r)
}

// recordHolds plays the rate between two agents, broadcasts, and memory that is lost.
func recordHolds(r *recorder) {
	r.another("holds", func() {
		r.mailing(func(s *room.Spec) { s.Limits.PairRate, s.Limits.PairBurst, s.Limits.AckTimeout = 6, 2, time.Hour })
	})
	for i, to := range []string{"x", "x", "x", room.Broadcast, "o"} {
		r.post("o", room.Message{ID: fmt.Sprintf("h%d", i), To: to, Text: fmt.Sprintf("w, number %d for x", i), Priority: []string{"", "urgent", "high", "", ""}[i], RequiresAck: i != 2, Notify: map[string]string{"x": room.NotifyIdle}[to]})
	}
	r.post("m", room.Message{ID: "all", Kind: "decision", Text: "we use B"})
	r.post("m", room.Message{ID: "all2", Kind: "decision", Text: "we use C"})
	r.post("m", room.Message{ID: "all3", Kind: "decision", Text: "x, we use D", RequiresAck: true})
	r.receipt("all3", "x")
	r.receipt("h3", "x")
	r.speak("w")
	r.reply(said("I use D"))
	r.speak("x")
	r.reply(said("so do I"))           // what was held has been handed over
	r.do("x", room.Ack{Message: "h2"}) // it is held, and needs no release
	r.tick(time.Second)
	r.tick(10 * time.Second)
	r.tick(10 * time.Second)
	r.speak("x")
	r.reply(said("I have read it all"))
	r.do("x", room.Forgot{Participant: "x"})
	r.do("me", room.SetStanding{Participant: "x", Standing: room.Suspended})
	r.do("me", room.SetStanding{Participant: "x", Standing: room.Active})
	r.speak("x")
	r.reply(said("I have read it again"))
	r.do("me", room.TakeOver{Participant: "x"})
	r.speak("x")
	r.do("me", room.Say{Text: "I stand in", As: "x"})
	r.do("me", room.Release{Participant: "x"})
	r.do("me", room.SetStanding{Participant: "x", Standing: room.Removed})
	r.tick(time.Second)
	r.do(room.ActorHost, room.Claim{Owner: "host:2"})
	r.do("me", room.Say{Text: "w, hurry", To: "w", MessageID: "s1"})
	r.do("me", room.Say{Text: "all, hurry", MessageID: "s2"})
	r.post("m", room.Message{ID: "k2", Kind: "status_check", To: "w", Parent: "s1", Text: "are you there?"})
	r.post("m", room.Message{ID: "k3", Kind: "clarification_reply", To: "w", Parent: "s1", Text: "please hurry"})
	r.post("m", room.Message{ID: "k4", Kind: "decision", To: "w", Correlation: "s1", Text: "please hurry more"})
	r.post("w", room.Message{ID: "k5", Kind: "status_reply", To: "m", Correlation: "s2", Text: "I do"})
	r.post("m", room.Message{ID: "k6", Kind: "decision", To: "w", Correlation: "s2", Text: "so be it"})
	r.do("me", room.Say{Text: "m, hurry", To: "m"})
	r.do("me", room.Say{Text: "o, hurry", To: "o"})
}

// recordPlans plays the intent, tasks, hand-offs between their owners, long payloads and
// the final response.
func recordPlans(r *recorder) {
	r.mailing(func(*room.Spec) {})
	r.post("m", room.Message{ID: "i1", Kind: "intent_brief", To: "w", Text: "make it", Payload: []byte(`{"intent":{"objective":"a converter","acceptance_criteria":["it builds"]},"tasks":[{"id":"t1","title":"build","owner":"w"},{"id":"t2","title":"draw","after":["t1"]}]}`)})
	r.post("m", room.Message{ID: "g1", Kind: "decision", To: "w", Text: "ghost does it", Payload: []byte(`{"tasks":[{"id":"t3","title":"haunt","owner":"ghost"}]}`)})
	r.do(room.ActorHost, room.Say{Text: "look at it", To: "me"})
	r.do("o", room.ClaimTask{Task: "t1"})
	r.do("x", room.ClaimTask{Task: "t1"})
	r.do("x", room.ClaimTask{Task: "t2"})
	r.do("w", room.ClaimTask{Task: "t1"})
	r.do("w", room.ClaimTask{Task: "t1"})
	r.do("ghost", room.ClaimTask{Task: "t1"})
	r.speak("w")
	r.do("w", room.HandOff{To: "specialist:db", Reason: "locks are\nhers"})
	r.do("w", room.HandOff{To: "ghost"})
	r.do("me", room.HandOff{To: "x"})
	r.do("ghost", room.HandOff{To: "x"})
	r.reply(said("built"))
	r.post("w", room.Message{ID: "r1", Kind: "result_bundle", To: "m", Correlation: "t1", Text: "it builds", Payload: []byte(`{"task":"t1","state":"completed","results":[{"criterion":"it builds","met":true,"evidence":"log"}]}`)})
	r.post("x", room.Message{ID: "big", Kind: "tool_result", To: "m", Payload: []byte(`{"log":"` + strings.Repeat("x", 9000) + `"}`)})
	r.post("x", room.Message{ID: "big2", Kind: "tool_result", To: "m", Text: "again", Payload: []byte(`{"log":"` + strings.Repeat("x", 9000) + `"}`)})
	r.post("m", room.Message{ID: "f1", Kind: "final_response", Text: "done"})
	r.post("m", room.Message{ID: "k1", Kind: "cancel", To: "x", Text: "stop drawing", Payload: []byte(`{"task":"t2"}`)})
	r.speak("m")
	r.do("m", room.HandOff{To: "w"})
	r.post("m", room.Message{ID: "f2", Kind: "final_response", Text: "all is done"})
	r.reply(said("goodbye"))
}
