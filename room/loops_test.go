package room_test

import (
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/loops"
)

// TestWhatCounts checks which messages count as internal, which begin the count again,
// and which do neither: after three internal messages of at most three, an event, and
// then as many as it takes to stop the room.
func TestWhatCounts(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*bench) error
		more int // messages until the room stops
	}{
		"nothing":  {func(*bench) error { return nil }, 1},
		"a person": {func(b *bench) error { return b.act("me", room.Say{Text: "go on"}) }, 4},
		"the host": {func(b *bench) error { return b.act(room.ActorHost, room.Say{Text: "go on"}) }, 4},
		"another agent session": {func(b *bench) error {
			return b.act(room.ActorHost, room.Say{Text: "go on", Source: room.SourceAgent, FromSession: "r.s"})
		}, 1},
		"an applet": {func(b *bench) error {
			return b.act(room.ActorHost, room.Say{Text: "go on", Source: "applet", Applet: "ci"})
		}, 4},
		"a person in a seat": {func(b *bench) error {
			b.play("takeover o")
			return b.act(room.ActorHost, room.Say{Text: "go on", As: "o"})
		}, 4},
		"a result of a tool":       {func(b *bench) error { return b.post("w", "tool_result", "m", "") }, 4},
		"an intent":                {func(b *bench) error { return b.post("w", "tool_intent", "m", "") }, 1},
		"an internal result":       {func(b *bench) error { return b.post("w", "tool_result", "m", room.Internal) }, 0},
		"to everybody":             {func(b *bench) error { return b.post("m", "decision", room.Broadcast, "") }, 0},
		"to a person":              {func(b *bench) error { return b.post("m", "utterance", "me", room.Internal) }, 1},
		"to a person, seen by all": {func(b *bench) error { return b.post("m", "utterance", "me", "") }, 1},
		"the room": {func(b *bench) error {
			record(b, room.MessagePosted{Message: room.Message{From: room.ActorRoom, To: "m", Text: "w is idle", Visibility: room.Internal}})
			return nil
		}, 1},
		"a task that ends": {func(b *bench) error {
			b.play(`post w result_bundle to=m payload={"task":"t1","state":"completed"} done`)
			return nil
		}, 4},
		"a task that goes on": {func(b *bench) error {
			b.play(`post m decision to=w payload={"tasks":[{"id":"t1","title":"it"}]} more`)
			return nil
		}, 0},
	} {
		b := opened(t, "m/role:manager w/role:worker o me/human")
		b.play(`post m intent_brief to=w payload={"tasks":[{"id":"t1","title":"make","owner":"w"}]} make it`, "say begin")
		if err := b.act(room.ActorHost, room.SetLimits{Limits: room.Limits{MaxInternal: 3, PairRate: 1000, PairBurst: 100, SameText: 50}}); err != nil {
			t.Fatal(err)
		}
		b.play("say begin")
		for range 3 {
			record(b, room.MessagePosted{Message: room.Message{From: "o", To: "w", Text: "x", Visibility: room.Internal}})
		}
		if b.state.Loops.Internal != 3 {
			t.Fatalf("%s: %d internal messages", name, b.state.Loops.Internal)
		}
		if err := c.do(b); err != nil {
			t.Fatal(name, err)
		}
		if want := map[int]int{0: 4, 1: 3, 4: 0}[c.more]; b.state.Loops.Internal != want || (b.state.Phase == room.PhaseStopped) != (c.more == 0) {
			t.Errorf("%s: %d internal messages, the room is %s", name, b.state.Loops.Internal, b.state.Phase)
		}
	}
}

// post has an agent post a message.
func (b *bench) post(from, kind, to string, v room.Visibility) error {
	b.Helper()
	b.ids++
	text := "message " + string(rune('a'+b.ids))
	return b.act(from, room.Posted{Message: room.Message{Kind: kind, To: to, Text: text, Visibility: v}})
}

