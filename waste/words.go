package waste

import (
	"strings"
	"unicode"
)

// wordsOf splits a text into words in lower case. In scripts that are written without
// spaces each character counts as a word.
func wordsOf(text string) []string {
	var all []string
	for _, field := range strings.Fields(strings.ToLower(text)) {
		from := 0
		for i, r := range field {
			if !unspaced(r) {
				continue
			}
			if from < i {
				all = append(all, field[from:i])
			}
			from = i + len(string(r))
			all = append(all, field[i:from])
		}
		if from < len(field) {
			all = append(all, field[from:])
		}
	}
	return all
}

// unspaced reports whether r belongs to a script that is written without spaces.
func unspaced(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
