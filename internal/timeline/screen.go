package timeline

import (
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"
)

// A Screen is a terminal whose last line is redrawn.
type Screen struct {
	in, out *os.File
	saved   *term.State
	shown   string // content of the last line; "" if there is none
}

// OpenScreen sets the terminal in to raw mode, to read single keys, and draws on
// out. It returns nil if they are not terminals. The caller must call Close.
func OpenScreen(in, out *os.File) *Screen {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	saved, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil
	}
	return &Screen{in: in, out: out, saved: saved}
}

// Close restores the terminal. It may be called again.
func (c *Screen) Close() {
	if c == nil || c.saved == nil {
		return
	}
	c.clear()
	term.Restore(int(c.in.Fd()), c.saved)
	c.saved = nil
}

// live reports whether the screen is in use.
func (c *Screen) live() bool { return c != nil && c.saved != nil }

func (c *Screen) width() int {
	if c == nil {
		return 0
	}
	w, _, err := term.GetSize(int(c.out.Fd()))
	if err != nil {
		return 0
	}
	return w
}

func (c *Screen) clear() {
	if c.shown != "" {
		io.WriteString(c.out, "\r\x1b[K")
		c.shown = ""
	}
}

// last draws the last line. The cursor is at column col, or at the end if col is
// negative.
func (c *Screen) last(line string, col int) {
	s := "\r\x1b[K" + line
	if col == 0 {
		s += "\r"
	} else if col > 0 {
		s += "\r" + "\x1b[" + strconv.Itoa(col) + "C"
	}
	if s != c.shown {
		io.WriteString(c.out, s)
		c.shown = s
	}
}

// lines prepares finished lines for w. A terminal in raw mode needs carriage
// returns.
func (c *Screen) lines(w io.Writer, text string) string {
	if f, ok := w.(*os.File); ok && c.live() && term.IsTerminal(int(f.Fd())) {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func (s *Session) screenWidth() int {
	if w := s.Screen.width(); w > 0 {
		return w
	}
	return defaultWidth
}

// show writes finished lines above the last line.
func (s *Session) show(w io.Writer, text string) {
	if s.raw != nil {
		s.raw.clear()
	}
	io.WriteString(w, s.Screen.lines(w, text))
}

// draw redraws the last line.
func (s *Session) draw() {
	switch {
	case s.raw == nil:
	case s.edit != nil:
		prompt := s.prompt()
		line, col := s.edit.line(max(4, s.screenWidth()-len([]rune(prompt))-1))
		s.raw.last(s.Printer.paint(bold, prompt)+line, len([]rune(prompt))+col)
	case s.menu != nil:
		s.raw.last(s.choices(), -1)
	case s.asked:
		s.raw.last(s.Printer.paint(yellow, "q again pauses the room and leaves; any other key stays"), -1)
	default:
		s.raw.last(s.statusLine(time.Now()), -1)
	}
}
