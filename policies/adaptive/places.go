package adaptive

import (
	"unicode"

	"github.com/folkmoot/moot/policies/policy"
)

// A form is a way to write a name: words in lower case with one space between.
type form struct {
	text  string
	who   int  // index into the names
	whole bool // all of the name, not one word of it
}

// places is where the names stand in a text.
type places struct {
	forms  []form
	starts [256]bool // bytes that forms start with
	first  int       // whose name comes first, or -1
	last   [maxNames]int
	marks  [maxNames]uint8
	words  int // of the text
}

// look finds in the text the ids, which the host says are named there.
func (s *places) look(agents []policy.Agent, ids []string, text string) {
	s.first = -1
	for i, id := range ids {
		s.last[i] = -1
		for j := range agents {
			if a := &agents[j]; a.ID == id {
				s.write(agents, i, a.ID)
				if a.Name != a.ID {
					s.write(agents, i, a.Name)
				}
			}
		}
	}
	if len(s.forms) == 0 || text == "" {
		return
	}
	before, ended := "", 0
	for at := wordStart(text, 0); at < len(text); s.words++ {
		end := wordEnd(text, at)
		if s.starts[text[at]] {
			s.match(text, at, before, text[ended:at])
		}
		before, ended = text[at:end], end
		at = wordStart(text, end)
	}
}

// write adds the forms of a name: its words as they stand, with camelCase
// apart, and every word of it that is nobody else's.
func (s *places) write(agents []policy.Agent, who int, name string) {
	plain := plainForm(name)
	s.addForm(form{plain, who, true})
	apart, words := camelForm(name)
	if apart != plain {
		s.addForm(form{apart, who, true})
	}
	if words < 2 {
		return
	}
	for word, rest := nextWord(name); word != ""; word, rest = nextWord(rest) {
		if distinctive(word) && !elsewhere(agents, word, name) {
			s.addForm(form{plainForm(word), who, false})
		}
	}
}

func (s *places) addForm(f form) {
	if f.text == "" {
		return
	}
	s.forms = append(s.forms, f)
	c := f.text[0]
	s.starts[c] = true
	if c >= 'a' && c <= 'z' {
		s.starts[c-0x20] = true
	}
	if c >= 0x80 { // an upper-case letter may begin with another byte
		for b := 0x80; b < 0x100; b++ {
			s.starts[b] = true
		}
	}
}

// match notes the names that begin at at; before is the word before it and
// between what stands between them.
func (s *places) match(text string, at int, before, between string) {
	for i := range s.forms {
		f := &s.forms[i]
		end, ok := matchAt(text, at, f.text)
		if !ok {
			continue
		}
		if s.first < 0 {
			s.first = f.who
		}
		s.last[f.who] = s.words
		if givesFloor(before, between, text, end) {
			s.marks[f.who] |= namedHand
		}
		if f.whole && colonAt(text, end) {
			s.marks[f.who] |= namedColon
		}
	}
}

// signs returns what the places say of a name.
func (s *places) signs(who int) uint8 {
	sign := s.marks[who]
	if last := s.last[who]; last >= 0 && 5*last > 4*s.words {
		sign |= namedLate
	}
	return sign
}

// matchAt reports whether the form stands at at, as whole words, and where it
// ends.
func matchAt(text string, at int, form string) (end int, ok bool) {
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
		c, size := decode(text, at)
		want, width := decode(form, i)
		if unicode.ToLower(c) != want {
			return 0, false
		}
		at += size
		i += width
	}
	return at, wordEnd(text, at) == at
}

// givesFloor reports whether words around a name hand over to it.
func givesFloor(before, between, text string, end int) bool {
	for i := len(between); i > 0; i-- {
		switch between[i-1] {
		case ' ', '\n', '\t', '"', '\'', '(', '@', '*', '<':
			continue
		case ':':
			return true
		case '>':
			return i > 1 && between[i-2] == '-'
		}
		break
	}
	switch plainForm(before) {
	case "to", "ask", "let", "next", "with", "request", "from", "agent", "name", "speaker", "have", "call", "please":
		return true
	}
	from := wordStart(text, end)
	switch plainForm(text[from:wordEnd(text, from)]) {
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

// plainForm is s in lower case, its words as they stand.
func plainForm(s string) string {
	out := make([]byte, 0, 32)
	for at := wordStart(s, 0); at < len(s); at = wordStart(s, at) {
		if len(out) > 0 {
			out = append(out, ' ')
		}
		end := wordEnd(s, at)
		out = appendLower(out, s[at:end])
		at = end
	}
	return string(out)
}

// camelForm is s in lower case with camelCase apart, and how many words it
// has.
func camelForm(s string) (form string, words int) {
	out := make([]byte, 0, 32)
	for word, rest := nextWord(s); word != ""; word, rest = nextWord(rest) {
		if words++; words > 1 {
			out = append(out, ' ')
		}
		out = appendLower(out, word)
	}
	return string(out), words
}

func appendLower(out []byte, s string) []byte {
	for i := 0; i < len(s); {
		c, size := decode(s, i)
		i += size
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c < 0x80 {
			out = append(out, byte(c))
		} else {
			out = append(out, string(unicode.ToLower(c))...)
		}
	}
	return out
}

// distinctive reports whether one word of a name may stand for it: three
// letters or more, and no word that says nothing about whom it means.
func distinctive(word string) bool {
	if len(word) < 3 {
		return false
	}
	for _, c := range word {
		if !unicode.IsLetter(c) {
			return false
		}
	}
	switch plainForm(word) {
	case "the", "and", "for", "of", "member", "unknown", "agent", "assistant", "expert", "user", "bot", "speaker", "mr", "mrs", "ms", "dr":
		return false
	}
	return true
}

// elsewhere reports whether another name of the roster has the word.
func elsewhere(agents []policy.Agent, word, name string) bool {
	for i := range agents {
		a := &agents[i]
		if a.ID == name || a.Name == name {
			continue
		}
		for w, rest := nextWord(a.ID); w != ""; w, rest = nextWord(rest) {
			if len(w) == len(word) && equalFold(w, word) {
				return true
			}
		}
	}
	return false
}

func equalFold(a, b string) bool {
	for i := range len(a) {
		if c, d := a[i], b[i]; c != d && (c^d != 0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}
