// Package termtest emulates a terminal for tests: it shows what a person would
// see of the bytes that a program writes.
package termtest

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// A Screen is an emulated terminal. It knows the control sequences that screens
// of moot use and keeps those that it does not know. It is safe for concurrent
// use.
type Screen struct {
	mu         sync.Mutex
	cols, rows int
	main, alt  page
	page       *page
	history    []string // lines that have scrolled off the main page
	pending    []byte   // the begin of a sequence
	unknown    []string
	written    int // bytes
	last       rune
	reverse    bool
}

// A page is one of the two buffers of a terminal.
type page struct {
	cells       [][]cell
	row, col    int
	wrap        bool // the cursor is behind the last column
	top, bottom int  // of the scrolling region
	saved       [2]int
}

// A cell is one column. The second column of a wide character is empty.
type cell struct {
	text    string
	reverse bool
}

// New returns a terminal of that size.
func New(cols, rows int) *Screen {
	s := &Screen{}
	s.main, s.alt = newPage(cols, rows), newPage(cols, rows)
	s.page, s.cols, s.rows = &s.main, cols, rows
	return s
}

func newPage(cols, rows int) page {
	p := page{bottom: rows - 1}
	for range rows {
		p.cells = append(p.cells, blank(cols))
	}
	return p
}

func blank(cols int) []cell {
	line := make([]cell, cols)
	for i := range line {
		line[i].text = " "
	}
	return line
}

// Resize changes the size. Lines are cut, as terminals without reflow do.
func (s *Screen) Resize(cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range []*page{&s.main, &s.alt} {
		old := p.cells
		*p = newPage(cols, rows)
		for i := range min(rows, len(old)) {
			copy(p.cells[i], old[i])
		}
	}
	s.cols, s.rows = cols, rows
}

// Write implements io.Writer.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written += len(b)
	s.pending = append(s.pending, b...)
	for len(s.pending) > 0 {
		n := s.step(s.pending)
		if n == 0 {
			break // an unfinished sequence
		}
		s.pending = s.pending[n:]
	}
	return len(b), nil
}

// String returns the lines that are shown, without spaces at their ends.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.page.text()
}

// Lines returns the lines that are shown.
func (s *Screen) Lines() []string { return strings.Split(s.String(), "\n") }

// History returns what has scrolled off the main page, and the main page.
func (s *Screen) History() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(append(append([]string(nil), s.history...), s.main.text()), "\n")
}

// Cursor returns the position of the cursor.
func (s *Screen) Cursor() (row, col int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.page.row, s.page.col
}

// Alternate reports whether the alternate page is shown.
func (s *Screen) Alternate() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.page == &s.alt
}

// Reversed returns the text that is shown in reverse.
func (s *Screen) Reversed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, line := range s.page.cells {
		for _, c := range line {
			if c.reverse {
				b.WriteString(c.text)
			}
		}
	}
	return b.String()
}

// Unknown returns the sequences that the terminal does not know.
func (s *Screen) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.unknown...)
}

func (p *page) text() string {
	var lines []string
	for _, line := range p.cells {
		lines = append(lines, joined(line))
	}
	return strings.Join(lines, "\n")
}

func joined(line []cell) string {
	var b strings.Builder
	for _, c := range line {
		b.WriteString(c.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// step handles the begin of b and returns its length, 0 if more is needed.
func (s *Screen) step(b []byte) int {
	switch c := b[0]; {
	case c == 0x1b:
		return s.escape(b)
	case c < ' ' || c == 0x7f:
		s.control(c)
		return 1
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	s.put(r)
	return n
}

func (s *Screen) control(c byte) {
	p := s.page
	switch c {
	case '\r':
		p.col, p.wrap = 0, false
	case '\n', '\v', '\f':
		s.feed()
	case '\b':
		p.col, p.wrap = max(0, p.col-1), false
	case '\t':
		p.col = min(s.cols-1, p.col/8*8+8)
	case 0, 0x0e, 0x0f:
	default:
		s.unknown = append(s.unknown, strconv.Quote(string(rune(c))))
	}
}

// put shows a character at the cursor.
func (s *Screen) put(r rune) {
	p, width := s.page, uniseg.StringWidth(string(r))
	if width == 0 {
		if at := p.col - 1; at >= 0 {
			p.cells[p.row][at].text += string(r)
		}
		return
	}
	if p.wrap || p.col+width > s.cols {
		p.col, p.wrap = 0, false
		s.feed()
	}
	s.last = r
	p.cells[p.row][p.col] = cell{string(r), s.reverse}
	for i := 1; i < width && p.col+i < s.cols; i++ {
		p.cells[p.row][p.col+i] = cell{"", s.reverse}
	}
	p.col += width
	if p.col >= s.cols {
		p.col, p.wrap = s.cols-1, true
	}
}

// feed moves the cursor down, and scrolls at the end of the region.
func (s *Screen) feed() {
	p := s.page
	p.wrap = false
	if p.row != p.bottom {
		p.row = min(p.row+1, s.rows-1)
		return
	}
	if p == &s.main && p.top == 0 {
		s.history = append(s.history, joined(p.cells[0]))
	}
	s.shift(p.top, 1)
}

// shift moves the lines from row to the end of the region up by n, or down for a
// negative n.
func (s *Screen) shift(row, n int) {
	p := s.page
	region := p.cells[row : p.bottom+1]
	for range min(max(n, 0), len(region)) {
		copy(region, region[1:])
		region[len(region)-1] = blank(s.cols)
	}
	for range min(max(-n, 0), len(region)) {
		copy(region[1:], region)
		region[0] = blank(s.cols)
	}
}
