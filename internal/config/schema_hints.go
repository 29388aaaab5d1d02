package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// lookup returns the part of the schema at a URL's fragment.
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

// want says in words what the schema asks for; otherwise is for schemas that
// have no words for it.
func (k checker) want(e *jsonschema.ValidationError, otherwise string) string {
	if w, ok := k.c.lookup(e.SchemaURL)["x-want"].(string); ok {
		return w
	}
	return otherwise
}

// properties returns the keys that are allowed and not there yet.
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

// moved are keys that other tools or older drafts have.
var moved = map[string]string{
	"onError":       "a policy error always pauses the room",
	"maxIdleRounds": "it is limits.maxDeclines",
	"maxTokens":     "a seat's is max_tokens; the room's is limits.maxTokens",
	"visibility":    "visibility follows from the kind of a message",
	"permissions":   "rights follow from kind and moderator",
	"transcript":    "rooms are kept in the data folder; `moot transcript export` writes them out",
	"maxDurationMs": "it is maxDuration, such as 10m",
	"timeout":       "it belongs to the participant, beside endpoint",
}

// hintKey helps with an unknown key.
func hintKey(name string, known []string) string {
	if s := suggest(name, known); s != "" {
		return s
	}
	if s := moved[name]; s != "" {
		return s
	}
	if len(known) == 0 {
		return ""
	}
	if len(known) > 12 {
		known = append(slices.Clone(known[:12]), "...")
	}
	return "known here: " + strings.Join(known, ", ")
}

func words(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprint(v)
	}
	return out
}

// typeNames are JSON Schema's names of types in the words of YAML.
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
