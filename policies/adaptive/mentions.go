package adaptive

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/folkmoot/moot/policies/policy"
)

// The host names the mentioned participants of an event. This file finds the
// places of the mentions in the text, because a place is a feature: "ask dba",
// "dba:", or a name in the last words.

// scan finds the mentions of participants in a text.
type scan struct {
	forms          []form
	room           [4 * maxNames]form
	buffer         [128 * maxNames]byte // memory of the forms
	used           int
	firstBytes     [256]bool // bytes that names begin with
	second         [256]bool // bytes that may follow the first of a name
	question, code bool
	first          int // index of the name that comes first, or -1
	last           [maxNames]int
	marks          [maxNames]uint8
}

// learn prepares a scan for the mentioned ids.
func (s *scan) learn(r *room, ids []string) {
	s.forms, s.used, s.first = s.room[:0], 0, -1
	s.firstBytes, s.second = [256]bool{}, [256]bool{}
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

// write adds the forms of a name: its words, its words with camelCase split, and
// each word that no other participant has in its name.
func (s *scan) write(r *room, who, seat int, name string) {
	plain := appendPlain(s.free(), name)
	s.add(form{plain, who, true})
	apart, words := appendCamel(s.free(), name)
	if string(apart) != string(plain) {
		s.add(form{apart, who, true})
	}
	if words < 2 || len(r.agents) > maxCompared {
		return
	}
	r.owners.fill(r.agents)
	for i := range len(name) {
		if !startsWord(name, i) {
			continue
		}
		word := appendLower(s.free(), name[i:wordOf(name, i)])
		if distinctive(word) && r.owners.alone(seat, word) {
			s.add(form{word, who, false})
		}
	}
}

// maxCompared is the largest number of participants for which single words of
// names are compared.
const maxCompared = 128

// free returns the free part of the buffer. A form that does not fit is
// allocated.
func (s *scan) free() []byte { return s.buffer[s.used:s.used] }

func (s *scan) add(f form) {
	if len(f.text) == 0 {
		return
	}
	s.used = min(s.used+len(f.text), len(s.buffer))
	s.forms = append(s.forms, f)
	first := f.text[0]
	s.firstBytes[first], s.firstBytes[capital(first)] = true, true
	if first >= utf8.RuneSelf { // its upper-case form may begin with another byte
		for b := utf8.RuneSelf; b < len(s.firstBytes); b++ {
			s.firstBytes[b] = true
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

// capital returns the upper case of an ASCII letter, and other bytes unchanged.
func capital(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 0x20
	}
	return c
}

// run scans a text. It finds the beginnings of words eight bytes at a time.
func (s *scan) run(text string) {
	before := uint64(0) // lowest byte: the preceding byte is part of a word
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
			if s.firstBytes[text[at]] && (at+1 >= len(text) || s.second[text[at+1]]) {
				s.match(text, at)
			}
		}
		before = words >> 56
	}
}

// lastBytes returns at most seven bytes as a little-endian word.
func lastBytes(text string) (x uint64) {
	for at := len(text) - 1; at >= 0; at-- {
		x = x<<8 | uint64(text[at])
	}
	return x
}

// holds reports whether one of eight bytes is the ASCII character c.
func holds(x uint64, c byte) bool {
	x ^= each * uint64(c)
	return (x-each)&^x&(each*0x80) != 0
}

// wordsIn returns a word with the high bit set in each byte that is one of
// wordBytes. An addition carries into the high bit from a bound on.
func wordsIn(x uint64) uint64 {
	low := x & (each * 0x7f)
	small := low | each*0x20
	buffer := (small + each*(0x80-'a')) &^ (small + each*(0x7f-'z'))
	digits := (low + each*(0x80-'0')) &^ (low + each*(0x7f-'9'))
	return (x | buffer | digits) & (each * 0x80)
}

// wordBytes are the bytes of words: letters, digits, and all bytes above ASCII.
var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= utf8.RuneSelf || wordRune(rune(c))
	}
	return is
}()

// match records the names that begin at the index at.
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
			s.marks[f.who] |= namedHandover
		}
		if f.whole && colonAt(text, end) {
			s.marks[f.who] |= namedColon
		}
	}
}

// signs returns the signs of a name in a text of the given length.
func (s *scan) signs(who, length int) uint8 {
	sign := s.marks[who]
	if last := s.last[who]; last >= 0 && 5*last > 4*length {
		sign |= namedLate
	}
	return sign
}

