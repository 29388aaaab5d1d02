package adaptive

import "slices"

// A word is a run of letters and digits. It counts by its stem, a hash of its first five
// letters in lower case: verify and verification have the same one. Words of fewer than
// three letters do not count.
const (
	stemBytes = 5
	stemBits  = 20 // of the hash
)

// Bounds of the words of a turn: of its end, and so many different ones.
const (
	wordBytes = 320
	maxWords  = 32
)

// appendWords appends the stems of the last words of a text, the last one first.
func appendWords(stems []int, text string) []int {
	text = text[max(0, len(text)-wordBytes):]
	for end := len(text); end > 0 && len(stems) < maxWords; end-- {
		start := end
		for start > 0 && class[text[start-1]] != other {
			start--
		}
		stems = addStem(stems, text[start:end])
		end = start
	}
	return stems
}

// appendStems appends the stems of what a participant is called. Such words end at case,
// too: WebSurfer is two words, and so is BingAPI.
func appendStems(stems []int, text string) []int {
	start, before := 0, byte(other)
	for at := range len(text) {
		c := class[text[at]]
		if c == other || c == capital && (before == small || at+1 < len(text) && class[text[at+1]] == small) {
			stems = addStem(stems, text[start:at])
			start = at
		}
		if c == other {
			start = at + 1
		}
		before = c
	}
	return addStem(stems, text[start:])
}

// addStem adds the stem of a word, unless it is there or the word is too short.
func addStem(stems []int, word string) []int {
	letters := uint64(0)
	for i := range min(len(word), stemBytes) {
		letters = letters<<8 | uint64(word[i]|0x20)
	}
	s := int(letters * golden >> (64 - stemBits))
	if len(word) < 3 || slices.Contains(stems, s) {
		return stems
	}
	return append(stems, s)
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
