package timeline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/term"
	"github.com/rivo/uniseg"
)

// A key is a character, or one of the constants below, which are negative and so
// never characters.
type key rune

const (
	keyEscape key = -1 - iota
	keyEnter
	keyErase
	keyEraseWord
	keyEraseLine
	keyInterrupt
	keyEnd
	keyLeft
	keyRight
	keyOther // an unsupported key, such as a function key
)

// decodeKeys splits the bytes of one read into keys. It drops incomplete
// characters, because terminals send whole characters.
func decodeKeys(b []byte) []key {
	var keys []key
	for len(b) > 0 {
		k, n := decodeKey(b)
		keys, b = append(keys, k), b[n:]
	}
	return keys
}

func decodeKey(b []byte) (key, int) {
	switch b[0] {
	case 0x1b:
		return decodeEscape(b)
	case '\r', '\n':
		return keyEnter, 1
	case 0x7f, 0x08:
		return keyErase, 1
	case 0x17:
		return keyEraseWord, 1
	case 0x15:
		return keyEraseLine, 1
	case 0x03:
		return keyInterrupt, 1
	case 0x04:
		return keyEnd, 1
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError || unicode.IsControl(r) {
		return keyOther, n
	}
	return key(r), n
}

// decodeEscape distinguishes the Escape key, which comes alone or twice, from the
// sequence of an arrow or a function key.
func decodeEscape(b []byte) (key, int) {
	if len(b) == 1 || b[1] == 0x1b {
		return keyEscape, 1
	}
	if b[1] != '[' && b[1] != 'O' {
		return keyOther, 2
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			switch {
			case i == 2 && b[i] == 'D':
				return keyLeft, i + 1
			case i == 2 && b[i] == 'C':
				return keyRight, i + 1
			}
			return keyOther, i + 1
		}
	}
	return keyOther, len(b)
}

// An editor is the line that the person is typing.
type editor struct {
	text []rune
	at   int // cursor
}

func (e *editor) set(s string) {
	e.text = []rune(s)
	e.at = len(e.text)
}

func (e *editor) String() string { return string(e.text) }

// press applies a key and reports whether the editor knows it.
func (e *editor) press(k key) bool {
	switch {
	case k == keyLeft:
		e.at = max(0, e.at-1)
	case k == keyRight:
		e.at = min(len(e.text), e.at+1)
	case k == keyErase:
		e.erase(e.at - 1)
	case k == keyEraseWord:
		head := strings.TrimRight(string(e.text[:e.at]), " ")
		e.erase(len([]rune(head[:strings.LastIndexByte(head, ' ')+1])))
	case k == keyEraseLine:
		e.erase(0)
	case k >= ' ':
		e.text = append(e.text[:e.at], append([]rune{rune(k)}, e.text[e.at:]...)...)
		e.at++
	default:
		return false
	}
	return true
}

// erase removes from from to the cursor.
func (e *editor) erase(from int) {
	from = max(0, from)
	e.text = append(e.text[:from], e.text[e.at:]...)
	e.at = from
}

// line returns the part of the text around the cursor that fits into width
// columns, and the column of the cursor.
func (e *editor) line(width int) (string, int) {
	head, tail := shown(e.text[:e.at]), shown(e.text[e.at:])
	for uniseg.StringWidth(head) >= width && head != "" {
		_, n := utf8.DecodeRuneInString(head)
		head = head[n:]
	}
	col := uniseg.StringWidth(head)
	if room := width - col; tail != "" && room > 0 {
		tail = cutWidth(tail, room)
	} else {
		tail = ""
	}
	return head + tail, col
}

// shown returns text as one safe line. An edited draft is text of an agent.
func shown(text []rune) string {
	return term.Line(strings.ReplaceAll(string(text), "\n", "⏎"))
}
