package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	decode "github.com/folkmoot/moot/internal/strict"
)

const maxDepth = 16

// known are the keys that we read, by the object they stand in. Go matches
// keys whatever their case; here another case is refused.
var known = map[string][]string{
	"": {
		"type", "request_id", "status", "draft_message", "reason", "metrics", "outcome", "usage",
		"confidence", "tool_rounds", "bid", "message_id", "call_id", "to", "text",
	},
	"metrics": {"latency_ms"},
	"usage":   {"input_tokens", "output_tokens"},
}

// strict checks what encoding/json lets pass: invalid UTF-8, duplicate keys,
// keys in another case, depth. keys are those that will be read.
func strict(b []byte, keys map[string][]string) error {
	switch {
	case !utf8.Valid(b):
		return errors.New("not valid UTF-8")
	case !decode.Shallow(b, maxDepth):
		return fmt.Errorf("nested deeper than %d", maxDepth)
	case !json.Valid(b):
		return errors.New("not valid JSON")
	}
	s := scanner{dec: json.NewDecoder(bytes.NewReader(b)), keys: keys}
	s.dec.UseNumber()
	return s.value("", 0)
}

type scanner struct {
	dec  *json.Decoder
	keys map[string][]string
}

// value reads one value; name is the key that it stands under at the top.
func (s *scanner) value(name string, depth int) error {
	t, err := s.dec.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return s.object(name, depth)
	case json.Delim('['):
		for s.dec.More() {
			if err := s.value("[]", depth+1); err != nil {
				return err
			}
		}
		_, err = s.dec.Token()
	}
	return err
}

func (s *scanner) object(name string, depth int) error {
	seen := map[string]bool{}
	for s.dec.More() {
		t, err := s.dec.Token()
		if err != nil {
			return err
		}
		key := t.(string)
		if seen[key] {
			return fmt.Errorf("duplicate key %q", key)
		}
		seen[key] = true
		if depth < 2 {
			if err := exact(key, s.keys[name]); err != nil {
				return err
			}
		}
		child := key
		if depth > 0 {
			child = "[]"
		}
		if err := s.value(child, depth+1); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return err
}

func exact(key string, keys []string) error {
	for _, k := range keys {
		if k != key && strings.EqualFold(k, key) {
			return fmt.Errorf("key %q must be written %q", key, k)
		}
	}
	return nil
}
