package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/cli/app"
	"golang.org/x/sys/unix"
)

// A terminal is a pseudo terminal with moot in it.
type terminal struct {
	t    *testing.T
	ours *os.File
	cmd  *exec.Cmd

	mu   sync.Mutex
	seen strings.Builder
	more chan struct{}
}

// openTerminal runs moot in a terminal of that many columns.
func openTerminal(t *testing.T, w *workbench, columns uint16, args ...string) *terminal {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("this machine has no pseudo terminals: %v", err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, ours: ours, more: make(chan struct{}, 1)}
	x.cmd = exec.Command("moot", args...)
	x.cmd.Dir, x.cmd.Env = w.dir, append(w.env, "TERM=xterm-256color", "NO_COLOR=")
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
		select {
		case x.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// wait waits until the terminal has shown text and returns all that it has.
func (x *terminal) wait(text string) string {
	x.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		x.mu.Lock()
		seen := x.seen.String()
		x.mu.Unlock()
		if strings.Contains(seen, text) {
			return seen
		}
		select {
		case <-x.more:
		case <-deadline:
			x.t.Fatalf("the terminal never showed %q; it shows\n%s", text, seen)
		}
	}
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

func TestTerminal(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	x := openTerminal(t, w, 100, "run")
	x.wait("[a]pprove [e]dit [x]reject")
	x.press("a")
	x.wait("approved by you")
	x.wait("│\x1b[0m three")
	x.press("e")
	x.wait("/edit three")
	x.press("\x15/edit three and a half\r")
	x.wait("edited by you")
	x.press("a")
	x.wait("edited by you · approved by you")
	x.wait("│\x1b[0m five")
	x.press("Looks good to me.")
	x.wait("Looks good to me.")
	x.press("\r")
	x.wait("\x1b[1;33mYou")
	x.press("p")
	x.wait("paused by you")
	x.wait("p resume")
	x.press("p")
	x.wait("resumed by you")
	x.press("t")
	x.wait("which?  1 A  2 B")
	x.press("2")
	x.wait("B is taken over by you")
	x.press("x")
	x.wait("draft rejected by you")
	x.wait("YOU have the floor for B")
	x.press("s")
	x.wait("B> ")
	x.press("I speak for B now.\r")
	x.wait("typed by you")
	x.press("r")
	x.wait("B is released")
	x.press("?")
	x.wait("Esc Esc stop the room")
	x.press("\x1b")
	x.press("\x1b")
	seen := x.wait("stopped by you")
	if code := x.end(); code != app.ExitOK {
		t.Errorf("exit code %d", code)
	}
	for _, line := range strings.Split(seen, "\n") {
		if line != "" && !strings.HasSuffix(line, "\r") && strings.Contains(line, "──") {
			t.Errorf("a line does not return the carriage: %q", line)
		}
	}
}

func TestTerminalQuit(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	x := openTerminal(t, w, 30, "run")
	x.wait("DRAFT of A")
	x.press("q")
	x.wait("q again")
	x.press("q")
	x.wait("paused by you")
	x.wait("go on with: moot run --room")
	if code := x.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// Ctrl-C in a terminal in raw mode is no signal of the terminal's, and must
// end as one.
func TestTerminalInterrupt(t *testing.T) {
	w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
	x := openTerminal(t, w, 80, "run")
	x.wait("DRAFT of A")
	x.press("\x03")
	x.wait("press Ctrl-C again to quit now")
	x.wait("paused by you")
	if code := x.end(); code != app.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}
