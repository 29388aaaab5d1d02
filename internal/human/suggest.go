package human

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Suggest returns `did you mean "x"?` for the word with the smallest Levenshtein
// distance, or "" if none is near.
func Suggest(word string, words []string) string {
	best, dist := "", len(word)/4+2
	for _, w := range words {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(w)); d < dist {
			best, dist = w, d
		}
	}
	if best == "" || best == word {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}
