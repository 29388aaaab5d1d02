package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// suggest returns `did you mean "x"?` for the word with the smallest Levenshtein
// distance, or "" if none is near.
func suggest(word string, words []string) string {
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

// lookup returns the part of the schema at the fragment of a URL.
func (c compiled) lookup(url string) map[string]any {
	_, frag, _ := strings.Cut(url, "#")
	cur := c.doc
	for part := range strings.SplitSeq(strings.Trim(frag, "/"), "/") {
		if part == "" {
			continue
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch t := cur.(type) {
		case map[string]any:
			cur = t[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			cur = t[i]
		}
	}
	m, _ := cur.(map[string]any)
	return m
}

// want returns the x-want text of the schema, which describes the expected
// value, or else otherwise.
func (k checker) want(e *jsonschema.ValidationError, otherwise string) string {
	if w, ok := k.c.lookup(e.SchemaURL)["x-want"].(string); ok {
		return w
	}
	return otherwise
}

// properties returns the allowed keys that are not used yet.
func (k checker) properties(e *jsonschema.ValidationError, path []string) []string {
	props, _ := k.c.lookup(e.SchemaURL)["properties"].(map[string]any)
	n, _ := k.d.find(path)
	var names []string
	for name := range props {
		if v, _ := child(n, name); v == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// renamedKeys are keys of other tools or of older drafts.
var renamedKeys = map[string]string{
	"onError":       "a policy error always pauses the room",
	"maxIdleRounds": "use limits.maxDeclines",
	"maxTokens":     "use max_tokens for a participant, limits.maxTokens for the room",
	"visibility":    "the kind of a message determines its visibility",
	"permissions":   "kind and moderator determine the permissions",
	"transcript":    "rooms are stored in the data folder; `moot transcript export` exports them",
	"maxDurationMs": "use maxDuration, such as 10m",
	"timeout":       "set it on the participant, next to endpoint",
}

// hintKey returns a hint for an unknown key.
func hintKey(name string, known []string) string {
	if s := suggest(name, known); s != "" {
		return s
	}
	if s := renamedKeys[name]; s != "" {
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

func formatValues(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprint(v)
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
