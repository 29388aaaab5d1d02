package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/human"
)

// Suggest returns `did you mean "x"?` for the word that is nearest, or "".
func Suggest(word string, words []string) string { return human.Suggest(word, words) }

// renamedKeys are keys of other tools or of older drafts.
var renamedKeys = map[string]string{
	"onError":       "a policy error always pauses the room",
	"maxIdleRounds": "use limits.maxDeclines",
	"maxTokens":     "it belongs to a participant, or to limits for the whole room",
	"visibility":    "the kind of a message determines its visibility",
	"permissions":   "kind and moderator determine the permissions",
	"transcript":    "rooms are stored in the data folder; `moot transcript export` exports them",
	"maxDurationMs": "use maxDuration, such as 10m",
	"timeout":       "set it on the participant, next to endpoint",
}

// hintKey returns a hint for an unknown key.
func hintKey(name string, known []string) string {
	if s := cmp.Or(Suggest(name, known), renamedKeys[name]); s != "" {
		return s
	}
	if len(known) == 0 {
		return ""
	}
	if len(known) > 12 {
		known = append(slices.Clone(known[:12]), "...")
	}
	return "known keys: " + strings.Join(known, ", ")
}

// formatValues formats values for messages, each with at most 200 bytes.
func formatValues(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		s := fmt.Sprint(v)
		out[i] = strings.ToValidUTF8(s[:min(len(s), 200)], "")
	}
	return out
}

// typeNames translates the type names of JSON Schema to those of YAML.
func typeNames(types []string) []string {
	names := map[string]string{
		"object": "a mapping", "array": "a list", "string": "a text", "integer": "a whole number",
		"number": "a number", "boolean": "true or false", "null": "nothing",
	}
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = names[t]
	}
	return out
}
