package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A statusScreen records what it is given in place of a terminal.
type statusScreen struct {
	bytes.Buffer
	status []string
}

func (s *statusScreen) Status(line string) { s.status = append(s.status, line) }

// TestConsoleStatus: a status line is removed before other text and before a
// screen takes the terminal over. The screen shows it in its own way.
func TestConsoleStatus(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "console"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := NewConsole(f)
	write := func(text string) {
		t.Helper()
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	c.Status("")
	c.Status("| one")
	c.Status("/ one")
	write("a note\n")
	c.Status("- one")
	var screen statusScreen
	restore := c.Divert(&screen)
	c.Status("| two")
	write("another\n")
	c.Status("")
	restore()
	write("the end\n")
	got, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	const gone = "\r\x1b[K"
	if want := "| one" + gone + "/ one" + gone + "a note\n- one" + gone + "the end\n"; string(got) != want {
		t.Errorf("the terminal was sent %q, want %q", got, want)
	}
	if screen.String() != "another\n" || len(screen.status) != 2 || screen.status[0] != "| two" || screen.status[1] != "" {
		t.Errorf("the screen was given %q and %q", screen.String(), screen.status)
	}
}
