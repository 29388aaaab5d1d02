package room_test

import (
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// TestMayMove checks when another process may go on with a room: between two turns, in one of
// a person, and in one whose request goes on. The room of a call ends with its caller.
func TestMayMove(t *testing.T) {
	b := &bench{T: t}
	open := openAct(t, "a b/session c/remote me/human")
	open.Participants[2].Device = "dev"
	if err := b.act(room.ActorHost, open); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		line string
		may  bool
	}{
		{"claim", true},
		{"live b", true},
		{"speak a first", false},
		{"said one", true},
		{"speak b second", true},
		{"answers b two", true},
		{"speak c third", true},
		{"said three", true},
		{"speak a fourth", false},
		{"takeover a", true},
		{"speak a fifth", true},
	} {
		b.play(step.line)
		if got := b.state.MayMove(); got != step.may {
			t.Errorf("%s: %t, want %t", step.line, got, step.may)
		}
	}
	if b.state.Turn == nil {
		t.Error("the person has no turn")
	}

	called := callRoom(t, room.Limits{}, func(o *room.Open) { o.Spec.Call = &room.CallOf{Nested: true, MaxDepth: 5, Agent: "lead"} })
	record(called, room.TurnInterrupted{Turn: 1})
	if called.state.MayMove() {
		t.Error("the live room of a call may move")
	}
	record(called, room.Paused{Cause: room.CausePerson})
	if !called.state.MayMove() {
		t.Error("a paused room may not move")
	}
}

// TestSessionOutlivesHost checks that the turn of a session goes on with its request after a
// restart, unless the restart pauses the room.
func TestSessionOutlivesHost(t *testing.T) {
	for _, onRestart := range []string{room.RestartContinue, room.RestartPause} {
		b := &bench{T: t}
		open := openAct(t, "a b/session")
		open.Spec.OnRestart = onRestart
		if err := b.act(room.ActorHost, open); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"claim", "live b", "speak b first"} {
			b.play(line)
		}
		asked := *b.state.Turn
		b.play("claim restart")
		answer := room.Answered{Participant: "b", Request: asked.Request, Epoch: asked.Epoch, Reply: endpoint.Reply{Text: "one"}}
		err := b.act("b", answer)
		if goesOn := onRestart == room.RestartContinue; (err == nil) != goesOn || b.state.Turn != nil {
			t.Errorf("onRestart %s: the answer got %v, and the turn is %+v", onRestart, err, b.state.Turn)
		}
	}
}
