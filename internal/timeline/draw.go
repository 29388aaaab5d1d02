package timeline

import (
	"io"
	"strconv"
	"time"
)

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

func itoa(n int) string { return strconv.Itoa(n) }

// tail returns the last n bytes of s.
func tail(s string, n int) string { return s[max(0, len(s)-n):] }
