package room_test

import (
	"testing"

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
