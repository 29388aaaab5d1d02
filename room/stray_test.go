package room_test

import (
	"reflect"
	"testing"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/calls"
)

// TestStrayEvents checks that events about calls, turns, messages and seats that the
// room does not know change nothing, with and without an open turn.
func TestStrayEvents(t *testing.T) {
	bodies := []room.Body{
		room.HandoffAsked{Turn: 9, From: "a", To: "b"},
		room.CallChanged{Call: "c9", State: calls.Working, Canceling: "x"},
		room.CallEnded{Call: "c9", State: calls.Completed, Result: calls.Result{Tokens: 5}},
		room.CallChanged{Call: "c1", State: calls.Working, Canceling: "x"}, // it has ended
		room.CallEnded{Call: "c1", State: calls.Completed, Result: calls.Result{Tokens: 5}},
		room.BudgetChanged{Participant: "ghost", BudgetMark: room.BudgetMark{Window: budget.Hour, Level: budget.Used}},
		room.PermissionAsked{Turn: 9, Participant: "a", ID: "9.1"},
		room.PermissionAnswered{Turn: 9, Participant: "a", ID: "9.1"},
		room.TurnDrafted{Turn: 9},
		room.TurnEdited{Turn: 9},
		room.TurnFailed{Turn: 9},
		room.TurnInterrupted{Turn: 9, Tokens: 5},
		room.SeatFailed{Participant: "ghost"},
		room.SeatReady{Participant: "ghost"},
		room.SeatForgot{Participant: "ghost"},
		room.SeatTaken{Participant: "ghost"},
		room.SeatChanged{Participant: "ghost"},
		room.PresenceChanged{Participant: "ghost"},
		room.Violation{Participant: "ghost", Count: 1},
		room.MessageAcked{Message: "m9", Target: 99, Participant: "a"},
		room.PayloadStored{Digest: "d"},
	}
	if _, _, ended := (&room.State{}).ChildResult(); ended {
		t.Error("a room that was not opened has ended")
	}
	for _, turn := range []bool{true, false} {
		b := callRoom(t, room.Limits{}, nil)
		if err := b.call(calls.Args{Agent: "a", Task: "x"}); err != nil {
			t.Fatal(err)
		}
		if err := b.act(room.ActorRoom, room.CallReturned{Call: "c1", State: calls.Completed}); err != nil {
			t.Fatal(err)
		}
		if !turn {
			b.play("pass")
		}
		for _, body := range bodies {
			before, after := clone(t, b.log), clone(t, b.log)
			e := room.Event{Seq: before.Seq + 1, Epoch: before.Epoch, Body: body}
			after.Apply(e)
			before.Seq++
			if _, _, charged := before.ChargeOf(e); charged && !turn {
				t.Errorf("%s without a turn is charged", body.Type())
			}
			switch body.(type) {
			case room.CallChanged, room.CallEnded, room.TurnFailed, room.PermissionAsked:
				if before.Seq--; before.Follows(e) == "" {
					t.Errorf("%s follows", body.Type())
				}
				before.Seq++
			}
			handOff, isHandOff := body.(room.HandoffAsked)
			if isHandOff { // the loop guards count it
				after.Loops, before.Loops = room.State{}.Loops, room.State{}.Loops
			}
			if !reflect.DeepEqual(before, after) {
				t.Errorf("%s %+v with a turn %t changes the state", body.Type(), handOff, turn)
			}
		}
	}
}
