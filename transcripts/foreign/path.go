package foreign

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A jsonPath is a JSON path of keys, indices and wildcards, such as $.author.name,
// $.parts[0].text and $.parts[*].text.
type jsonPath []step

// A step is a key, an index of an array, or all items of one.
type step struct {
	key   string
	index int // if it is not a key; negative is all
	isKey bool
}

// maxSteps bounds the length of a path.
const maxSteps = 32

// parsePath reads a path. The leading "$." may be missing.
func parsePath(text string) (p jsonPath, err error) {
	rest := strings.TrimPrefix(strings.TrimSpace(text), "$")
	if rest != "" && rest[0] != '.' && rest[0] != '[' {
		rest = "." + rest
	}
	for rest != "" {
		var s step
		if rest[0] == '.' {
			s, rest, err = keyStep(rest[1:])
		} else {
			s, rest, err = bracketStep(rest[1:])
		}
		if err != nil {
			return nil, fmt.Errorf("the path %.80q cannot be read: %w", text, err)
		}
		if p = append(p, s); len(p) > maxSteps {
			return nil, fmt.Errorf("the path %.80q has over %d steps", text, maxSteps)
		}
	}
	return p, nil
}

// keyStep reads a key up to the next step.
func keyStep(rest string) (step, string, error) {
	end := strings.IndexAny(rest, ".[")
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return step{}, "", errors.New("a key is missing after a dot")
	}
	return step{key: rest[:end], isKey: true}, rest[end:], nil
}

// bracketStep reads [0], [*], ["key"] or ['key'] without its first bracket.
func bracketStep(rest string) (step, string, error) {
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		key, after, ok := strings.Cut(rest[1:], rest[:1]+"]")
		if !ok {
			return step{}, "", errors.New("a quoted key has no end")
		}
		return step{key: key, isKey: true}, after, checkNext(after)
	}
	inner, after, ok := strings.Cut(rest, "]")
	if !ok {
		return step{}, "", errors.New("a bracket has no end")
	}
	if inner == "*" {
		return step{index: -1}, after, checkNext(after)
	}
	n, err := strconv.Atoi(inner)
	if err != nil || n < 0 {
		return step{}, "", errors.New("a bracket holds an index, * or a quoted key")
	}
	return step{index: n}, after, checkNext(after)
}

func checkNext(rest string) error {
	if rest != "" && rest[0] != '.' && rest[0] != '[' {
		return errors.New("a bracket is followed by a dot or a bracket")
	}
	return nil
}

// find returns the values at a path, none of them null.
func (v value) find(p jsonPath) (all []value) {
	if v.kind() == 0 {
		return nil
	}
	if len(p) == 0 {
		return []value{v}
	}
	if p[0].isKey {
		return v.get(p[0].key).find(p[1:])
	}
	if v.kind() != '[' {
		return nil
	}
	n := 0
	for item := range v.items() {
		if p[0].index < 0 || p[0].index == n {
			all = append(all, item.find(p[1:])...)
		}
		n++
	}
	return all
}
