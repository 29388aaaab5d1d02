package adaptive

import "slices"

// A word is a run of letters. The words of a turn are features of the law of a team,
// by their hashes: after "query" the database agent speaks. The words of what
// participants are called are in stems.go.

// Bounds of the words of a turn: the first and the last ones.
const (
	firstWords = 12
	lastWords  = 20
	maxWords   = firstWords + lastWords
)

// appendWords appends the hashes of the distinct words at the beginning and at
// the end of a text. A word at the beginning has another hash than elsewhere.
func appendWords(bag []uint16, text string) []uint16 {
	word := ""
	for range firstWords {
		if word, text = firstWord(text); word != "" {
			bag = addWord(bag, word, '^')
		}
	}
	for range lastWords {
		if text, word = lastWord(text); word != "" {
			bag = addWord(bag, word, 0)
		}
	}
	return bag
}

func addWord(bag []uint16, word string, place uint64) []uint16 {
	h := mix(place, uint64(len(word)))
	for i := range len(word) {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	h = mix(h, 0)
	if w := uint16(h >> 48); !slices.Contains(bag, w) {
		return append(bag, w)
	}
	return bag
}

// firstWord splits a text after its first word, which is "" if there is none.
func firstWord(text string) (word, rest string) {
	start := 0
	for start < len(text) && class[text[start]] == other {
		start++
	}
	end := start
	for end < len(text) && class[text[end]] != other {
		end++
	}
	return text[start:end], text[end:]
}

// lastWord splits a text before its last word, which is "" if there is none.
func lastWord(text string) (rest, word string) {
	end := len(text)
	for end > 0 && class[text[end-1]] == other {
		end--
	}
	start := end
	for start > 0 && class[text[start-1]] != other {
		start--
	}
	return text[:start], text[start:end]
}

// Classes of bytes. Those above ASCII count as small letters.
const (
	other = iota
	small
	capital
)

var class = func() (all [256]byte) {
	for c := range all {
		switch {
		case c >= 'A' && c <= 'Z':
			all[c] = capital
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80:
			all[c] = small
		}
	}
	return all
}()
