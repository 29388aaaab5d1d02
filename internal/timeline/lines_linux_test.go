package timeline

import (
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
	busy := time.AfterFunc(30*time.Second, func() { panic("the session does not wait") })
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
