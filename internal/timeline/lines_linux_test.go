package timeline

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/room"
)

// TestEndOfInput: without input the session waits for the room, and does
// nothing else meanwhile.
func TestEndOfInput(t *testing.T) {
	busy := time.AfterFunc(3*time.Minute, func() { panic("the session does not wait") })
	defer busy.Stop()
	synctest.Test(t, func(t *testing.T) {
		x := newFakeRoom()
		s := &Session{Room: x, Printer: &Printer{}, Actor: "me", In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
		ended := make(chan error, 1)
		go func() { ended <- s.Run(t.Context()) }()
		synctest.Wait() // returns only if the session blocks
		x.emit(room.Completed{Cause: room.CauseSettled})
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestAttached checks that a session of a room that another process runs ends
// without a command to the room: at quit and at the end of its context, and at the
// end of the input only with the room.
func TestAttached(t *testing.T) {
	run := func(t *testing.T, in io.Reader, leave func(cancel func(), x *fakeRoom)) *fakeRoom {
		x := newFakeRoom()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := &Session{Room: x, Printer: &Printer{}, Actor: "me", In: in, Out: io.Discard, Err: io.Discard, Attached: true}
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		leave(cancel, x)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return x
	}
	synctest.Test(t, func(t *testing.T) {
		x := run(t, strings.NewReader("say hello\nquit\n"), func(func(), *fakeRoom) {})
		if acts := x.done(); len(acts) != 1 {
			t.Errorf("quit: the room got %v", acts)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		in, closed := io.Pipe()
		x := run(t, in, func(cancel func(), _ *fakeRoom) { cancel() })
		closed.Close()
		if acts := x.done(); len(acts) != 0 {
			t.Errorf("the end of the context: the room got %v", acts)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		x := run(t, strings.NewReader(""), func(_ func(), x *fakeRoom) {
			x.emit(room.TurnDrafted{Turn: 1, Draft: "d1", Message: room.Message{From: "code", Text: "text"}})
			x.emit(room.Paused{Cause: room.CausePerson})
			x.emit(room.Resumed{})
			x.emit(room.Completed{Cause: room.CauseSettled})
			x.emit(room.Stopped{Cause: room.CauseLimit})
		})
		if acts := x.done(); len(acts) != 0 {
			t.Errorf("the end of the input: the room got %v", acts)
		}
	})
}

// TestShown checks that a session shows the roster and the events from Shown on.
func TestShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFakeRoom()
		var out strings.Builder
		s := &Session{Room: x, Printer: &Printer{}, In: strings.NewReader("quit\n"), Out: &out, Err: io.Discard, Attached: true, Shown: 5}
		x.view.Seq = 6 // what is stored when the session begins
		ended := make(chan error, 1)
		go func() { ended <- s.Run(t.Context()) }()
		synctest.Wait() // it knows how much is stored
		x.emit(room.Opened{Spec: room.Spec{Room: "r_1", Name: "review"}})
		x.emit(room.Joined{Participant: room.Participant{ID: "code"}})
		x.emit(room.TurnGranted{Turn: 1, Participant: "code"})
		x.emit(room.MessagePosted{Turn: 1, Message: room.Message{From: "code", Text: "early"}})
		x.emit(room.TurnGranted{Turn: 2, Participant: "code"})
		x.emit(room.MessagePosted{Turn: 2, Message: room.Message{From: "code", Text: "late"}})
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := out.String(); !strings.Contains(got, "review") || strings.Contains(got, "early") || !strings.Contains(got, "late") {
			t.Errorf("shown:\n%s", got)
		}
	})
}

// TestAttachedScreen checks that Ctrl-C and Ctrl-D on a screen leave a room that
// another process runs, and do not pause it.
func TestAttachedScreen(t *testing.T) {
	for _, keys := range []string{"\x03", "\x04\x04", "/quit\r"} {
		x := show(t, 80, 24, func(s *Session) { s.Attached = true })
		x.sees("LIVE")
		if keys == "\x04\x04" {
			x.press("\x04")
			x.sees("Ctrl-D again leaves, and the room runs on")
			keys = "\x04"
		}
		x.press(keys)
		err := <-x.ended
		if acts := x.room.done(); err != nil || len(acts) != 0 {
			t.Errorf("%q: the room got %v, error %v", keys, acts, err)
		}
		x.ended <- err // for the end of the test
	}
}
