package room_test

import (
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/kinds"
)

// results returns the texts of the messages with results of calls.
func (b *bench) results() (texts []string) {
	for _, m := range b.ofKind(kinds.CallResult) {
		texts = append(texts, m.Correlation+" "+m.To+" "+m.Text)
	}
	return texts
}

// ofKind returns the messages of a kind.
func (b *bench) ofKind(kind string) (all []room.Message) {
	for _, e := range b.log {
		if m, ok := e.Body.(room.MessagePosted); ok && m.Message.Kind == kind {
			all = append(all, m.Message)
		}
	}
	return all
}

func (b *bench) returned(call, output string) {
	b.Helper()
	if err := b.act(room.ActorRoom, room.CallReturned{Call: call, State: calls.Completed, Result: calls.Result{Output: output}}); err != nil {
		b.Fatal(err)
	}
}

// TestCallTold: the result for which an agent waits is its answer. If the host ends before
// the end of its turn, it is also a message, once.
func TestCallTold(t *testing.T) {
	b := callRoom(t, room.Limits{}, nil)
	if err := b.call(calls.Args{Agent: "a", Task: "x"}, calls.Args{Agent: "b", Task: "x"}); err != nil {
		t.Fatal(err)
	}
	b.returned("c1", "one")
	b.returned("c2", "two")
	if got := b.results(); len(got) != 0 {
		t.Errorf("posted although the agent waits: %q", got)
	}
	for range 2 {
		if err := b.act(room.ActorHost, room.Claim{Owner: "h", Restart: true}); err != nil {
			t.Fatal(err)
		}
		if got := b.results(); len(got) != 2 || got[0] != "c1 lead one" || got[1] != "c2 lead two" || !b.state.Calls[0].Posted || !b.state.Calls[1].Posted {
			t.Errorf("%q", got)
		}
	}
	for i, id := range []string{"r1.c1", "r1.c2"} { // one message for each call, whatever is repeated
		if m := b.ofKind(kinds.CallResult)[i]; m.ID != id {
			t.Errorf("the result has the id %s, want %s", m.ID, id)
		}
	}
	for range 2 { // nor does a wait that was lost post them again
		if err := b.act("lead", room.AwaitCall{Call: "c1", Lost: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.results(); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestCallLost: a result that a waiting agent did not get is a message, once.
func TestCallLost(t *testing.T) {
	b := callRoom(t, room.Limits{}, nil)
	if err := b.call(calls.Args{Agent: "a", Task: "x"}); err != nil {
		t.Fatal(err)
	}
	b.returned("c1", "one")
	for range 2 {
		if err := b.act("lead", room.AwaitCall{Call: "c1", Lost: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.results(); len(got) != 1 || got[0] != "c1 lead one" {
		t.Errorf("%q", got)
	}
}

// TestCallAskedCaller: a question to the caller ends its wait for all calls of its turn. A
// question to the owner ends none.
func TestCallAskedCaller(t *testing.T) {
	for asked, want := range map[string]time.Duration{"lead": 0, calls.Owner: time.Minute} {
		b := callRoom(t, room.Limits{}, nil)
		wait := int64(60_000)
		if err := b.call(calls.Args{Agent: "a", Task: "x", WaitMS: &wait}, calls.Args{Agent: "b", Task: "x", WaitMS: &wait}); err != nil {
			t.Fatal(err)
		}
		now := b.state.Calls[0].Started
		if err := b.act(room.ActorRoom, room.CallProgressed{Call: "c1", State: calls.InputRequired, Asked: asked, Text: "which?"}); err != nil {
			t.Fatal(err)
		}
		for _, c := range b.state.Calls {
			if left := max(0, c.WaitUntil-now); left != want {
				t.Errorf("asked %s: the caller waits %v for %s", asked, left, c.ID)
			}
		}
		if c := b.state.Calls[0]; c.State != calls.InputRequired || c.Asked != asked || c.Text != "which?" {
			t.Errorf("%+v", c)
		}
		b.returned("c2", "two")
		if got := len(b.results()); got != 0 && want > 0 || got != 1 && want == 0 {
			t.Errorf("asked %s: %q", asked, b.results())
		}
	}
}

// TestStrayResult: a result of a call that the room does not know, that is open or that
// another agent has made tells the caller of no call.
func TestStrayResult(t *testing.T) {
	b := callRoom(t, room.Limits{}, nil)
	if err := b.call(calls.Args{Agent: "a", Task: "x"}, calls.Args{Agent: "b", Task: "x"}); err != nil {
		t.Fatal(err)
	}
	b.returned("c2", "two")
	for _, m := range []room.Message{{To: "lead", Correlation: "c9"}, {To: "lead", Correlation: "c1"}, {To: "a", Correlation: "c2"}} {
		m.From, m.Kind, m.Visibility = "b", kinds.CallResult, room.Internal
		record(b, room.MessagePosted{Message: m})
	}
	for _, c := range b.state.Calls {
		if c.Posted {
			t.Errorf("the result of %s is told", c.ID)
		}
	}
}
