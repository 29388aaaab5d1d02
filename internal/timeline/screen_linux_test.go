package timeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// TestDraftKeys: a draft is approved by its chord, or by Enter while it is
// highlighted, and by nothing else.
func TestDraftKeys(t *testing.T) {
	x := show(t, 80, 24)
	x.drafts("h1", "shall I?")
	x.press("\r\r")      // nothing is highlighted
	x.press("\tabc\x15") // text takes the highlight away
	x.press("\r")
	x.press("\t")
	x.sees("Enter approves this draft")
	if got := x.screen.Reversed(); !strings.Contains(got, "DRAFT #1 code") {
		t.Errorf("highlighted is %q", got)
	}
	x.press("\x1b") // Escape leaves it, and does not count as the first of two
	x.sees("Tab highlight")
	x.press("\t")
	x.sees("Enter approves this draft")
	x.room.emit(room.TurnEdited{Turn: 1, Draft: "h2", Text: "another text"})
	x.sees("another text", "Tab highlight") // the highlight was for the other text
	x.press("\r")
	x.press("hello\r")
	x.does(room.Say{Text: "hello"})
	x.press("\t")
	x.sees("Enter approves this draft")
	x.press("\r")
	x.does(room.Say{Text: "hello"}, room.Approve{Draft: "h2"})
	x.press("\x0f")
	x.does(room.Say{Text: "hello"}, room.Approve{Draft: "h2"}, room.Approve{Draft: "h2"})
}

// TestResumedDraft: the draft that waits in a room that was opened again can be
// highlighted and approved.
func TestResumedDraft(t *testing.T) {
	x := show(t, 80, 24, func(s *Session) {
		s.Before = &room.State{
			Spec: room.Spec{Room: "r_1", Name: "review", Objective: "Decide."}, Phase: room.PhaseLive,
			Turn: &room.Turn{Number: 3, Participant: "code", Draft: &room.Draft{Hash: "h0", Why: "manual", Message: room.Message{From: "code", Text: "an old draft"}}},
		}
	})
	x.sees("Decide.", "│ an old draft", "Ctrl-O approve")
	x.press("\t")
	x.sees("Enter approves this draft")
	if got := x.screen.Reversed(); !strings.Contains(got, "DRAFT #3 code") || strings.Contains(got, "review") {
		t.Errorf("highlighted is %q", got)
	}
	x.press("\r")
	x.does(room.Approve{Draft: "h0"})
}

// TestQuestions: reject and edit ask for a text, and give back what was being
// typed. An answer is for the draft that was asked about.
func TestQuestions(t *testing.T) {
	x := show(t, 80, 24)
	x.drafts("h1", "first line\n\nthird line")
	x.press("half a sen\x12")
	x.sees("reject, because>")
	x.press("too long")
	x.room.emit(room.TurnEdited{Turn: 1, Draft: "h2", Text: "another text"})
	x.sees("another text")
	x.press("\r")
	x.does(room.Reject{Draft: "h1", Reason: "too long"}) // the room refuses it: h2 waits
	x.sees("say> half a sen")
	x.press("tence\r")
	x.sees("say>\n")
	x.press("\x18")
	x.sees("edit draft> first line⏎⏎third line")
	x.press("\x1b")
	x.sees("say>\n")
	x.press("\x18")
	x.sees("edit draft> first line⏎⏎third line")
	x.press("!\r")
	x.does(room.Reject{Draft: "h1", Reason: "too long"}, room.Say{Text: "half a sentence"},
		room.Edit{Draft: "h2", Text: "first line\n\nthird line!"})
}

// TestMenu: a seat is chosen by its number, its id, its name or the begin of
// either.
func TestMenu(t *testing.T) {
	for answer, want := range map[string]string{"2\r": "dba", "DBA\r": "dba", "code agent\r": "code", "se\t\r": "sec", "SEC\r": "sec"} {
		x := show(t, 80, 24)
		x.press("\x14")
		x.sees("which? 1 code  2 dba  3 sec", "takeover>")
		x.press(answer)
		x.does(room.TakeOver{Participant: want})
	}
	x := show(t, 80, 24)
	x.press("/mute\r")
	x.sees("mute>")
	x.press("\r") // none
	x.sees("say>")
	x.press("/next dba\r")
	x.does(room.Next{Participant: "dba"})
}

