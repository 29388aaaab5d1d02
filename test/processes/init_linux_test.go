package processes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
)

// pressEach presses keys one by one, as a person does.
func (x *terminal) pressEach(keys string) {
	x.t.Helper()
	for _, key := range keys {
		x.press(string(key))
	}
}

// TestInitAsksWhichAgents: at a terminal a person chooses agents by number or
// name. A wrong answer is explained and asked for again.
func TestInitAsksWhichAgents(t *testing.T) {
	t.Parallel()
	w := newAgentsBench(t, "claude-agent-acp", "gemini")
	x := openTerminal(t, w, 120, "init", "room")
	x.sees("1  claude    found    "+filepath.Join(w.dir, "bin", "claude-agent-acp"), "2  codex     missing  install Node.js with npm", "Enter alone writes the demo")
	if !strings.Contains(x.sent(), "\x1b[32mfound") {
		t.Errorf("the list has no colours: %q", x.sent())
	}
	x.pressEach("codex\r")
	x.sees("codex is missing: install Node.js")
	x.pressEach("9\r")
	x.sees(`"9" is no number or name of the list`)
	x.pressEach("gemmini\x7f\x7f\x7f\x7fini, 1\r")
	x.sees("next: write the objective in room/room.yaml")
	if code := x.end(); code != app.ExitOK {
		t.Errorf("exit code %d\n%s", code, x.screen)
	}
	text, err := os.ReadFile(filepath.Join(w.dir, "room", "room.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"{kind: acp, agent: gemini}", "{kind: acp, agent: claude}"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the room has no %s:\n%s", want, text)
		}
	}
}

// TestInitAtATerminalWithoutColour: Enter alone writes the demo, and flags that
// say what to write leave no question.
func TestInitAtATerminalWithoutColour(t *testing.T) {
	t.Parallel()
	w := newAgentsBench(t)
	x := openTerminalAs(t, w, 120, []string{"TERM=dumb"}, "init", "room")
	x.wait("Enter alone writes the demo")
	x.pressEach("\r")
	x.wait("next: moot run room/room.yaml")
	if code := x.end(); code != app.ExitOK || strings.Contains(x.sent(), "\x1b") {
		t.Errorf("exit code %d, the terminal got %q", code, x.sent())
	}
	for _, args := range [][]string{{"init", "--template", "demo", "a"}, {"init", "--no-input", "b"}, {"init", "-o", "json", "c"}} {
		y := openTerminal(t, w, 120, args...)
		if code := y.end(); code != app.ExitOK {
			t.Errorf("%v: exit code %d\n%s", args, code, y.screen)
		}
	}
}

// TestInitWritesNothingUnanswered: a person who leaves gets no room, and one whose
// folder has a room is not asked first.
func TestInitWritesNothingUnanswered(t *testing.T) {
	t.Parallel()
	w := newAgentsBench(t, "gemini")
	for key, name := range map[string]string{"\x03": "interrupted", "\x04": "left"} {
		x := openTerminal(t, w, 120, "init", name)
		x.sees("Seat which?")
		x.pressEach("gem")
		if key == "\x04" {
			x.pressEach("\x15") // Ctrl-D ends an empty line only
		}
		x.pressEach(key)
		if code := x.end(); code != app.ExitInterrupted {
			t.Errorf("%s: exit code %d\n%s", name, code, x.screen)
		}
		if _, err := os.Stat(filepath.Join(w.dir, name)); err == nil {
			t.Errorf("%s: a folder was made", name)
		}
	}
	w.write("room.yaml", "mine")
	x := openTerminal(t, w, 120, "init")
	x.sees("INIT-EXISTS")
	if code := x.end(); code != app.ExitUsage || strings.Contains(x.sent(), "Seat which?") {
		t.Errorf("exit code %d\n%s", code, x.screen)
	}
}
