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
// mentions is in the order in which the participants were last named, so its
// last entry was named last. addressed holds those named at the start, with
// at most openers such as "thanks" or "ok" before, at the very end, or after
// @. Its first entry is the one addressed: the name at the very start, or
// else the latest found; whole tokens are looked for first, then phrases.
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
	if lead != shared {
		ids = append(ids, n.ids[lead])
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(b.called, a.called) })
	for _, h := range hits {
		if h.called > 0 && h.who != lead {
			ids = append(ids, n.ids[h.who])
		}
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
		s.hits = append(s.hits, hit{who: who, place: place, order: s.order})
	}
	h := &s.hits[i]
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
		from, to := next(text, at, func(r rune) bool { return !unicode.IsSpace(r) })
		token := text[from:to]
		name := lower(room[:0], strings.Trim(token, trimmed))
		if who := s.names.tokens.find(name); who != shared {
			at := strings.HasPrefix(strings.TrimLeft(token, "(\"'*"), "@")
			s.found(who, place, opening || to == end || at)
		}
		opening = opening && openers.has(name)
		at = to
		place++
	}
}

// phrases looks for names among runs of words of letters and digits.
func (s *scan) phrases(text string) {
	var room [128]byte
	end := len(strings.TrimRightFunc(text, func(r rune) bool { return !wordRune(r) }))
	opening := true
	place := 0
	for at := 0; at < end; {
		from, to := next(text, at, wordRune)
		word := lower(room[:0], text[from:to])
		if s.names.heads.has(word) {
			s.phrase(text, word, place, to, end, opening)
		}
		opening = opening && openers.has(word)
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
		from, to = next(text, to, wordRune)
		phrase = lower(append(phrase, ' '), text[from:to])
	}
}

// next returns the first run at or after at whose runes are all in class.
func next(text string, at int, class func(rune) bool) (from, to int) {
	from = at
	for from < len(text) {
		r, size := utf8.DecodeRuneInString(text[from:])
		if class(r) {
			break
		}
		from += size
	}
	to = from
	for to < len(text) {
		r, size := utf8.DecodeRuneInString(text[to:])
		if !class(r) {
			break
		}
		to += size
	}
	return from, to
}

// wordRune reports whether r is part of a word: its lower case is a letter or
// a number.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	r = unicode.ToLower(r)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// lower appends s in lower case.
func lower(b []byte, s string) []byte {
	for i, r := range s {
		switch {
		case 'A' <= r && r <= 'Z':
			b = append(b, s[i]+'a'-'A')
		case r < utf8.RuneSelf:
			b = append(b, s[i])
		default:
			b = utf8.AppendRune(b, unicode.ToLower(r))
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
