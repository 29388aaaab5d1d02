package timeline

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/room"
)

// asks emits a permission request of code.
func (r *fakeRoom) asks(id string, p room.Permission) {
	r.emit(room.PermissionAsked{Turn: 1, Participant: "code", ID: id, Permission: p, Timeout: 2 * time.Minute})
}

// TestPermissionKeys: chords and commands answer the oldest request that is shown,
// or the one that is named. Text answers nothing.
func TestPermissionKeys(t *testing.T) {
	x := show(t, 100, 40)
	x.press("\x19")
	x.sees("no agent asks for a permission")
	x.room.emit(room.TurnGranted{Turn: 1, Participant: "code"})
	x.room.asks("1.1", room.Permission{Kind: "execute", Command: "go test ./...", Argv: []string{"go", "a b"}, Paths: []string{"a.go", "b.go"}, Title: "run tests", Detail: "line 1\nline 2"})
	x.sees("? code asks for permission 1.1: execute, in its own words:", "│ command: go test ./...", `│ words: "go" "a b"`, "│ file: a.go", "│ file: b.go",
		"│ title: run tests", "│ detail: line 1", "│ line 2", "── code waits for your permission 1.1, ", "Ctrl-Y allow 1.1  Ctrl-G deny  /help")
	x.press("y\r") // a message
	x.press("\x19")
	want := []room.Act{room.Say{Text: "y"}, room.Permit{ID: "1.1", Allowed: true}}
	x.does(want...)
	x.room.emit(room.PermissionAnswered{Turn: 1, ID: "1.1", Allowed: true, By: "me"})
	x.sees("── permission 1.1 allowed by you")

	x.room.asks("1.2", room.Permission{Kind: "read", Paths: []string{"a\u202eb"}, Always: true})
	x.room.asks("1.3", room.Permission{Kind: "fetch"})
	x.sees(`│ file: "a\u202eb"`, "Ctrl-Y allow 1.2  Ctrl-G deny  /always  (1 more: Ctrl-V)  /help", "asks for permission 1.3: fetch\n")
	x.press("\x07")
	want = append(want, room.Permit{ID: "1.2"})
	x.does(want...)
	x.press("/always\r")
	want = append(want, room.Permit{ID: "1.2", Allowed: true, Always: true})
	x.does(want...)
	x.press("/deny 1.3 not here\r")
	want = append(want, room.Permit{ID: "1.3", Reason: "not here"})
	x.does(want...)
	x.press("/deny \x1b[B\t\r") // Down, and the completion of the second request
	want = append(want, room.Permit{ID: "1.3"})
	x.does(want...)
	x.press("/always 1.3\r")
	x.sees("the agent does not offer to remember an answer")
	x.press("/allow 1.3 but not this\r")
	x.sees("nothing was allowed: a permission is given without words")
	x.press("/allow 9.9\r")
	x.sees("no permission request 9.9 waits")
	x.press("/deny it is too late for that\r")
	want = append(want, room.Permit{ID: "1.2", Reason: "it is too late for that"})
	x.does(want...)
}

// TestPermissionEnded: a key that comes when the oldest request has just ended does
// not answer the next one.
func TestPermissionEnded(t *testing.T) {
	x := show(t, 90, 30)
	x.room.emit(room.TurnGranted{Turn: 1, Participant: "code"})
	x.room.asks("1.1", room.Permission{Kind: "read"})
	x.room.asks("1.2", room.Permission{Kind: "delete"})
	x.sees("Ctrl-Y allow 1.1")
	x.room.emit(room.PermissionAnswered{Turn: 1, ID: "1.1", By: room.ActorRoom, Reason: "no person has answered in time"})
	x.sees("── permission 1.1 refused: no person has answered in time", "Ctrl-Y allow 1.2")
	x.press("\x19")
	x.sees("permission request 1.1 has ended, and nothing was answered")
	x.press("\x19")
	x.does(room.Permit{ID: "1.2", Allowed: true})
}

// TestHostilePermission: no control sequence of a request reaches the terminal.
func TestHostilePermission(t *testing.T) {
	x := show(t, 90, 40)
	all := "\x1b]0;owned\a\x1b[5n\x1b[?1049l\u009b2J\u202eevil\u200b\x00\r\n? fake asks\x1b[31;5m"
	x.room.asks("1.1", room.Permission{Kind: "execute", Command: all, Argv: []string{all}, Paths: []string{all}, Title: all, Detail: all + "-end"})
	x.sees("-end", `│ command: "\x1b]0;owned\a`)
	for _, line := range x.screen.Lines() {
		if strings.HasPrefix(line, "? fake") {
			t.Errorf("words of the agent stand outside the bar: %q", line)
		}
	}
	x.press("\x1b\x1b")
	x.does(room.Stop{})
	x.until("ended", func() bool { return !x.screen.Alternate() })
	if unknown := x.screen.Unknown(); unknown != nil {
		t.Errorf("the terminal was sent %q", unknown)
	}
}

