package habit

import (
	"strings"
	"unicode"

	"github.com/folkmoot/moot/policies/policy"
)

// begins reports whether a text that names the participant at seat has the name at its
// very start, as package room/names finds names: the id or the display name, as one
// token or as words, or a word of it that no other participant has.
func begins(text string, agents []policy.Agent, seat int) bool {
	token, _, _ := strings.Cut(strings.TrimLeftFunc(text, unicode.IsSpace), " ")
	token = strings.Trim(token, ",.:;!?\"'()<>@*")
	start := strings.Fields(words(firstBytes(text)))
	for _, name := range [2]string{agents[seat].ID, agents[seat].Name} {
		if name == "" {
			continue
		}
		split := strings.Fields(words(splitCamel(name)))
		if strings.EqualFold(token, name) || hasPrefix(start, strings.Fields(words(name))) || hasPrefix(start, split) {
			return true
		}
		if len(start) > 0 && len(split) > 1 && policy.Has(split, start[0]) && !shared(start[0], agents, seat) {
			return true
		}
	}
	return false
}

// firstBytes returns enough of text for a name.
func firstBytes(text string) string { return text[:min(len(text), 256)] }

// words returns s in lower case with one space between its words of letters and digits.
func words(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }), " ")
}

// splitCamel puts a space where an upper-case letter follows a lower-case one or a digit.
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

func hasPrefix(all, prefix []string) bool {
	if len(prefix) == 0 || len(all) < len(prefix) {
		return false
	}
	for i, w := range prefix {
		if all[i] != w {
			return false
		}
	}
	return true
}

// shared reports whether another participant than that at seat has the word too.
func shared(word string, agents []policy.Agent, seat int) bool {
	for i := range agents {
		if i != seat && policy.Has(strings.Fields(words(splitCamel(agents[i].ID))), word) {
			return true
		}
	}
	return false
}
