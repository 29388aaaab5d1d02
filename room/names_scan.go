package room

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scan returns who is named in text and who is addressed by it, as ids. The
// speaker's own name never counts; a speaker that is no participant is
// allowed.
//
// Of both the last entry is the strongest sign. mentions is in the order in
// which the participants were last named. addressed holds those named at the
// start, with at most openers such as "thanks" or "ok" before, at the very
// end, or after @. Its last entry is the one addressed: the name at the very
// start, or else the latest found; whole tokens are looked for first, then
// phrases.
func (n *Names) Scan(text, speaker string) (mentions, addressed []string) {
	self, ok := n.index[speaker]
	if !ok {
		self = shared
	}
	s := scan{names: n, self: self, lead: shared}
	s.tokens(text)
	s.phrases(text)
	return n.mentions(s.hits), n.addressed(s.hits, s.lead)
}

func (n *Names) mentions(hits []hit) []string {
	if len(hits) == 0 {
		return nil
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.order, b.order))
	})
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = n.ids[h.who]
	}
	return ids
}

func (n *Names) addressed(hits []hit, lead int) []string {
	var ids []string
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(a.called, b.called) })
	for _, h := range hits {
		if h.called > 0 && h.who != lead {
			ids = append(ids, n.ids[h.who])
		}
	}
	if lead != shared {
		ids = append(ids, n.ids[lead])
	}
	return ids
}

// A scan is the work on one text.
type scan struct {
	names *Names
	self  int // the speaker, who is never named
	lead  int // who is named at the very start, or shared
	order int // hits so far
	hits  []hit
}

// A hit is what a text says of one participant.
type hit struct {
	who    int
	place  int // where it was named last: a count of tokens or words before it
	order  int // of that, among all hits, from 1
	first  int // where it was named first
	early  int // order of that
	called int // order of the last hit that addresses it; 0 for none
}

// found notes a name at place; calls says that it addresses.
func (s *scan) found(who, place int, calls bool) {
	if who == shared || who == s.self {
		return
	}
	if place == 0 && s.lead == shared {
		s.lead = who
	}
	s.order++
	i := slices.IndexFunc(s.hits, func(h hit) bool { return h.who == who })
	if i < 0 {
		i = len(s.hits)
		s.hits = append(s.hits, hit{who: who, place: place, order: s.order, first: place, early: s.order})
	}
	h := &s.hits[i]
	if place < h.first {
		h.first, h.early = place, s.order
	}
	if place >= h.place {
		h.place, h.order = place, s.order
	}
	if calls {
		h.called = s.order
	}
}

// trimmed is what a name as a token may have at its ends.
const trimmed = ",.:;!?\"'()<>@*"

// tokens looks for names among the tokens between white space.
func (s *scan) tokens(text string) {
	var room [64]byte
	end := len(strings.TrimRightFunc(text, unicode.IsSpace))
	opening := true // nothing but openers so far
	place := 0
	for at := 0; at < end; {
		from, to, plain := next(text, at, visible)
		token := text[from:to]
		name := trim(token)
		if s.names.tokens.may(name, plain) {
			if who := s.names.tokens.find(lower(room[:0], name)); who != shared {
				at := strings.HasPrefix(strings.TrimLeft(token, "(\"'*"), "@")
				s.found(who, place, opening || to == end || at)
			}
		}
		opening = opening && openers.has(lower(room[:0], name))
		at = to
		place++
	}
}

// trim cuts what may surround a name off token.
func trim(token string) string {
	from, to := 0, len(token)
	for from < to && surrounds[token[from]] {
		from++
	}
	for from < to && surrounds[token[to-1]] {
		to--
	}
	return token[from:to]
}

// surrounds has the bytes of trimmed.
var surrounds = func() (in [256]bool) {
	for i := range len(trimmed) {
		in[trimmed[i]] = true
	}
	return in
}()

// phrases looks for names among runs of words of letters and digits.
func (s *scan) phrases(text string) {
	var room [128]byte
	end := len(strings.TrimRightFunc(text, func(r rune) bool { return !wordRune(r) }))
	opening := true
	place := 0
	for at := 0; at < end; {
		from, to, plain := next(text, at, inWords)
		word := text[from:to]
		if s.names.heads.may(word, plain) {
			if head := lower(room[:0], word); s.names.heads.has(head) {
				s.phrase(text, head, place, to, end, opening)
			}
		}
		opening = opening && openers.has(lower(room[:0], word))
		at = to
		place++
	}
}

// phrase tries the phrases that start with the word that ends at to.
func (s *scan) phrase(text string, phrase []byte, place, to, end int, opening bool) {
	for words := 1; ; words++ {
		s.found(s.names.phrases.find(phrase), place, opening || to == end)
		if words == maxPhrase || to == end {
			return
		}
		var from int
		from, to, _ = next(text, to, inWords)
		phrase = lower(append(phrase, ' '), text[from:to])
	}
}

// A class is a set of runes. Of the bytes below 128, which is what nearly all
// of a text is, it has a table.
type class struct {
	of   [256]uint8 // out, in or wide
	rest func(rune) bool
}

const (
	out  = iota
	in   // a member
	wide // the start of a rune of several bytes: ask rest
)

var (
	visible = newClass(func(r rune) bool { return !unicode.IsSpace(r) })
	inWords = newClass(wordRune)
)

func newClass(rest func(rune) bool) *class {
	c := &class{rest: rest}
	for b := range c.of {
		switch {
		case b >= utf8.RuneSelf:
			c.of[b] = wide
		case rest(rune(b)):
			c.of[b] = in
		}
	}
	return c
}

// next returns the first run at or after at whose runes are all in c, and
// whether it is surely all ASCII.
func next(text string, at int, c *class) (from, to int, plain bool) {
	for at < len(text) && c.of[text[at]] == out {
		at++
	}
	for from = at; at < len(text) && c.of[text[at]] == in; {
		at++
	}
	if at < len(text) && c.of[text[at]] == wide {
		from = c.until(text, from, true)
		return from, c.until(text, from, false), false
	}
	return from, at, true
}

// until returns where the first rune at or after at is that is in c, or is
// not.
func (c *class) until(text string, at int, member bool) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if c.rest(r) == member {
			return at
		}
		at += size
	}
	return at
}

// wordRune reports whether r is part of a word: its lower case is a letter or
// a number.
func wordRune(r rune) bool {
	r = unicode.ToLower(r)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// lower appends s in lower case.
func lower(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, unicode.ToLower(r))
			i += size - 1
		}
	}
	return b
}

// openers are words that may stand before a name that is addressed.
var openers = func() (a aliases) {
	const words = "hi hey hello ok okay so thanks thank you well yes no and but now right yeah please"
	for i, w := range strings.Fields(words) {
		a.put(w, i)
	}
	return a
}()