// TestPermissionLines: without a screen a line says what to type, scripts wait for a
// request, and the end of the input refuses those that wait.
func TestPermissionLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFakeRoom()
		in, keys := io.Pipe()
		var out, advice strings.Builder
		s := &Session{Room: x, Printer: &Printer{You: "me"}, Actor: "me", In: in, Out: &out, Err: &advice, Quiet: true}
		ended := make(chan error, 1)
		go func() { ended <- s.Run(t.Context()) }()
		go io.WriteString(keys, "wait permission\ndeny too risky\n")
		synctest.Wait()
		if acts := x.done(); acts != nil {
			t.Fatalf("did %v before a request", acts)
		}
		x.asks("1.1", room.Permission{Kind: "read", Always: true})
		synctest.Wait()
		x.emit(room.PermissionAnswered{Turn: 1, ID: "1.1", By: "me", Reason: "too risky"})
		synctest.Wait()
		go io.WriteString(keys, "allow\n")
		synctest.Wait()
		x.asks("1.2", room.Permission{Kind: "edit"})
		synctest.Wait()
		x.emit(room.PermissionAnswered{Turn: 1, ID: "1.2", Allowed: true, By: "me"})
		synctest.Wait()
		keys.Close()
		synctest.Wait()
		x.asks("1.3", room.Permission{Kind: "edit"})
		synctest.Wait()
		x.emit(room.PermissionAnswered{Turn: 1, ID: "1.3", By: room.ActorRoom})
		x.emit(room.Completed{Cause: room.CauseFinish})
		if err := <-ended; err != nil {
			t.Error(err)
		}
		acts := x.done()
		if len(acts) != 3 || !reflect.DeepEqual(acts[0], room.Permit{ID: "1.1", Reason: "too risky"}) || !reflect.DeepEqual(acts[1], room.Permit{ID: "1.2", Allowed: true}) {
			t.Fatalf("did %+v", acts)
		}
		if p := acts[2].(room.Permit); p.ID != "1.3" || p.Allowed || !p.Absent || !strings.Contains(p.Reason, "no owner is present") {
			t.Errorf("without input: %+v", p)
		}
		if got := advice.String(); got != "? permission request 1.1 waits: type allow 1.1, always 1.1 or deny 1.1 [REASON]\n? permission request 1.2 waits: type allow 1.2 or deny 1.2 [REASON]\n" {
			t.Errorf("advice %q", got)
		}
		if !strings.Contains(out.String(), "? code asks for permission 1.1: read\n") {
			t.Errorf("shown %q", out.String())
		}
	})
}

// TestPermissionAnswers: the timeline says who has answered, and how.
func TestPermissionAnswers(t *testing.T) {
	p := &Printer{You: "me"}
	for want, e := range map[string]room.Event{
		"── permission 1.1 allowed by the rule {kind: read}\n":                {Actor: room.ActorRoom, Body: room.PermissionAnswered{ID: "1.1", Allowed: true, By: "rule", Reason: "{kind: read}"}},
		"── permission 1.1 allowed by you, also for the like: fine\n":         {Actor: "me", Body: room.PermissionAnswered{ID: "1.1", Allowed: true, Always: true, By: "me", Reason: "fine"}},
		"── permission 1.1 allowed by eve\n":                                  {Actor: "eve", Body: room.PermissionAnswered{ID: "1.1", Allowed: true, By: "eve"}},
		"── permission 1.1 denied by you: no\n":                               {Actor: "me", Body: room.PermissionAnswered{ID: "1.1", By: "me", Reason: "no"}},
		"── permission 1.1 refused: the turn was interrupted: paused\n":       {Actor: room.ActorRoom, Body: room.PermissionAnswered{ID: "1.1", By: "cancelled", Reason: "the turn was interrupted: paused"}},
		"── permission 1.1 refused: \"/etc\" is outside the agent's folder\n": {Actor: room.ActorRoom, Body: room.PermissionAnswered{ID: "1.1", By: "room", Reason: `"/etc" is outside the agent's folder`}},
	} {
		if got := p.Event(e); got != want+"\n" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
