package room

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names finds participants in texts: who is named in a message, and whom it
// addresses. Being addressed is the strong sign of who speaks next, being
// named the weak one, so they are told apart.
//
// A participant has these names, all without regard to case:
//   - its id, as one token between white space, less quotes, brackets, stars,
//     @ and the punctuation , . : ; ! ? at its ends;
//   - its id as a phrase of at most four words of letters and digits, written
//     as it stands or with camelCase taken apart;
//   - each word of three letters or more of an id of several words, when no
//     other id has it and it is no common word such as "agent" or "expert";
//   - the same three for its display name, where they are nobody's id.
//
// A name that two participants share is nobody's. A Names is immutable and
// safe for concurrent use.
type Names struct {
	ids     []string
	index   map[string]int
	tokens  aliases
	phrases aliases
	heads   aliases // first words of phrases; the participant is not meant
}

// shared marks an alias that belongs to several participants, so to nobody.
const shared = -1

// maxPhrase is how many words a phrase may have.
const maxPhrase = 4

// NewNames compiles the names of a roster. display holds the display name of
// the participant at the same place in ids; it may be shorter than ids, and
// an empty one adds nothing.
func NewNames(ids, display []string) *Names {
	n := &Names{ids: ids, index: make(map[string]int, len(ids))}
	for i, id := range ids {
		n.index[id] = i
	}
	n.tokens, n.phrases = formsOf(ids)
	tokens, phrases := formsOf(display[:min(len(display), len(ids))])
	n.tokens.fill(tokens)
	n.phrases.fill(phrases)
	for phrase := range n.phrases.of {
		head, _, _ := strings.Cut(phrase, " ")
		n.heads.put(head, 0)
	}
	return n
}

// formsOf returns the names that follow from the words alone.
func formsOf(names []string) (tokens, phrases aliases) {
	var words aliases
	for i, name := range names {
		tokens.put(strings.ToLower(name), i)
		phrases.put(plainWords(name), i)
		apart := plainWords(splitCamel(name))
		phrases.put(apart, i)
		all := strings.Fields(apart)
		if len(all) < 2 {
			continue
		}
		for _, w := range all {
			if distinctive(w) {
				words.put(w, i)
			}
		}
	}
	phrases.fill(words)
	return tokens, phrases
}

// common words say nothing about whom an id means.
var common = map[string]bool{
	"the": true, "and": true, "for": true, "of": true, "member": true, "unknown": true,
	"agent": true, "assistant": true, "expert": true, "user": true, "bot": true,
	"speaker": true, "mr": true, "mrs": true, "ms": true, "dr": true,
}

// distinctive reports whether one word of an id may stand for it.
func distinctive(word string) bool {
	letters := 0
	for _, r := range word {
		if !unicode.IsLetter(r) {
			return false
		}
		letters++
	}
	return letters >= 3 && !common[word]
}

// plainWords is s in lower case with one space between its words of letters
// and digits.
func plainWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !wordRune(r) }), " ")
}

// splitCamel puts a space where an upper-case letter follows a lower-case one
// or a digit.
func splitCamel(s string) string {
	var b strings.Builder
	var before rune
	for _, r := range s {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsNumber(before)) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// aliases maps names to participants. sizes is a filter in front of the map:
// for each first byte, which lengths occur. Most words of a text end there.
type aliases struct {
	of    map[string]int
	sizes [256]uint64
}

func (a *aliases) put(name string, who int) {
	if name == "" {
		return
	}
	if a.of == nil {
		a.of = map[string]int{}
	}
	if other, ok := a.of[name]; ok && other != who {
		who = shared
	}
	a.of[name] = who
	a.sizes[name[0]] |= 1 << min(len(name), 63)
}

// fill adds what nobody has yet and one participant alone has in more.
func (a *aliases) fill(more aliases) {
	for name, who := range more.of {
		if _, taken := a.of[name]; !taken && who != shared {
			a.put(name, who)
		}
	}
}

// may reports whether word, in lower case, may be in the table. Of a plain
// word, one of ASCII, the length tells; others change theirs.
func (a *aliases) may(word string, plain bool) bool {
	if word == "" {
		return false
	}
	b := word[0]
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	if plain {
		return a.sizes[b]&(1<<min(len(word), 63)) != 0
	}
	return a.sizes[b] != 0 || b >= utf8.RuneSelf
}

// has reports whether name is in the table.
func (a *aliases) has(name []byte) bool {
	if len(name) == 0 || a.sizes[name[0]]&(1<<min(len(name), 63)) == 0 {
		return false
	}
	_, ok := a.of[string(name)]
	return ok
}

// find returns the participant with that name, or shared.
func (a *aliases) find(name []byte) int {
	if len(name) == 0 || a.sizes[name[0]]&(1<<min(len(name), 63)) == 0 {
		return shared
	}
	if who, ok := a.of[string(name)]; ok {
		return who
	}
	return shared
}
