package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// The functions here walk over JSON that is known to be valid.

// next returns where the next byte is that is no white space.
func next(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// skip returns the end of the value at i.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; ; i++ {
			switch b[i] {
			case '"':
				i = skipString(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	return i
}

// skipString returns the end of the string at i. A quote ends it unless an
// odd number of backslashes stands before.
func skipString(b []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// unquote reads a string.
func unquote(quoted []byte) string { return string(unescaped(quoted)) }

// unescaped returns what a string holds, without a copy when it can.
func unescaped(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return nil
	}
	return []byte(s)
}

// A flaw is what check refuses, and the way to it.
type flaw struct{ path, what string }

func (f *flaw) under(step string) *flaw {
	if f.path != "" || f.what != tooDeep {
		f.path = step + f.path
	}
	return f
}

var tooDeep = fmt.Sprintf("the JSON nests deeper than %d", MaxDepth)

// check walks over the value at i, returns its end, and refuses repeated keys
// and deep nesting. The path of the latter would be as long as it is deep.
func check(b []byte, i, depth int) (int, *flaw) {
	if i >= len(b) {
		return i, nil
	}
	if k := b[i]; k != '{' && k != '[' {
		return skip(b, i), nil
	} else if depth++; depth > MaxDepth {
		return i, &flaw{what: tooDeep}
	} else if k == '[' {
		return checkArray(b, i, depth)
	}
	return checkObject(b, i, depth)
}

func checkArray(b []byte, i, depth int) (int, *flaw) {
	i = next(b, i+1)
	for n := 0; b[i] != ']'; n++ {
		end, f := check(b, i, depth)
		if f != nil {
			return end, f.under("[" + strconv.Itoa(n) + "]")
		}
		if i = next(b, end); b[i] == ',' {
			i = next(b, i+1)
		}
	}
	return i + 1, nil
}

func checkObject(b []byte, i, depth int) (int, *flaw) {
	var few [16][]byte
	keys := keySet{few: few[:0]}
	i = next(b, i+1)
	for b[i] != '}' {
		end := skipString(b, i)
		key := unescaped(b[i:end])
		if keys.repeats(key) {
			return end, &flaw{what: fmt.Sprintf("the object repeats the key %.60q", key)}
		}
		i = next(b, next(b, end)+1) // over the colon
		end, f := check(b, i, depth)
		if f != nil {
			return end, f.under(step(string(key)))
		}
		if i = next(b, end); b[i] == ',' {
			i = next(b, i+1)
		}
	}
	return i + 1, nil
}

// A keySet holds the keys of an object, of which most have few.
type keySet struct {
	few  [][]byte
	many map[string]bool
}

// repeats adds a key and reports whether it was there.
func (s *keySet) repeats(key []byte) bool {
	if s.many != nil {
		again := s.many[string(key)]
		s.many[string(key)] = true
		return again
	}
	for _, k := range s.few {
		if bytes.Equal(k, key) {
			return true
		}
	}
	if len(s.few) < cap(s.few) {
		s.few = append(s.few, key)
		return false
	}
	s.many = map[string]bool{string(key): true}
	for _, k := range s.few {
		s.many[string(k)] = true
	}
	return false
}
