package adaptive

import (
	"unicode"
	"unicode/utf8"

	"github.com/folkmoot/moot/policies/policy"
)

// listen takes up a message into the latest turn: its first, or one more of
// the same speaker. Unless it is read, only whom it names is taken.
func (r *room) listen(e *policy.Event, more, read bool) {
	t := &r.last
	if !more {
		*t = turn{bag: t.bag[:0]}
	}
	r.noted, r.current = nil, false
	s := &r.scan
	names := e.Mentions[max(0, len(e.Mentions)-maxNames):]
	if read {
		s.learn(r, names)
		s.run(e.Text)
		t.question, t.code = t.question || s.question, t.code || s.code
		t.asks = !e.Truncated && asks(e.Text)
	}
	t.words = min(t.words+countWords(e.Text, shortTurn+1), shortTurn+1)
	if n := len(e.Addressed); n > 0 {
		t.voc = hash(e.Addressed[n-1])
	}
	start := t.names == 0
	for i, id := range names {
		n := name{who: hash(id)}
		if read {
			n.sign = s.signs(i, len(e.Text))
		}
		if start && read && (s.first == i || len(names) == 1) {
			n.sign |= namedFirst
		}
		t.note(n)
	}
	if r.team != nil && read {
		t.bag = appendWords(t.bag[:0], e.Text)
	}
	p := &r.people[0]
	p.asked, p.named.n = t.asks, t.names
	for i, n := range t.named() {
		p.named.who[i] = n.who
	}
}

// asks reports whether a text ends in a question mark.
func asks(text string) bool {
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ' ', '\n', '\t', '"', '\'', ')':
		default:
			return text[i] == '?'
		}
	}
	return false
}

// countWords counts what stands between white space, up to most.
func countWords(text string, most int) (n int) {
	in := false
	for i := 0; i < len(text) && n < most; i++ {
		visible := text[i] > ' ' // other white space than ASCII's is rare enough
		if visible && !in {
			n++
		}
		in = visible
	}
	return n
}

func (t *turn) named() []name { return t.name[:t.names] }

// note notes somebody as named last. Of too many the first is forgotten.
func (t *turn) note(n name) {
	out := 0
	for out < t.names && t.name[out].who != n.who {
		out++
	}
	switch {
	case out < t.names:
		n.sign |= t.name[out].sign
	case t.names < maxNames:
		t.names++
	default:
		out = 0
	}
	copy(t.name[out:t.names-1], t.name[out+1:t.names])
	t.name[t.names-1] = n
}

// A letter or a digit is part of a word.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// wordStart returns where the next word at or after at begins, or the end.
func wordStart(text string, at int) int {
	for at < len(text) {
		c, size := decode(text, at)
		if wordRune(c) {
			break
		}
		at += size
	}
	return at
}

// wordEnd returns where the word that holds at ends.
func wordEnd(text string, at int) int {
	for at < len(text) {
		c, size := decode(text, at)
		if !wordRune(c) {
			break
		}
		at += size
	}
	return at
}

func decode(s string, at int) (rune, int) {
	if c := s[at]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s[at:])
}

// startsWord reports whether a word of a name starts at i. Words in camelCase
// are apart.
func startsWord(s string, i int) bool {
	if c := s[i]; c < utf8.RuneSelf {
		if i == 0 || !wordBytes[c] {
			return wordBytes[c]
		}
		if b := s[i-1]; b < utf8.RuneSelf {
			return !wordBytes[b] || c >= 'A' && c <= 'Z' && (b >= 'a' && b <= 'z' || b <= '9')
		}
	}
	c, _ := decode(s, i)
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	return wordRune(c) && (!wordRune(before) || (unicode.IsLower(before) || unicode.IsNumber(before)) && unicode.IsUpper(c))
}

// wordOf returns the end of the word that starts at i, as startsWord has it.
func wordOf(s string, i int) int {
	end := i + 1
	for end < len(s) && s[end-1] < utf8.RuneSelf && s[end] < utf8.RuneSelf { // most names are of ASCII
		if c, b := s[end], s[end-1]; !wordBytes[c] || c >= 'A' && c <= 'Z' && (b >= 'a' && b <= 'z' || b <= '9') {
			return end
		}
		end++
	}
	for end < len(s) && (s[end]&0xc0 == 0x80 || wordRuneAt(s, end) && !startsWord(s, end)) {
		end++
	}
	return end
}

func wordRuneAt(s string, i int) bool {
	c, _ := decode(s, i)
	return wordRune(c)
}

// startsFold reports whether s starts with prefix, which is in lower case.
func startsFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if c := s[i]; c != prefix[i] && (c < 'A' || c > 'Z' || c|0x20 != prefix[i]) {
			return false
		}
	}
	return true
}
