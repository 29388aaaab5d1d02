// Package names finds participants in texts: who is mentioned by a message,
// and who is addressed by it. Being addressed is the strong sign of who speaks
// next and being mentioned is the weak one, so the two are kept apart.
//
// The package is pure and imports nothing of this module.
package names

import (
	"strings"
	"unicode"
)

// Matcher finds the participants of one roster in texts. It is immutable and
// safe for concurrent use.
//
// A participant has these names, all without regard to case:
//   - its id as one token between white space, without quotes, brackets,
//     stars, @ and the punctuation , . : ; ! ? at its ends;
//   - its id as a phrase of at most four words of letters and digits, as it
//     is written or with camelCase split;
//   - each word of three letters or more of an id of several words, if no
//     other id has that word and it is no common word such as "agent";
//   - the same three forms of its display name, where no id has them.
//
// A name that two participants share matches neither of them.
type Matcher struct {
	ids     []string
	index   map[string]int // participant by id
	tokens  aliasTable
	phrases aliasTable
	heads   aliasTable // first words of phrases; only membership counts
}

// maxPhrase is the largest number of words in a phrase.
const maxPhrase = 4

// New compiles the names of a roster. display[i] is the display name of
// ids[i]; display may be shorter than ids, and an empty display name adds
// nothing.
func New(ids, display []string) *Matcher {
	m := &Matcher{ids: ids, index: make(map[string]int, len(ids))}
	for i, id := range ids {
		m.index[id] = i
	}
	m.tokens, m.phrases = aliasesOf(ids)
	tokens, phrases := aliasesOf(display[:min(len(display), len(ids))])
	m.tokens.fill(tokens)
	m.phrases.fill(phrases)
	for phrase := range m.phrases.of {
		head, _, _ := strings.Cut(phrase, " ")
		m.heads.put(head, 0)
	}
	return m
}

// aliasesOf returns the aliases that follow from names alone, as tokens and as
// phrases.
func aliasesOf(names []string) (tokens, phrases aliasTable) {
	var words aliasTable
	for i, name := range names {
		tokens.put(strings.ToLower(name), i)
		phrases.put(normalWords(name), i)
		split := normalWords(splitCamel(name))
		phrases.put(split, i)
		all := strings.Fields(split)
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

// common words do not tell which participant is meant.
var common = map[string]bool{
	"the": true, "and": true, "for": true, "of": true, "member": true, "unknown": true,
	"agent": true, "assistant": true, "expert": true, "user": true, "bot": true,
	"speaker": true, "mr": true, "mrs": true, "ms": true, "dr": true,
}

// distinctive reports whether one word of an id may stand for the whole id.
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

// normalWords returns s in lower case with one space between its words of
// letters and digits.
func normalWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !wordRune(r) }), " ")
}

// splitCamel puts a space where an upper-case letter follows a lower-case one
// or a digit.
func splitCamel(s string) string {
	var b strings.Builder
	var previous rune
	for _, r := range s {
		if unicode.IsUpper(r) && (unicode.IsLower(previous) || unicode.IsNumber(previous)) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		previous = r
	}
	return b.String()
}
