package names

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Scan returns the ids of the participants that text mentions and of those
// that it addresses. The speaker's own name never counts; speaker may be no
// participant.
//
// The last entry of either list is the strongest sign. mentions is in the
// order in which the participants were last mentioned. addressed holds those
// named at the very end, after @, or at the start, where only openers such as
// "thanks" or "ok" may precede. Its last entry is the participant addressed:
// the one named at the very start, or else the one found last; whole tokens
// are looked for before phrases.
func (m *Matcher) Scan(text, speaker string) (mentions, addressed []string) {
	s := m.scan(text, speaker)
	return s.mentions(), s.addressed()
}

// First returns the ids of the participants that text mentions in the order
// in which they were first mentioned ([Matcher.Scan] has the order of the last
// mentions), and the id named at the very start, "" for none.
func (m *Matcher) First(text, speaker string) (mentions []string, lead string) {
	s := m.scan(text, speaker)
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.firstAt, b.firstAt), cmp.Compare(a.firstOrder, b.firstOrder))
	})
	for _, h := range s.hits {
		mentions = append(mentions, m.ids[h.who])
	}
	if s.lead != none {
		lead = m.ids[s.lead]
	}
	return mentions, lead
}

// A scan is the result of searching one text.
type scan struct {
	*Matcher
	self  int // the speaker, whose name does not count, or none
	lead  int // the participant named at the very start, or none
	order int // hits so far
	hits  []hit
}

// A hit is what the text says of one participant.
type hit struct {
	who        int
	lastAt     int // place of the last mention: a count of tokens or words before it
	lastOrder  int // number of that mention among all of the scan, from 1
	firstAt    int // place of the first mention
	firstOrder int
	addressed  int // number of the last mention that addresses it, 0 for none
}

// scan searches text for tokens first and then for phrases.
func (m *Matcher) scan(text, speaker string) *scan {
	s := &scan{Matcher: m, self: none, lead: none}
	if i, ok := m.index[speaker]; ok {
		s.self = i
	}
	s.scanTokens(text)
	s.scanPhrases(text)
	return s
}

func (s *scan) mentions() []string {
	if len(s.hits) == 0 {
		return nil
	}
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.lastAt, b.lastAt), cmp.Compare(a.lastOrder, b.lastOrder))
	})
	ids := make([]string, len(s.hits))
	for i, h := range s.hits {
		ids[i] = s.ids[h.who]
	}
	return ids
}

func (s *scan) addressed() []string {
	var ids []string
	slices.SortFunc(s.hits, func(a, b hit) int { return cmp.Compare(a.addressed, b.addressed) })
	for _, h := range s.hits {
		if h.addressed > 0 && h.who != s.lead {
			ids = append(ids, s.ids[h.who])
		}
	}
	if s.lead != none {
		ids = append(ids, s.ids[s.lead])
	}
	return ids
}

// add records a mention of who at a place.
func (s *scan) add(who, place int, addresses bool) {
	if who == none || who == s.self {
		return
	}
	if place == 0 && s.lead == none {
		s.lead = who
	}
	s.order++
	i := slices.IndexFunc(s.hits, func(h hit) bool { return h.who == who })
	if i < 0 {
		i = len(s.hits)
		s.hits = append(s.hits, hit{who: who, lastAt: place, lastOrder: s.order, firstAt: place, firstOrder: s.order})
	}
	h := &s.hits[i]
	if place < h.firstAt {
		h.firstAt, h.firstOrder = place, s.order
	}
	if place >= h.lastAt {
		h.lastAt, h.lastOrder = place, s.order
	}
	if addresses {
		h.addressed = s.order
	}
}

// scanTokens looks for names among the tokens between white space.
func (s *scan) scanTokens(text string) {
	var buf [64]byte
	end := len(strings.TrimRightFunc(text, unicode.IsSpace))
	opening := true // only openers so far
	place := 0
	for at := 0; at < end; {
		from, to, ascii := nextRun(text, at, visible)
		token := text[from:to]
		name := trim(token)
		if s.tokens.mayHave(name, ascii) {
			if who := s.tokens.find(appendLower(buf[:0], name)); who != none {
				at := strings.HasPrefix(strings.TrimLeft(token, "(\"'*"), "@")
				s.add(who, place, opening || to == end || at)
			}
		}
		opening = opening && openers.has(appendLower(buf[:0], name))
		at = to
		place++
	}
}

// trimmed are the characters that may surround a name in a token.
var trimmed = newClass(func(r rune) bool { return strings.ContainsRune(",.:;!?\"'()<>@*", r) })

// trim returns a token without what may surround a name in it.
func trim(token string) string {
	for token != "" && trimmed.of[token[0]] == inside {
		token = token[1:]
	}
	for token != "" && trimmed.of[token[len(token)-1]] == inside {
		token = token[:len(token)-1]
	}
	return token
}

// scanPhrases looks for names among runs of words of letters and digits.
func (s *scan) scanPhrases(text string) {
	var buf [128]byte
	end := len(strings.TrimRightFunc(text, func(r rune) bool { return !wordRune(r) }))
	opening := true
	place := 0
	for at := 0; at < end; {
		from, to, ascii := nextRun(text, at, wordRunes)
		word := text[from:to]
		if s.heads.mayHave(word, ascii) {
			if head := appendLower(buf[:0], word); s.heads.has(head) {
				s.scanPhrase(text, head, place, to, end, opening)
			}
		}
		opening = opening && openers.has(appendLower(buf[:0], word))
		at = to
		place++
	}
}

// scanPhrase tries the phrases whose first word is phrase and ends at to.
func (s *scan) scanPhrase(text string, phrase []byte, place, to, end int, opening bool) {
	for words := 1; ; words++ {
		s.add(s.phrases.find(phrase), place, opening || to == end)
		if words == maxPhrase || to == end {
			return
		}
		var from int
		from, to, _ = nextRun(text, to, wordRunes)
		phrase = appendLower(append(phrase, ' '), text[from:to])
	}
}

// openers are words that may precede the name of the participant addressed.
var openers = func() (a aliasTable) {
	const words = "hi hey hello ok okay so thanks thank you well yes no and but now right yeah please"
	for i, w := range strings.Fields(words) {
		a.put(w, i)
	}
	return a
}()
