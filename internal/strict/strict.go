// Package strict decodes JSON of others: what encoding/json lets pass
// is refused. Valid UTF-8, bounded depth, no key twice, no key that is
// unknown or written in another case, one value and nothing behind it.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Decode reads b into v, a pointer. Values that are deeper than depth, the
// outermost being 1, are refused before anything recurses into them. Keys of
// structs must be exactly those of their json tags; what stands in a
// json.RawMessage or in a map may have any keys, but none twice.
func Decode(b []byte, depth int, v any) error {
	switch {
	case !utf8.Valid(b):
		return errors.New("not valid UTF-8")
	case !Shallow(b, depth):
		return fmt.Errorf("nested deeper than %d", depth)
	}
	s := scanner{dec: json.NewDecoder(bytes.NewReader(b))}
	s.dec.UseNumber()
	if err := s.value(reflect.TypeOf(v).Elem()); err != nil {
		return err
	}
	if _, err := s.dec.Token(); err != io.EOF {
		return errors.New("something stands behind the value")
	}
	return json.Unmarshal(b, v)
}

// Shallow reports whether no value of b is deeper than limit, the outermost
// being 1. It does not recurse, so it is asked before anything that does.
func Shallow(b []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

type scanner struct{ dec *json.Decoder }

// value reads one value that is to become a t; nil stands for anything.
func (s scanner) value(t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	tok, err := s.dec.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	switch tok {
	case json.Delim('{'):
		return s.object(t)
	case json.Delim('['):
		for s.dec.More() {
			if err := s.value(element(t)); err != nil {
				return err
			}
		}
		_, err = s.dec.Token()
	}
	return err
}

func (s scanner) object(t reflect.Type) error {
	fields := fieldsOf(t)
	seen := map[string]bool{}
	for s.dec.More() {
		tok, err := s.dec.Token()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return errors.New("a key is not a string")
		}
		if seen[key] {
			return fmt.Errorf("key %.40q stands twice", key)
		}
		seen[key] = true
		child, known := fields[key]
		if fields != nil && !known {
			return fmt.Errorf("key %.40q is not known", key)
		}
		if fields == nil {
			child = element(t)
		}
		if err := s.value(child); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return err
}

// element is the type of what stands in a list or a map.
func element(t reflect.Type) reflect.Type {
	if t == nil || t == reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return t.Elem()
	}
	return nil
}

// fieldsOf returns the keys of a struct, nil for what takes any key.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}
