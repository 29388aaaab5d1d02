package transcripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxDepth bounds how deep JSON may nest.
const maxDepth = 64

// A shape says which keys a JSON object may have, exactly as written. The nil
// shape allows any value; a shape of an array is that of its elements.
type shape map[string]shape

// decodeStrict decodes b into v and refuses what encoding/json lets pass:
// invalid UTF-8, keys that are unknown, repeated or in another case, and deep
// nesting.
func decodeStrict(b []byte, s shape, v any) error {
	if !utf8.Valid(b) {
		return errors.New("invalid UTF-8")
	}
	if err := json.Unmarshal(b, v); err != nil {
		return plainJSONError(err)
	}
	c := checker{b: b}
	return c.value(s, 0)
}

// plainJSONError says what is wrong without naming types of Go.
func plainJSONError(err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return fmt.Errorf("%s may not be a %s", orKey(typed.Field), typed.Value)
	}
	return err
}

func orKey(field string) string {
	if field == "" {
		return "the line"
	}
	return fmt.Sprintf("%q", field)
}

// A checker walks JSON that is known to be valid.
type checker struct {
	b []byte
	i int
}

// next skips white space and returns the byte behind it.
func (c *checker) next() byte {
	for c.b[c.i] == ' ' || c.b[c.i] == '\t' || c.b[c.i] == '\n' || c.b[c.i] == '\r' {
		c.i++
	}
	return c.b[c.i]
}

func (c *checker) value(s shape, depth int) error {
	switch c.next() {
	case '{':
		return c.object(s, depth+1)
	case '[':
		return c.array(s, depth+1)
	case '"':
		c.text()
	default: // a number, true, false or null
		for c.i < len(c.b) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(c.b[c.i])) {
			c.i++
		}
	}
	return nil
}

// text skips a string and returns it with its quotes.
func (c *checker) text() []byte {
	from := c.i
	for c.i++; c.b[c.i] != '"'; c.i++ {
		if c.b[c.i] == '\\' {
			c.i++
		}
	}
	c.i++
	return c.b[from:c.i]
}

// more steps over an opening bracket or a comma and reports whether an
// element follows; otherwise it steps over the closing bracket.
func (c *checker) more() bool {
	c.i++
	if b := c.next(); b == ']' || b == '}' { // of an empty one
		c.i++
		return false
	}
	return true
}

// end reports whether the element was the last, and steps over the closing
// bracket if so.
func (c *checker) end() bool {
	if c.next() == ',' {
		return false
	}
	c.i++
	return true
}

func (c *checker) array(s shape, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nests deeper than %d", maxDepth)
	}
	for more := c.more(); more; more = !c.end() && c.more() {
		if err := c.value(s, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) object(s shape, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nests deeper than %d", maxDepth)
	}
	var room [16]string
	seen := room[:0]
	for more := c.more(); more; more = !c.end() && c.more() {
		c.next()
		key, err := plainKey(c.text())
		if err != nil {
			return err
		}
		inner, known := s[key]
		switch {
		case slices.Contains(seen, key):
			return fmt.Errorf("repeats the key %q", key)
		case s != nil && !known:
			return fmt.Errorf("has the unknown key %q", key)
		case len(seen) == maxKeys:
			return fmt.Errorf("has more than %d keys in one object", maxKeys)
		}
		seen = append(seen, key)
		c.next() // the colon
		c.i++
		if err := c.value(inner, depth); err != nil {
			return err
		}
	}
	return nil
}

// maxKeys bounds the keys of one object: looking for a repeated one takes the
// square of their number.
const maxKeys = 1024

// plainKey takes the quotes and escapes off a key.
func plainKey(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	var key string
	err := json.Unmarshal(quoted, &key)
	return key, err
}
