package adaptive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/folkmoot/moot/policies/policy"
)

// read takes up a message into the latest turn: its first, or one more of the
// same speaker.
func (r *room) read(e *policy.Event, more bool) {
	t := &r.last
	if !more {
		*t = turn{number: r.turns, named: t.named[:0], bag: t.bag[:0]}
	}
	t.question = t.question || strings.IndexByte(e.Text, '?') >= 0
	t.code = t.code || strings.Contains(e.Text, "```")
	t.asks = !e.Truncated && strings.HasSuffix(strings.TrimRight(e.Text, " \n\t\"')"), "?")
	t.words = min(t.words+countWords(e.Text, shortTurn+1), shortTurn+1)
	if n := len(e.Addressed); n > 0 {
		t.voc = uint32(hash(e.Addressed[n-1]))
	}
	r.readNames(e)
	if r.team != nil {
		t.bag = appendWords(t.bag[:0], e.Text)
	}
	p := &r.people[0]
	p.asked, p.named = t.asks, p.named[:0]
	for i := range t.named {
		p.named = append(p.named, t.named[i].who)
	}
}

// countWords counts what stands between white space, up to most.
func countWords(text string, most int) (n int) {
	in := false
	for _, c := range text {
		space := c == ' ' || c == '\n' || c > ' ' && c >= utf8.RuneSelf && unicode.IsSpace(c) || c == '\t' || c == '\r'
		if !space && !in {
			if n++; n == most {
				break
			}
		}
		in = !space
	}
	return n
}

// readNames adds whom the message names. The host says who; the signs depend
// on where the names stand, which the text tells.
func (r *room) readNames(e *policy.Event) {
	t := &r.last
	names := e.Mentions[max(0, len(e.Mentions)-maxNames):]
	if len(names) == 0 {
		return
	}
	var s places
	s.look(r.agents, names, e.Text)
	for i, id := range names {
		n := name{who: uint32(hash(id)), sign: s.signs(i)}
		if s.first == i && len(t.named) == 0 || len(names) == 1 && len(t.named) == 0 {
			n.sign |= namedFirst
		}
		t.name(n)
	}
}

// name notes somebody as named last.
func (t *turn) name(n name) {
	for i := range t.named {
		if t.named[i].who == n.who {
			n.sign |= t.named[i].sign
			copy(t.named[i:], t.named[i+1:])
			t.named[len(t.named)-1] = n
			return
		}
	}
	if len(t.named) == maxNames {
		copy(t.named, t.named[1:])
		t.named = t.named[:maxNames-1]
	}
	t.named = append(t.named, n)
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

// nextWord returns the first word of a name and the rest. Words in camelCase
// are apart.
func nextWord(s string) (word, rest string) {
	from := wordStart(s, 0)
	to := from
	small := false
	for to < len(s) {
		c, size := decode(s, to)
		if !wordRune(c) || small && unicode.IsUpper(c) {
			break
		}
		small = unicode.IsLower(c) || unicode.IsNumber(c)
		to += size
	}
	return s[from:to], s[to:]
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
