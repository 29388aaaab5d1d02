package adaptive

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The host says who is named. What the place of a name says, only the text
// tells: "ask dba", "dba:", or a name in the last words.

// scan is one pass over a text.
type scan struct {
	forms          []form
	room           [4 * maxNames]form
	letters        [128 * maxNames]byte // the forms are written here
	used           int
	care           [256]bool // bytes that names begin with
	second         [256]bool // bytes that may follow the first of a name
	question, code bool
	first          int // whose name comes first, or -1
	last           [maxNames]int
	marks          [maxNames]uint8
}

// learn takes the ids that the host says are named.
func (s *scan) learn(r *room, ids []string) {
	s.forms, s.used, s.first = s.room[:0], 0, -1
	s.care, s.second = [256]bool{}, [256]bool{}
	s.question, s.code, s.marks = false, false, [maxNames]uint8{}
	for i, id := range ids {
		s.last[i] = -1
		if seat := r.seats.find(hash(id)); seat >= 0 {
			a := &r.agents[seat]
			s.write(r, i, seat, a.ID)
			if a.Name != a.ID {
				s.write(r, i, seat, a.Name)
			}
		}
	}
}

// write adds the forms of a name: its words as they stand, with camelCase
// apart, and every word of it that no other id has.
func (s *scan) write(r *room, who, seat int, name string) {
	plain := appendPlain(s.letter(), name)
	s.add(form{plain, who, true})
	apart, words := appendCamel(s.letter(), name)
	if string(apart) != string(plain) {
		s.add(form{apart, who, true})
	}
	if words < 2 || len(r.agents) > mostCompared {
		return
	}
	r.owners.fill(r.agents)
	for i := range len(name) {
		if !startsWord(name, i) {
			continue
		}
		word := appendLower(s.letter(), name[i:wordOf(name, i)])
		if distinctive(word) && r.owners.alone(seat, word) {
			s.add(form{word, who, false})
		}
	}
}

// mostCompared bounds the rosters in which single words of a name are looked
// for, because all words of all names are then compared.
const mostCompared = 128

// letter is where the next form may be written. What finds no room there gets
// memory of its own.
func (s *scan) letter() []byte { return s.letters[s.used:s.used] }

func (s *scan) add(f form) {
	if len(f.text) == 0 {
		return
	}
	s.used = min(s.used+len(f.text), len(s.letters))
	s.forms = append(s.forms, f)
	first := f.text[0]
	s.care[first], s.care[capital(first)] = true, true
	if first >= utf8.RuneSelf { // an upper-case letter may begin with another byte
		for b := utf8.RuneSelf; b < len(s.care); b++ {
			s.care[b] = true
		}
	}
	if len(f.text) == 1 || first >= utf8.RuneSelf || f.text[1] == ' ' || f.text[1] >= utf8.RuneSelf {
		for b := range s.second {
			s.second[b] = true
		}
		return
	}
	s.second[f.text[1]], s.second[capital(f.text[1])] = true, true
}

// capital is the upper case of a letter of ASCII, and any other byte itself.
func capital(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 0x20
	}
	return c
}

// run looks at the text, eight bytes at once, and in it at the beginnings of
// words.
func (s *scan) run(text string) {
	before := uint64(0) // the lowest byte: what precedes is of a word
	for i := 0; i < len(text); i += 8 {
		var x uint64
		if i+8 <= len(text) {
			x = uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16 | uint64(text[i+3])<<24 |
				uint64(text[i+4])<<32 | uint64(text[i+5])<<40 | uint64(text[i+6])<<48 | uint64(text[i+7])<<56
		} else {
			x = lastBytes(text[i:])
		}
		if holds(x, '?') {
			s.question = true
		}
		if holds(x, '`') && !s.code {
			s.code = strings.Contains(text[max(0, i-2):min(len(text), i+10)], "```")
		}
		if len(s.forms) == 0 {
			continue
		}
		words := wordsIn(x)
		for starts := words &^ (words<<8 | before); starts != 0; starts &= starts - 1 {
			at := i + bits.TrailingZeros64(starts)/8
			if s.care[text[at]] && (at+1 >= len(text) || s.second[text[at+1]]) {
				s.match(text, at)
			}
		}
		before = words >> 56
	}
}

