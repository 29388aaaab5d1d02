package transcripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	c := checker{d: json.NewDecoder(bytes.NewReader(b))}
	c.d.UseNumber()
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
type checker struct{ d *json.Decoder }

func (c *checker) value(s shape, depth int) error {
	t, err := c.d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return c.object(s, depth+1)
	case json.Delim('['):
		return c.array(s, depth+1)
	}
	return nil
}

func (c *checker) array(s shape, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nests deeper than %d", maxDepth)
	}
	for c.d.More() {
		if err := c.value(s, depth); err != nil {
			return err
		}
	}
	_, err := c.d.Token()
	return err
}

func (c *checker) object(s shape, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nests deeper than %d", maxDepth)
	}
	seen := make(map[string]bool, 8)
	for c.d.More() {
		t, err := c.d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		inner, known := s[key]
		switch {
		case seen[key]:
			return fmt.Errorf("repeats the key %q", key)
		case s != nil && !known:
			return fmt.Errorf("has the unknown key %q", key)
		}
		seen[key] = true
		if err := c.value(inner, depth); err != nil {
			return err
		}
	}
	_, err := c.d.Token()
	return err
}