// TestEscape: two in a row stop the room; one behind text, with a letter in the
// same read, or with text between it and the next does not.
func TestEscape(t *testing.T) {
	x := show(t, 80, 24)
	x.drafts("h1", "draft")
	x.press("\x1ba")
	x.sees("say> a")
	x.press("\x1bo")
	x.sees("say> ao")
	x.press("\x12") // a question
	x.sees("reject, because>")
	x.press("\x1b")
	x.sees("say> ao")
	x.press("\x1b")
	x.sees("Esc again stops the room")
	x.press("k")
	x.sees("say> aok")
	x.press("\x1b")
	x.sees("Esc again stops the room")
	if got := x.room.done(); got != nil {
		t.Errorf("did %v", got)
	}
	x.press("\x1b\x1b")
	x.does(room.Stop{})
}

// TestCommands: a slash begins a command, two begin a message, and a command
// that takes no text refuses one.
func TestCommands(t *testing.T) {
	x := show(t, 80, 24)
	x.drafts("h1", "draft")
	x.press("//etc/passwd is wrong\r")
	x.does(room.Say{Text: "/etc/passwd is wrong"})
	x.press("/approve of what?\r")
	x.sees("approve takes no text, and nothing was done")
	x.press("/dance\r")
	x.sees(`there is no command "dance"`)
	x.press("/app\t\r")
	x.does(room.Say{Text: "/etc/passwd is wrong"}, room.Approve{Draft: "h1"})
	x.press("/su\t d\t noisy\r")
	x.does(room.Say{Text: "/etc/passwd is wrong"}, room.Approve{Draft: "h1"},
		room.SetStanding{Participant: "dba", Standing: room.Suspended, Reason: "noisy"})
}

// TestPaste: a bracketed paste is text, whatever is in it.
func TestPaste(t *testing.T) {
	x := show(t, 80, 24)
	x.drafts("h1", "draft")
	x.press("\t\x1b[200~/approve\r\nsecond\x0f line\t\x1b[2J\x1b[201~")
	x.sees("command> /approve⏎second line")
	x.press("\x15fine\r")
	x.does(room.Say{Text: "fine"})
}

// TestLineEditing: the keys of a shell, with characters of any width.
func TestLineEditing(t *testing.T) {
	x := show(t, 40, 12)
	cursor := func(want int) {
		t.Helper()
		x.until(fmt.Sprintf("had the cursor in column %d", want), func() bool {
			_, col := x.screen.Cursor()
			return col == want
		})
	}
	x.press("one 漢字 three")
	x.sees("say> one 漢字 three")
	cursor(19)
	x.press("\x1bb\x1bb") // Alt-B
	cursor(9)
	x.press("\x1b[H") // Home
	cursor(5)
	x.press("\x1b[1;5C") // Ctrl-Right
	cursor(8)
	x.press("\x1b[F\x17") // End, Ctrl-W
	x.sees("say> one 漢字\n")
	x.press("\x1b[H\x1b[3~\x1b[3~\x1b[3~\x1b[3~") // Delete
	x.sees("say> 漢字\n")
	x.press("\x1b[F" + strings.Repeat(" 漢字 wide", 9))
	x.sees("wide")
	cursor(38)
	for _, line := range x.screen.Lines() {
		if columns(line) > 40 {
			t.Errorf("a line has %d columns: %q", columns(line), line)
		}
	}
	x.press("\x15👩‍💻é🇩🇪")
	x.sees("👩")
	x.press("\r")
	x.does(room.Say{Text: "👩‍💻é🇩🇪"})
}

// TestResize: at every size the input is there, no line is cut by the terminal,
// and the text is wrapped again.
func TestResize(t *testing.T) {
	x := show(t, 100, 30)
	x.room.emit(room.MessagePosted{Message: room.Message{From: "code", To: room.Broadcast, Text: strings.Repeat("a sentence that has to be wrapped ", 20)}})
	x.drafts("h1", "shall I?")
	x.press("typed")
	for _, size := range [][2]int{{40, 20}, {24, 9}, {24, 6}, {120, 50}, {12, 4}, {3, 2}, {1, 1}, {80, 24}} {
		x.resize(size[0], size[1])
		if size[0] >= 12 {
			x.sees("typed")
		}
	}
	x.sees("DRAFT of code waits for you", "Ctrl-O approve")
	if got := len(x.screen.Lines()); got != 24 {
		t.Errorf("%d lines", got)
	}
	x.press("\r")
	x.does(room.Say{Text: "typed"})
}