// matchAt reports whether text has the form at the index at, as whole words, and
// returns its end.
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

// givesFloor reports whether the text before or after a name hands the turn over
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

// colonAt reports whether a comma or a colon follows at the index at.
func colonAt(text string, at int) bool {
	for at < len(text) && (text[at] == '"' || text[at] == '\'' || text[at] == ')' || text[at] == '*') {
		at++
	}
	return at < len(text) && (text[at] == ',' || text[at] == ':')
}

// A form is a spelling of a name: words in lower case, separated by spaces.
type form struct {
	text  []byte
	who   int  // index into the names
	whole bool // the complete name, not one word of it
}

// appendPlain appends the words of s in lower case.
func appendPlain(out []byte, s string) []byte {
	for at := wordStart(s, 0); at < len(s); at = wordStart(s, at) {
		if len(out) > 0 {
			out = append(out, ' ')
		}
		end := wordEnd(s, at)
		out = appendLower(out, s[at:end])
		at = end
	}
	return out
}

// appendCamel appends the words of s in lower case, with camelCase split, and
// returns their number.
func appendCamel(out []byte, s string) (form []byte, words int) {
	for i := 0; i < len(s); i++ {
		if !startsWord(s, i) {
			continue
		}
		if words++; words > 1 {
			out = append(out, ' ')
		}
		end := wordOf(s, i)
		out = appendLower(out, s[i:end])
		i = end - 1
	}
	return out, words
}

func appendLower(out []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return appendLowerRunes(out, s[i:])
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		out = append(out, c)
	}
	return out
}

func appendLowerRunes(out []byte, s string) []byte {
	for _, c := range s {
		out = utf8.AppendRune(out, unicode.ToLower(c))
	}
	return out
}

// distinctive reports whether one word of a name, in lower case, can stand for
// the name: it has three letters or more and is not a generic word.
func distinctive(word []byte) bool {
	buffer := 0
	for _, c := range string(word) {
		if !unicode.IsLetter(c) {
			return false
		}
		buffer++
	}
	switch string(word) {
	case "the", "and", "for", "of", "member", "unknown", "agent", "assistant", "expert", "user", "bot", "speaker", "mr", "mrs", "ms", "dr":
		return false
	}
	return buffer >= 3
}

// owners is a hash table from the words of names to the participant that has the
// word in its name. It is filled on the first use in a decision, because most
// decisions do not need it.
type owners struct {
	filled bool
	places [1024]owner
	used   int
}

type owner struct {
	word uint32 // hash; 0 is an empty entry
	seat int16  // index of the participant, or ambiguous
}

const ambiguous = -1

// maxOwned is the largest number of words. With more words, none counts as unique.
const maxOwned = 768

// fill adds the words of all names.
func (o *owners) fill(agents []policy.Agent) {
	if o.filled {
		return
	}
	clear(o.places[:])
	o.filled, o.used = true, 0
	for seat := range agents {
		o.add(int16(seat), agents[seat].ID)
		if agents[seat].Name != agents[seat].ID {
			o.add(int16(seat), agents[seat].Name)
		}
	}
}

func (o *owners) add(seat int16, name string) {
	for i := 0; i < len(name); i++ {
		if !startsWord(name, i) {
			continue
		}
		end := wordOf(name, i)
		var room [32]byte
		w := o.find(appendLower(room[:0], name[i:end]))
		switch {
		case w.word == 0 && o.used == maxOwned:
			return
		case w.word == 0:
			o.used++
			w.word, w.seat = wordHash(appendLower(room[:0], name[i:end])), seat
		case w.seat != seat:
			w.seat = ambiguous
		}
		i = end - 1
	}
}

// find returns the entry of a word, or the empty entry for it.
func (o *owners) find(word []byte) *owner {
	h := wordHash(word)
	for at := h; ; at++ {
		if w := &o.places[at%uint32(len(o.places))]; w.word == h || w.word == 0 {
			return w
		}
	}
}

func wordHash(word []byte) uint32 {
	h := uint64(len(word))
	for _, c := range word {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return uint32(h>>32) | 1
}

// alone reports whether a word is only in the names of one participant.
func (o *owners) alone(seat int, word []byte) bool {
	return o.used < maxOwned && o.find(word).seat == int16(seat) && o.find(word).word != 0
}