// TestWhomAMessageWakes checks to whom a message is a step for the loop guards.
func TestWhomAMessageWakes(t *testing.T) {
	for text, want := range map[string]string{
		"w, ask o about it":      "w",
		"what of @w, or @o here": "o",
		"I agree with w":         "w",
		"both w and o agree":     "",
		"me, look":               "",
		"o, me: look":            "o",
		"nobody is meant":        "",
	} {
		b := opened(t, "m/role:manager w/role:worker o me/human")
		if err := b.act("m", room.Posted{Message: room.Message{Text: text}}); err != nil {
			t.Fatal(err)
		}
		got := ""
		if steps := b.state.Loops.Steps; len(steps) > 0 {
			got = steps[0].To
		}
		if got != want || len(b.state.Loops.Pairs) != 0 || b.state.Loops.Internal != 0 {
			t.Errorf("%q: a step to %q, want %q; %+v", text, got, want, b.state.Loops)
		}
	}
}

// TestClarificationsCount checks that questions and answers count as back and forth, and
// as steps with the number of the open turn.
func TestClarificationsCount(t *testing.T) {
	b := opened(t, "m/role:manager w/role:worker o")
	b.play("speak o because")
	for _, err := range []error{
		b.post("w", "clarification_request", "m", ""), b.post("m", "clarification_reply", "w", ""), b.post("m", "decision", "w", ""), b.post("w", "status_reply", "m", ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if p := b.state.Loops.Pairs; len(p) != 1 || p[0] != (loops.Pair{A: "m", B: "w", Last: "m", Count: 2}) {
		t.Errorf("%+v", p)
	}
	if s := b.state.Loops.Steps; len(s) != 2 || s[0] != (loops.Step{From: "w", To: "m", Turn: 1}) {
		t.Errorf("%+v", s)
	}
}

// TestSessionKinds checks that what a running session says has the kind that it names.
func TestSessionKinds(t *testing.T) {
	b := opened(t, "m/role:manager w/session/role:worker")
	b.play("live w")
	if err := b.act("w", room.Say{Text: "half done", To: "m", Kind: "status_reply"}); err != nil {
		t.Fatal(err)
	}
	if m, ok := b.log[len(b.log)-1].Body.(room.MessagePosted); !ok || m.Message.Kind != "status_reply" {
		t.Errorf("%+v", b.log[len(b.log)-1].Body)
	}
}

// TestLoweredLimit checks that a limit which was lowered below what is counted stops the
// room when more is counted, and not at another event.
func TestLoweredLimit(t *testing.T) {
	b := opened(t, "m/role:manager w/role:worker o me/human")
	b.play(`post m intent_brief to=w payload={"tasks":[{"id":"t1","title":"make","owner":"w"}]} make it`)
	for _, text := range []string{"one", "two", "three"} {
		record(b, room.MessagePosted{Message: room.Message{From: "o", To: "w", Text: text, Visibility: room.Internal}})
	}
	if err := b.act(room.ActorHost, room.SetLimits{Limits: room.Limits{MaxInternal: 2}}); err != nil {
		t.Fatal(err)
	}
	b.play("speak o because", "hands-off o ghost", "w: claims w t1", "claims w t1")
	if err := b.act(room.ActorHost, room.Say{Text: "go on", Source: room.SourceAgent, FromSession: "r.s"}); err != nil {
		t.Fatal(err)
	}
	if err := b.post("m", "utterance", "me", room.Internal); err != nil {
		t.Fatal(err)
	}
	if task := b.state.Plan.Tasks[0]; b.state.Phase != room.PhaseLive || task.State != "working" || b.state.Turn == nil || b.state.Loops.Internal < 3 {
		t.Errorf("the room is %s: %+v, %+v, %+v", b.state.Phase, b.state.Ending, task, b.state.Loops)
	}
	if err := b.post("w", "status_reply", "m", ""); err != nil || b.state.Ending.Name != loops.Internal {
		t.Errorf("after one more message: %v, %+v", err, b.state.Ending)
	}
}
