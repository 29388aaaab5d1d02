package processes

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/termtest"
)

// A terminal is a pseudo terminal with moot in it.
type terminal struct {
	t      *testing.T
	ours   *os.File
	cmd    *exec.Cmd
	screen *termtest.Screen // what a person sees

	mu   sync.Mutex
	seen strings.Builder
	more chan struct{}
}

// openTerminal runs moot in a terminal of that many columns.
func openTerminal(t *testing.T, w *workbench, columns int, args ...string) *terminal {
	t.Helper()
	return openTerminalAs(t, w, columns, []string{"TERM=xterm-256color", "NO_COLOR="}, args...)
}

func openTerminalAs(t *testing.T, w *workbench, columns int, env []string, args ...string) *terminal {
	t.Helper()
	ours, theirs := termtest.Pty(t, columns, 40)
	x := &terminal{t: t, ours: ours, screen: termtest.New(columns, 40), more: make(chan struct{}, 1)}
	x.cmd = exec.Command("moot", args...)
	x.cmd.Dir, x.cmd.Env = w.dir, append(append([]string(nil), w.env...), env...)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = theirs, theirs, theirs
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		x.read()
	}()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill() // it has mostly ended long ago
		<-read
		ours.Close()
	})
	return x
}

// read collects what is shown until the last process has left the terminal.
func (x *terminal) read() {
	b := make([]byte, 4096)
	for {
		n, err := x.ours.Read(b)
		x.mu.Lock()
		x.seen.Write(b[:n])
		x.mu.Unlock()
		_, _ = x.screen.Write(b[:n])
		select {
		case x.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// wait waits until the terminal was sent text, and returns all that it was sent.
func (x *terminal) wait(text string) string {
	x.t.Helper()
	x.until("was sent "+strconv.Quote(text), func() bool { return strings.Contains(x.sent(), text) })
	return x.sent()
}

// sees waits until the screen shows each of the texts.
func (x *terminal) sees(texts ...string) {
	x.t.Helper()
	x.until(fmt.Sprintf("showed %q", texts), func() bool {
		screen := x.screen.String()
		return !slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(screen, s) })
	})
}

func (x *terminal) until(what string, ok func() bool) {
	x.t.Helper()
	deadline := time.After(3 * time.Minute)
	for !ok() {
		select {
		case <-x.more:
		case <-deadline:
			x.t.Fatalf("the terminal never %s; it shows\n%s", what, x.screen)
		}
	}
}

// sent returns all bytes that the terminal was sent.
func (x *terminal) sent() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen.String()
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.ours.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

func (x *terminal) end() int {
	_ = x.cmd.Wait() // the code says it
	return x.cmd.ProcessState.ExitCode()
}

// ptyRoom waits for a person at every turn of A.
const ptyRoom = `version: room/v1
name: review
objective: See whether a person can steer this room by keys.
participants:
  - {id: A, endpoint: {kind: scripted, lines: ["one", "three", "five", "seven"]}}
  - {id: B, mode: full_auto, endpoint: {kind: scripted, lines: ["two", "four", "six"]}}
  - {id: me, name: Michael, kind: human}
policy: {use: roundrobin}
`

// Keys of the screen.
const (
	keyApprove = "\x0f" // Ctrl-O
	keyEdit    = "\x18" // Ctrl-X
	keyReject  = "\x12" // Ctrl-R
	keyPause   = "\x13" // Ctrl-S
	keyResume  = "\x11" // Ctrl-Q
	keyTake    = "\x14" // Ctrl-T
	keyLeave   = "\x04" // Ctrl-D
	keyErase   = "\x15" // Ctrl-U
	keyInbox   = "\x16" // Ctrl-V
	keyUp      = "\x1b[A"
	keyDown    = "\x1b[B"
)

func TestTerminal(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	x := openTerminal(t, w, 100, "run")
	x.sees("DRAFT #1 A", "│ one", "DRAFT of A waits for you", "Ctrl-O approve", "say>")
	x.press(keyApprove)
	x.sees("approved by you", "│ three")
	x.press(keyEdit)
	x.sees("edit draft> three")
	x.press(keyErase + "three and a half\r")
	x.sees("edited by you", "│ three and a half")
	x.press("\t")
	x.sees("Enter approves this draft")
	x.press("\r")
	x.sees("edited by you · approved by you", "│ five")
	x.press("approved by whom?")
	x.sees("say> approved by whom?")
	x.press("\r")
	x.sees("  approved by whom?", "You · human", "DRAFT of A waits for you")
	x.press(keyPause)
	x.sees("paused by you", "Ctrl-Q resume")
	x.press(keyResume)
	x.sees("resumed by you")
	x.press(keyTake)
	x.sees("which? 1 A  2 B", "takeover>")
	x.press("2\r")
	x.sees("B is taken over by you")
	x.press(keyReject)
	x.sees("reject, because>")
	x.press("too long\r")
	x.sees("draft rejected by you: too long", "YOU have the floor for B", "\nB>")
	x.press("I speak for B now.\r")
	x.sees("typed by you")
	x.press("/rel\t\r")
	x.sees("B is released")
	x.press("/help\r")
	x.sees("Esc Esc        stop the room")
	x.press("\x1b")
	x.sees("Esc again stops the room")
	x.press("\x1b\x1b") // the second, unless the machine was so busy that it is the first again
	x.wait("stopped by you")
	if code := x.end(); code != app.ExitOK {
		t.Errorf("exit code %d", code)
	}
	x.sees("■ stopped by you", "transcript: moot transcript export")
	if x.screen.Alternate() || !strings.Contains(x.screen.History(), "approved by whom?") {
		t.Errorf("the timeline is not left on the terminal:\n%s", x.screen.History())
	}
	if unknown := x.screen.Unknown(); unknown != nil {
		t.Errorf("the terminal was sent %q", unknown)
	}
}

func TestTerminalQuit(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	x := openTerminal(t, w, 30, "run")
	x.sees("DRAFT #1 A")
	x.press(keyLeave)
	x.sees("Ctrl-D again")
	x.press(keyLeave)
	x.wait("paused by you")
	x.wait("go on with: moot run --room")
	if code := x.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// TestTerminalInterrupt: Ctrl-C pauses the room, though a terminal in raw mode
// makes no signal of it.
func TestTerminalInterrupt(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	x := openTerminal(t, w, 80, "run")
	x.sees("DRAFT #1 A")
	x.press("\x03")
	x.wait("press Ctrl-C again to quit now")
	x.wait("paused by you")
	if code := x.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// TestTerminalInterruptTwice: the second Ctrl-C ends moot while an agent that
// does not end is waited for.
func TestTerminalInterruptTwice(t *testing.T) {
	w := newWorkbench(t, map[string]string{
		"room.yaml": strings.Replace(ptyRoom,
			`{kind: scripted, lines: ["one", "three", "five", "seven"]}`, `{kind: ndjson, command: [sh, deaf.sh]}`, 1),
		"deaf.sh": "trap '' TERM INT HUP\nwhile :; do sleep 1; done\n",
	})
	x := openTerminal(t, w, 80, "run")
	x.sees("A is thinking")
	x.press("\x03")
	x.wait("press Ctrl-C again to quit now")
	x.press("\x03")
	if code := x.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// TestTerminalGone: a terminal that goes away pauses the room.
func TestTerminalGone(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	x := openTerminal(t, w, 80, "run")
	x.sees("DRAFT #1 A")
	id := anyRoom.FindString(x.sent())
	x.ours.Close()
	if code := x.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
	shown, err := w.moot("show", id)
	if err != nil || !strings.Contains(shown, "paused by") {
		t.Errorf("%v\n%s", err, shown)
	}
}

// TestPlainTerminal: a terminal that cannot move its cursor gets lines, and is
// told what to type when a draft waits. A sentence that begins like a command
// is refused.
func TestPlainTerminal(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	x := openTerminalAs(t, w, 80, []string{"TERM=dumb"}, "run")
	x.wait("the draft of A waits: type approve, edit TEXT or reject [REASON]")
	x.press("approve of what?\n")
	x.wait("approve takes no text, and nothing was done")
	x.press("approve\n")
	x.wait("approved by you")
	x.wait("│ three")
	x.press("stop\n")
	x.wait("stopped by you")
	if code := x.end(); code != app.ExitOK {
		t.Errorf("exit code %d", code)
	}
	if strings.Contains(x.sent(), "\x1b") {
		t.Errorf("the terminal was sent control sequences: %q", x.sent())
	}
}