// TestScrolling: the lines that a person reads stay where they are while the
// room goes on, also when the oldest are dropped.
func TestScrolling(t *testing.T) {
	x := show(t, 60, 20)
	say := func(i int) {
		x.room.emit(room.MessagePosted{Message: room.Message{From: "code", To: room.Broadcast, Text: fmt.Sprintf("message %d.", i)}})
	}
	for i := range 500 {
		say(i)
	}
	x.sees("message 499.")
	x.press(strings.Repeat("\x1b[5~", 3)) // three pages up
	x.sees("more ↓", "message 483.")
	reading := strings.Join(x.screen.Lines()[1:16], "\n")
	for i := 500; i < 600; i++ {
		say(i)
	}
	x.sees("100 new ↓")
	if got := strings.Join(x.screen.Lines()[1:16], "\n"); got != reading {
		t.Errorf("the lines have moved:\n%s\nwant\n%s", got, reading)
	}
	for i := 600; i < 2400; i++ { // the oldest are dropped
		say(i)
	}
	x.sees("1900 new ↓")
	x.press("\x1b[F")
	x.sees("message 2399.")
	x.until("had no count", func() bool { return !strings.Contains(x.screen.String(), "↓") })
	x.press("\x1b[H")
	x.sees("more ↓")
	if strings.Contains(x.screen.String(), "message 0.") {
		t.Error("nothing was dropped")
	}
	x.press("\x1b[F")
	x.room.emit(room.MessagePosted{Message: room.Message{From: "code", To: room.Broadcast, Text: strings.Repeat("very long ", 100_000) + "end."}})
	x.sees("end.")
}

