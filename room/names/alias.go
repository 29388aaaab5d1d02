package names

import (
	"unicode/utf8"
)

// none stands for no participant: an alias that several participants share, a
// speaker outside the roster, a text that no name starts.
const none = -1

// aliasTable maps aliases, in lower case, to participants. sizes filters
// before the map: for each first byte it has the set of lengths, so that most
// words of a text need no map access.
type aliasTable struct {
	of    map[string]int
	sizes [256]uint64
}

// put adds an alias of the participant who. An alias of two participants
// belongs to neither.
func (a *aliasTable) put(name string, who int) {
	if name == "" {
		return
	}
	if a.of == nil {
		a.of = map[string]int{}
	}
	if other, ok := a.of[name]; ok && other != who {
		who = none
	}
	a.of[name] = who
	a.sizes[name[0]] |= 1 << min(len(name), 63)
}

// fill adds the aliases of more that a lacks and that one participant alone
// has in more.
func (a *aliasTable) fill(more aliasTable) {
	for name, who := range more.of {
		if _, ok := a.of[name]; !ok && who != none {
			a.put(name, who)
		}
	}
}

// mayHave reports whether word, in any case, may be in the table. ascii says
// that word is ASCII: only then does lower case keep its length.
func (a *aliasTable) mayHave(word string, ascii bool) bool {
	if word == "" {
		return false
	}
	b := word[0]
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	if ascii {
		return a.sizes[b]&(1<<min(len(word), 63)) != 0
	}
	return a.sizes[b] != 0 || b >= utf8.RuneSelf
}

// has reports whether the table has name, which is in lower case.
func (a *aliasTable) has(name []byte) bool {
	_, ok := a.lookup(name)
	return ok
}

// find returns the participant that name stands for, or none.
func (a *aliasTable) find(name []byte) int {
	if who, ok := a.lookup(name); ok {
		return who
	}
	return none
}

func (a *aliasTable) lookup(name []byte) (who int, ok bool) {
	if len(name) == 0 || a.sizes[name[0]]&(1<<min(len(name), 63)) == 0 {
		return none, false
	}
	who, ok = a.of[string(name)]
	return who, ok
}
