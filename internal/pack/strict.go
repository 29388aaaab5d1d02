package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep a manifest's or a lock's values nest; schemas of
// settings are the deepest.
const maxDepth = 64

// strict decodes b into v: one value, no unknown, double or wrong-case keys.
// The keys of the values under free are not v's and may be of any case.
func strict(b []byte, v any, free ...string) error {
	if !utf8.Valid(b) {
		return errors.New("not UTF-8")
	}
	w := walk{dec: json.NewDecoder(bytes.NewReader(b)), free: free}
	w.dec.UseNumber()
	if err := w.value(0, false); err != nil {
		return err
	}
	if _, err := w.dec.Token(); err != io.EOF {
		return errors.New("something follows the value")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// walk reads a JSON value token by token and finds what encoding/json takes.
type walk struct {
	dec  *json.Decoder
	free []string
}

func (w walk) value(depth int, free bool) error {
	t, err := w.dec.Token()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch t {
	case json.Delim('{'):
		return w.object(depth, free)
	case json.Delim('['):
		for w.dec.More() {
			if err := w.value(depth+1, free); err != nil {
				return err
			}
		}
		_, err = w.dec.Token()
	}
	return err
}

func (w walk) object(depth int, free bool) error {
	seen := map[string]bool{}
	for w.dec.More() {
		t, err := w.dec.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // keys are strings
		if seen[key] {
			return fmt.Errorf("the key %q is there twice", key)
		}
		seen[key] = true
		if !free && key != strings.ToLower(key) {
			return fmt.Errorf("unknown key %q: keys are in lower case", key)
		}
		below := free
		for _, f := range w.free {
			below = below || depth == 0 && key == f
		}
		if err := w.value(depth+1, below); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}
