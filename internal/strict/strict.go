// Package strict decodes JSON from untrusted sources. It refuses what
// encoding/json accepts: invalid UTF-8, duplicate keys, unknown keys, keys in
// another case, and deep nesting. Everything else follows encoding/json.
package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// options are those of encoding/json with strict keys. Invalid UTF-8 is found
// before decoding; the option keeps \ud800 legal, which encoding/json replaces.
var options = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	jsonv1.ReportErrorsWithLegacySemantics(false),
	json.MatchCaseInsensitiveNames(false),
	json.RejectUnknownMembers(true),
	jsontext.AllowDuplicateNames(false),
)

// Decode reads the one JSON value in b into v, a pointer. Keys must be exactly
// those of the json tags. A json.RawMessage or a map takes any key, but none
// twice. Values nested deeper than depth are refused; the outermost value has
// depth 1. An error names the offending key, as in turns[3].text.
func Decode(b []byte, depth int, v any) error {
	if err := check(b, depth); err != nil {
		return err
	}
	return plain(json.Unmarshal(b, v, options))
}

// Known is Decode without the keys that v does not have, which are ignored.
func Known(b []byte, depth int, v any) error {
	if err := check(b, depth); err != nil {
		return err
	}
	return plain(json.Unmarshal(b, v, options, json.RejectUnknownMembers(false)))
}

// Check is Decode for formats that may grow, without the decoding: unknown
// keys are allowed. The known keys are JSON pointers such as /usage/tokens. A
// key that differs from a known one in case only is refused.
func Check(b []byte, depth int, known []string) error {
	if err := check(b, depth); err != nil {
		return err
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), options)
	for {
		if _, err := dec.ReadToken(); err != nil {
			return plain(err)
		}
		if dec.StackDepth() == 0 {
			break
		}
		if kind, n := dec.StackIndex(dec.StackDepth()); kind != '{' || n%2 == 0 {
			continue // not a key
		}
		if err := exactCase(string(dec.StackPointer()), known); err != nil {
			return err
		}
	}
	if rest := bytes.TrimSpace(b[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("invalid character %q after top-level value", rest[0])
	}
	return nil
}

func exactCase(key string, known []string) error {
	for _, k := range known {
		if k != key && strings.EqualFold(k, key) {
			return fmt.Errorf("key %q must be written %q", key[strings.LastIndexByte(key, '/')+1:], k[strings.LastIndexByte(k, '/')+1:])
		}
	}
	return nil
}

func check(b []byte, depth int) error {
	switch {
	case !utf8.Valid(b):
		return errors.New("invalid UTF-8")
	case !Shallow(b, depth):
		return fmt.Errorf("nests deeper than %d", depth)
	}
	return nil
}

// Shallow reports whether no value in b is nested deeper than limit; the
// outermost value has depth 1. It does not recurse and needs no valid JSON.
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

// An Error is an error of [Decode] with its place. Unknown is the key that is not
// known, if that is the error.
type Error struct {
	What    string
	Offset  int64 // in bytes
	Unknown string
}

func (e *Error) Error() string { return e.What }

// Located is Decode whose error, if its place is known, is an *[Error].
func Located(b []byte, depth int, v any) error {
	if err := check(b, depth); err != nil {
		return err
	}
	err := json.Unmarshal(b, v, options)
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &semantic):
		e := &Error{What: plain(err).Error(), Offset: semantic.ByteOffset}
		if errors.Is(err, json.ErrUnknownName) {
			e.Unknown = semantic.JSONPointer.LastToken()
		}
		return e
	case errors.As(err, &syntax):
		return &Error{What: plain(err).Error(), Offset: syntax.ByteOffset}
	}
	return plain(err)
}

// plain rewords an error of the decoder without naming Go types.
func plain(err error) error {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("unexpected end of JSON")
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("duplicate key %q", clip(syntax.JSONPointer.LastToken()))
	case errors.As(err, &syntax):
		return fmt.Errorf("%w at byte %d", syntax.Err, syntax.ByteOffset)
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("unknown key %q", clip(semantic.JSONPointer.LastToken()))
	case errors.As(err, &semantic) && semantic.Err != nil && semantic.JSONKind != '0':
		return fmt.Errorf("%s: %w", place(semantic.JSONPointer), semantic.Err)
	case errors.As(err, &semantic):
		return fmt.Errorf("%s may not be %s", place(semantic.JSONPointer), described(semantic))
	}
	return err
}

// place writes a pointer the way people write paths: turns[3].text.
func place(p jsontext.Pointer) string {
	var path strings.Builder
	for token := range p.Tokens() {
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			path.WriteString("[" + token + "]")
		case path.Len() > 0:
			path.WriteString("." + clip(token))
		default:
			path.WriteString(clip(token))
		}
	}
	if path.Len() == 0 {
		return "the value"
	}
	return fmt.Sprintf("%q", path.String())
}

// described names the kind of JSON value that did not fit.
func described(err *json.SemanticError) string {
	switch err.JSONKind {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	if err.JSONValue == nil {
		return "a number"
	}
	return "the number " + clip(string(err.JSONValue))
}

// clip bounds how much of a foreign text an error repeats.
func clip(s string) string {
	if len(s) <= 40 {
		return s
	}
	return strings.ToValidUTF8(s[:40], "") + "…"
}
