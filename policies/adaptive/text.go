package adaptive

import (
	"unicode"
	"unicode/utf8"

	"github.com/folkmoot/moot/policies/policy"
)

// addMessage adds a message to the latest turn. It starts a new turn unless more
// is set. If read is not set it uses only the mentions.
func (r *room) addMessage(e *policy.Event, more, read bool) {
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

// asks reports whether a text ends in a question mark, ignoring quotes and space.
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

// countWords counts words that are separated by white space, at most most.
func countWords(text string, most int) (n int) {
	in := false
	for i := 0; i < len(text) && n < most; i++ {
		visible := text[i] > ' '
		if visible && !in {
			n++
		}
		in = visible
	}
	return n
}

func (t *turn) named() []name { return t.name[:t.names] }

// note adds a mention as the last one. If there are too many it drops the first.
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

// wordRune reports whether r is part of a word: a letter or a digit.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// wordStart returns the start of the next word at or after the index at, or the
// end of text.
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

// wordEnd returns the end of the word at the index at.
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

// startsWord reports whether a word of a name starts at i. camelCase counts as
// several words.
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

// wordOf returns the end of the word that starts at i, in the sense of startsWord.
func wordOf(s string, i int) int {
	end := i + 1
	for end < len(s) && s[end-1] < utf8.RuneSelf && s[end] < utf8.RuneSelf { // fast path for ASCII
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

// startsFold reports whether s starts with prefix in any case. Prefix is in lower
// case.
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
