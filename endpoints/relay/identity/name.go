package identity

import "unicode"

// nameRune says whether a name may hold r: letters, marks, digits, common
// signs and the space; no controls, and nothing that turns the direction of
// writing or cannot be seen.
func nameRune(r rune) bool {
	return r == ' ' || unicode.IsPrint(r) && r != unicode.ReplacementChar && !unicode.Is(unicode.Cf, r)
}
