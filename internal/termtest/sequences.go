package termtest

import (
	"strconv"
	"strings"
)

// escape handles a sequence that begins with Escape.
func (s *Screen) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	p := s.page
	switch b[1] {
	case '[':
		return s.csi(b)
	case ']', 'P', 'X', '^', '_':
		return s.str(b)
	case '7':
		p.saved = [2]int{p.row, p.col}
	case '8':
		p.row, p.col = p.saved[0], p.saved[1]
	case 'D':
		s.feed()
	case 'M':
		if p.row == p.top {
			s.shift(p.top, -1)
		} else {
			p.row = max(0, p.row-1)
		}
	case '=', '>':
	case '(', ')':
		if len(b) < 3 {
			return 0
		}
		return 3
	default:
		s.unknown = append(s.unknown, strconv.Quote(string(b[:2])))
	}
	return 2
}

// str reads a title, a hyperlink or another string, none of which moot sends.
func (s *Screen) str(b []byte) int {
	text := string(b)
	for _, end := range []string{"\a", "\x1b\\"} {
		if i := strings.Index(text[2:], end); i >= 0 {
			n := 2 + i + len(end)
			s.unknown = append(s.unknown, strconv.Quote(text[:n]))
			return n
		}
	}
	return 0
}

// csi handles a control sequence: parameters and a final byte.
func (s *Screen) csi(b []byte) int {
	i := 2
	for i < len(b) && (b[i] < 0x40 || b[i] > 0x7e) {
		i++
	}
	if i == len(b) {
		return 0
	}
	args, final := string(b[2:i]), b[i]
	if strings.ContainsAny(args, "?>=<$! \"'") {
		s.mode(args, final)
		return i + 1
	}
	var n []int
	for part := range strings.SplitSeq(args, ";") {
		v, _ := strconv.Atoi(part) // 0 for none
		n = append(n, v)
	}
	if !s.move(final, n) && !s.change(final, n) {
		s.unknown = append(s.unknown, strconv.Quote(string(b[:i+1])))
	}
	return i + 1
}

// mode handles private sequences. Those for keys, paste and queries change
// nothing that is shown.
func (s *Screen) mode(args string, final byte) {
	if final != 'h' && final != 'l' {
		return
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(args, "?"), ";") {
		switch {
		case part != "1049" && part != "47":
		case final == 'h':
			s.alt, s.page = newPage(s.cols, s.rows), &s.alt
		default:
			s.page = &s.main
		}
	}
}

// move handles the sequences that only move the cursor.
func (s *Screen) move(final byte, n []int) bool {
	p := s.page
	one := max(1, n[0])
	second := 1
	if len(n) > 1 {
		second = max(1, n[1])
	}
	switch final {
	case 'A':
		p.row -= one
	case 'B', 'e':
		p.row += one
	case 'C', 'a':
		p.col += one
	case 'D':
		p.col -= one
	case 'E':
		p.row, p.col = p.row+one, 0
	case 'F':
		p.row, p.col = p.row-one, 0
	case 'G', '`':
		p.col = one - 1
	case 'H', 'f':
		p.row, p.col = one-1, second-1
	case 'd':
		p.row = one - 1
	case 'I':
		p.col = (p.col/8 + one) * 8
	case 'Z':
		p.col = ((p.col+7)/8 - one) * 8
	default:
		return false
	}
	p.row, p.col, p.wrap = min(max(0, p.row), s.rows-1), min(max(0, p.col), s.cols-1), false
	return true
}

// change handles the sequences that change what is shown.
func (s *Screen) change(final byte, n []int) bool {
	p := s.page
	one, line := max(1, n[0]), p.cells[p.row]
	switch final {
	case 'J':
		s.erase(n[0])
	case 'K':
		from, to := p.col, s.cols
		switch n[0] {
		case 1:
			from, to = 0, p.col+1
		case 2:
			from = 0
		}
		copy(line[from:to], blank(to-from))
	case 'X':
		end := min(s.cols, p.col+one)
		copy(line[p.col:end], blank(end-p.col))
	case '@':
		rest := append(blank(min(one, s.cols-p.col)), line[p.col:]...)
		copy(line[p.col:], rest)
	case 'P':
		rest := append(append([]cell(nil), line[min(s.cols, p.col+one):]...), blank(one)...)
		copy(line[p.col:], rest)
	case 'b':
		for range one {
			s.put(s.last)
		}
	case 'L':
		s.shift(p.row, -one)
	case 'M':
		s.shift(p.row, one)
	case 'S':
		s.shift(p.top, one)
	case 'T':
		s.shift(p.top, -one)
	case 'r':
		p.top, p.bottom = max(1, n[0])-1, s.rows-1
		if len(n) > 1 && n[1] > 0 {
			p.bottom = min(n[1], s.rows) - 1
		}
		p.row, p.col = 0, 0
	case 'm':
		for _, v := range n {
			s.reverse = v == 7 || s.reverse && v != 0 && v != 27
		}
	case 'q', 'W', 't', 'n', 'c', 'h', 'l', 'g':
	default:
		return false
	}
	return true
}

// erase erases below the cursor, above it, or everything.
func (s *Screen) erase(what int) {
	p := s.page
	for i := range p.cells {
		switch {
		case what >= 2, what == 0 && i > p.row, what == 1 && i < p.row:
			p.cells[i] = blank(s.cols)
		}
	}
	switch what {
	case 0:
		copy(p.cells[p.row][p.col:], blank(s.cols-p.col))
	case 1:
		copy(p.cells[p.row][:p.col+1], blank(p.col+1))
	}
}