// lastBytes are at most seven bytes, the first lowest.
func lastBytes(text string) (x uint64) {
	for at := len(text) - 1; at >= 0; at-- {
		x = x<<8 | uint64(text[at])
	}
	return x
}

// holds reports whether one of eight bytes is c, which is of ASCII.
func holds(x uint64, c byte) bool {
	x ^= each * uint64(c)
	return (x-each)&^x&(each*0x80) != 0
}

// wordsIn has the highest bit of each byte that is one of wordBytes: letters,
// digits and what is beyond ASCII. A sum reaches that bit from a bound on.
func wordsIn(x uint64) uint64 {
	low := x & (each * 0x7f)
	small := low | each*0x20
	letters := (small + each*(0x80-'a')) &^ (small + each*(0x7f-'z'))
	digits := (low + each*(0x80-'0')) &^ (low + each*(0x7f-'9'))
	return (x | letters | digits) & (each * 0x80)
}

// wordBytes are the bytes of words. Of letters beyond ASCII it is assumed,
// which holds nearly always.
var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= utf8.RuneSelf || wordRune(rune(c))
	}
	return is
}()

// match notes the names that begin at at.
func (s *scan) match(text string, at int) {
	c := text[at]
	if c >= 'A' && c <= 'Z' {
		c |= 0x20
	}
	for i := range s.forms {
		f := &s.forms[i]
		if c < utf8.RuneSelf && c != f.text[0] {
			continue
		}
		end, ok := matchAt(text, at, f.text)
		if !ok {
			continue
		}
		if s.first < 0 {
			s.first = f.who
		}
		s.last[f.who] = at
		if givesFloor(text[:at], text[end:]) {
			s.marks[f.who] |= namedHand
		}
		if f.whole && colonAt(text, end) {
			s.marks[f.who] |= namedColon
		}
	}
}

// signs returns what the places say of a name, in a text of that length.
func (s *scan) signs(who, length int) uint8 {
	sign := s.marks[who]
	if last := s.last[who]; last >= 0 && 5*last > 4*length {
		sign |= namedLate
	}
	return sign
}

// matchAt reports whether the form stands at at, as whole words, and where it
// ends.
func matchAt(text string, at int, form []byte) (end int, ok bool) {
	for i := 0; i < len(form); {
		if form[i] == ' ' {
			next := wordStart(text, at)
			if next == at || next == len(text) {
				return 0, false
			}
			at = next
			i++
			continue
		}
		if at == len(text) {
			return 0, false
		}
		if c := text[at]; c < utf8.RuneSelf {
			if c != form[i] && (c < 'A' || c > 'Z' || c|0x20 != form[i]) {
				return 0, false
			}
			at++
			i++
			continue
		}
		c, size := decode(text, at)
		want, width := utf8.DecodeRune(form[i:])
		if unicode.ToLower(c) != want {
			return 0, false
		}
		at += size
		i += width
	}
	return at, at == len(text) || wordEnd(text[:min(len(text), at+utf8.UTFMax)], at) == at
}

// givesFloor reports whether what stands before and behind a name hands over
// to it.
func givesFloor(before, behind string) bool {
	end := len(before)
	for end > 0 && !wordBytes[before[end-1]] {
		end--
	}
	for i := len(before); i > end; i-- {
		switch c := before[i-1]; c {
		case ' ', '\n', '\t', '"', '\'', '(', '@', '*', '<':
			continue
		case ':':
			return true
		case '>':
			if i > 1 && before[i-2] == '-' {
				return true
			}
		}
		break
	}
	start := end
	for start > 0 && end-start < 8 && wordBytes[before[start-1]] {
		start--
	}
	var room [32]byte
	switch string(appendLower(room[:0], before[start:end])) {
	case "to", "ask", "let", "next", "with", "request", "from", "agent", "name", "speaker", "have", "call", "please":
		return true
	}
	from := wordStart(behind, 0)
	switch string(appendLower(room[:0], behind[from:wordEnd(behind, from)])) {
	case "please", "can", "could", "should", "will", "would", "you", "to", "what", "do", "your", "must":
		return true
	}
	return false
}

// colonAt reports whether a comma or a colon follows a name.
func colonAt(text string, at int) bool {
	for at < len(text) && (text[at] == '"' || text[at] == '\'' || text[at] == ')' || text[at] == '*') {
		at++
	}
	return at < len(text) && (text[at] == ',' || text[at] == ':')
}