// TestHostileText: no control sequence of an agent reaches the terminal, by any
// way that text takes to the screen.
func TestHostileText(t *testing.T) {
	x := show(t, 90, 40)
	payloads := []string{
		"\x1b]0;owned\a", "\x1b]52;c;b3duZWQ=\a", "\x1b]8;;http://evil\x1b\\", "\x1b[5n", "\x1b[6n", "\x1b[?1049l", "\x1bPq#0\x1b\\", "\x1bc",
		"\x1b[31;5m", "\u009b2J", "\u202eevil\u202c", "\u2066", "\u200b", "\x00\x07\b\x7f", "\r", "\x1b[999;999H", "\ue00a", "\xff\xfe",
	}
	all := strings.Join(payloads, "x")
	hostile := func(s string) string { return s + " " + all + " " + s + "-end" }
	x.room.mu.Lock()
	x.room.view.Name = hostile("room")
	x.room.view.Seats[0].Name, x.room.view.Seats[0].Owner = hostile("seat"), hostile("owner")
	x.room.view.Policy, x.room.view.Seats[1].Phase, x.room.view.Seats[1].Why = hostile("policy"), "muted", hostile("muted")
	x.room.mu.Unlock()
	x.room.emit(room.Opened{Spec: room.Spec{Room: "r_1", Name: hostile("spec"), Objective: hostile("objective")}})
	x.room.emit(room.Joined{Participant: room.Participant{ID: "code", Name: hostile("name"), Owner: hostile("owner")}})
	x.room.emit(room.MessagePosted{Message: room.Message{From: "code", To: room.Broadcast, Text: hostile("text")}})
	x.room.emit(room.RoundDeclined{Reason: hostile("reason")})
	x.room.emit(room.Violation{Participant: "code", Code: hostile("code"), Detail: hostile("detail")})
	x.room.emit(room.ReplyLate{Participant: hostile("who")})
	x.room.emit(room.TurnGranted{Turn: 1, Participant: "code", Reason: hostile("why")})
	x.room.delta("code", hostile("delta"))
	x.room.emit(room.TurnDrafted{Turn: 1, Draft: "h1", Why: hostile("asks"), Message: room.Message{From: "code", Text: hostile("draft")}})
	x.sees("draft-end")
	x.press("/roster\r")
	x.sees("ROSTER  policy", "local · owner xxx", "muted-end")
	x.press("\x1b")
	x.sees("draft-end")
	x.press("\x16")
	x.sees("INBOX  1 waits for you", "draft-end")
	x.press("\x1b")
	x.sees("Tab highlight")
	x.press("/takeover\r")
	x.sees("takeover>")
	x.press("\x1b")
	x.sees("say>")
	x.press("\x18")
	x.sees("edit draft>")
	x.press("\x1b")
	x.sees("say>")
	x.press("\x1b\x1b")
	x.does(room.Stop{})
	x.until("ended", func() bool { return !x.screen.Alternate() })
	if unknown := x.screen.Unknown(); unknown != nil {
		t.Errorf("the terminal was sent %q", unknown)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range []string{"\x1b]", "\x1bP", "\x1bc", "\x1b[5n", "\x1b[6n", "\x1b[31;5m", "\x1b[999", "\u009b", "\u202e", "\u2066", "\u200b", "\x00", "\a", "\x7f", "\xff"} {
		if strings.Contains(string(x.sent), p) {
			t.Errorf("the terminal was sent %q", p)
		}
	}
}

// TestStatusLine: the line that says what a person waits for is part of the frame
// of the screen, and not of the timeline.
func TestStatusLine(t *testing.T) {
	diverted := make(chan Diversion, 1)
	x := show(t, 80, 24, func(s *Session) {
		s.Terminal.Divert = func(d Diversion) func() {
			diverted <- d
			return func() {}
		}
	})
	d := <-diverted
	x.sees("● LIVE")
	d.Status("| preparing policy quiet")
	x.sees("── | preparing policy quiet ─")
	fmt.Fprintln(d, "a warning")
	d.Status("/ preparing policy quiet")
	x.sees("── / preparing policy quiet ─", "a warning")
	d.Status("")
	x.sees("● LIVE", "a warning")
	if strings.Contains(x.screen.String(), "preparing") {
		t.Errorf("a status line is left:\n%s", x.screen)
	}
}

// TestDegraded: a room that settled, but not as designed, is no success on the
// screen, and the keys that it names go on.
func TestDegraded(t *testing.T) {
	x := show(t, 80, 24)
	x.room.mu.Lock()
	x.room.view.Phase = room.PhaseCompleted
	x.room.view.Ending = room.Ending{Cause: room.CauseSettled, Degraded: true}
	x.room.view.Seats[1].Phase = string(room.Suspended)
	x.room.mu.Unlock()
	x.room.emit(room.Completed{Cause: room.CauseSettled, Reason: "nobody is eligible; dba is suspended for its failures", Degraded: true})
	x.sees("! settled, degraded: nobody is eligible", "── ! SETTLED, DEGRADED ─", "/restore dba, then Ctrl-Q resume")
	x.press("/restore dba\r")
	x.press("\x11")
	x.does(room.SetStanding{Participant: "dba", Standing: room.Active}, room.Resume{})
}

// TestStoppedByLimit: a room that a limit has stopped names that limit.
func TestStoppedByLimit(t *testing.T) {
	x := show(t, 80, 24)
	x.room.mu.Lock()
	x.room.view.Ending = room.Ending{Cause: room.CauseLimit, Name: "maxCost"}
	x.room.view.Limits.MaxCost = 100
	x.room.view.Raised = x.room.view.Limits
	x.room.view.Raised.MaxCost = 2_500_000
	x.room.mu.Unlock()
	x.room.emit(room.Stopped{Cause: room.CauseLimit, Name: "maxCost", Reason: "limit maxCost: 0.0001 spent"})
	x.sees("STOPPED: limit maxCost", "/limits maxCost=2.50 goes on  /quit")
}

// TestOrder: commands reach the room in the order in which they were typed. A
// pause and a stop do not wait for those before.
func TestOrder(t *testing.T) {
	x := show(t, 80, 24)
	var keys strings.Builder
	var want []room.Act
	for i := range 100 {
		fmt.Fprintf(&keys, "message %d\r", i)
		want = append(want, room.Say{Text: fmt.Sprintf("message %d", i)})
	}
	x.press(keys.String())
	x.does(want...)

	x = show(t, 80, 24)
	x.room.gate = make(chan struct{})
	x.press("one\r")
	x.does(room.Say{Text: "one"})
	x.press("two\r\x13")
	x.does(room.Say{Text: "one"}, room.Pause{})
	close(x.room.gate)
	x.does(room.Say{Text: "one"}, room.Pause{}, room.Say{Text: "two"})
}
