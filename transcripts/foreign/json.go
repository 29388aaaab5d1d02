package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep JSON may nest.
const MaxDepth = 128

// A document is one JSON file, or one line of a file of JSON lines.
type document struct {
	file string
	line int   // from 1; 0 when the whole file is one document
	err  error // the first error of a reader of the document

	within string // path of a document that is a part of another one
}

// refuse sets the error of the document, unless it has one.
func (d *document) refuse(err error) {
	if d.err == nil {
		d.err = err
	}
}

// where names the document: the file, or file:line.
func (d *document) where() string {
	if d.line == 0 {
		return d.file
	}
	return d.file + ":" + strconv.Itoa(d.line)
}

// spot names a byte offset in b by line and column.
func (d *document) spot(b []byte, offset int) string {
	before := b[:min(max(offset, 0), len(b))]
	line, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
	if d.line > 0 {
		line = d.line
	}
	return fmt.Sprintf("%s:%d:%d", d.file, line, column)
}

// A place is one step of the path from the root of a document to a value.
type place struct {
	up    *place // nil at the root
	key   string
	index int       // in an array, when key is ""
	doc   *document // of the root
}

func (p *place) document() *document {
	for p.up != nil {
		p = p.up
	}
	return p.doc
}

// String returns the document and the path, such as file:3: $.parts[0].
func (p *place) String() string {
	d := p.document()
	return d.where() + ": $" + d.within + p.path()
}

// path returns the path from the root of the document.
func (p *place) path() string {
	path := ""
	for ; p.up != nil; p = p.up {
		if p.key == "" {
			path = "[" + strconv.Itoa(p.index) + "]" + path
		} else {
			path = pathStep(p.key) + path
		}
	}
	return path
}

// pathStep writes a key as a step of a path.
func pathStep(key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\" \n") || len(key) > 60 {
		return fmt.Sprintf("[%.60q]", key)
	}
	return "." + key
}

// tolerant replaces lone surrogates such as \ud800, as encoding/json does.
// Documents are checked for invalid UTF-8 before they are decoded.
var tolerant = jsontext.AllowInvalidUTF8(true)

// parse validates b and returns it as a value. It refuses invalid UTF-8,
// repeated keys and values nested deeper than MaxDepth.
func parse(b []byte, file string, line int) (value, error) {
	d := &document{file: file, line: line}
	v := value{bytes.TrimSpace(b), &place{doc: d}}
	if !utf8.Valid(b) {
		return v, shapeError(d.spot(b, invalidUTF8(b)), "the JSON is not valid UTF-8", nil)
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), tolerant)
	for {
		if _, err := dec.ReadToken(); err != nil {
			return v, d.invalid(b, dec, err)
		}
		switch depth := dec.StackDepth(); {
		case depth > MaxDepth: // the path to it would be as long
			return v, shapeError(d.where()+": $", fmt.Sprintf("the JSON nests deeper than %d", MaxDepth), nil)
		case depth == 0:
			return v, d.trailing(b, int(dec.InputOffset()))
		}
	}
}

// trailing refuses anything but white space after the value.
func (d *document) trailing(b []byte, end int) error {
	rest := bytes.TrimLeft(b[end:], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	return shapeError(d.spot(b, len(b)-len(rest)), fmt.Sprintf("invalid JSON: %q follows the value", rest[0]), nil)
}

// invalid returns the error for a token that cannot be read.
func (d *document) invalid(b []byte, dec *jsontext.Decoder, err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return shapeError(d.spot(b, len(b)-1), "invalid JSON: unexpected end", nil)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return shapeError(d.where()+": $"+objectPath(dec), fmt.Sprintf("the object repeats the key %.60q", syntax.JSONPointer.LastToken()), nil)
	case ok:
		return shapeError(d.spot(b, int(syntax.ByteOffset)), "invalid JSON: "+syntax.Err.Error(), nil)
	}
	return shapeError(d.where(), "invalid JSON", err)
}

// objectPath returns the path of the innermost object that dec is in.
func objectPath(dec *jsontext.Decoder) string {
	path, level := "", 0
	for token := range dec.StackPointer().Tokens() {
		if level++; level == dec.StackDepth() {
			break // a key of the object itself
		}
		if kind, _ := dec.StackIndex(level); kind == '[' {
			path += "[" + token + "]"
		} else {
			path += pathStep(token)
		}
	}
	return path
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// A value is a piece of JSON and its place. It refers to the bytes of the
// file and decodes them on demand. Methods treat a missing value as null. The
// first value of an unexpected kind becomes the error of its document. From
// then on every method returns its zero value, so a reader checks failed once,
// at the end.
type value struct {
	raw []byte // valid JSON without surrounding white space; nil when missing
	at  *place
}

// kind returns the first byte of the value, '0' for a number, and 0 for null or
// a missing value.
func (v value) kind() byte {
	switch {
	case len(v.raw) == 0 || v.raw[0] == 'n':
		return 0
	case v.raw[0] == '-' || v.raw[0] >= '0' && v.raw[0] <= '9':
		return '0'
	}
	return v.raw[0]
}

// fail records an error at the value, unless the document has an error already.
func (v value) fail(format string, args ...any) {
	v.at.document().refuse(shapeError(v.at.String(), fmt.Sprintf(format, args...), nil))
}

// failed returns the error of the document.
func (v value) failed() error { return v.at.document().err }

// members yields the members of an object in order.
func (v value) members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if v.kind() != '{' {
			v.expect('{', "an object")
			return
		}
		for key, raw := range v.pairs() {
			if !yield(key, value{raw, &place{up: v.at, key: key}}) {
				return
			}
		}
	}
}

// pairs yields the keys and the values of an object.
func (v value) pairs() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for dec := v.decoder(); dec.PeekKind() == '"'; {
			key, _ := dec.ReadToken()
			name := key.String() // key is valid until the next read only
			if raw := v.next(dec); raw == nil || !yield(name, raw) {
				return
			}
		}
	}
}

// decoder returns a decoder of the elements of an object or an array.
func (v value) decoder() *jsontext.Decoder {
	// The document was checked for repeated keys when it was parsed.
	dec := jsontext.NewDecoder(bytes.NewBuffer(v.raw), tolerant, jsontext.AllowDuplicateNames(true))
	_, _ = dec.ReadToken() // the opening bracket
	return dec
}

// next returns the bytes of the next element, nil after an error.
func (v value) next(dec *jsontext.Decoder) []byte {
	raw, err := dec.ReadValue()
	if err != nil {
		return nil
	}
	end := int(dec.InputOffset()) // raw itself is valid until the next read only
	return v.raw[end-len(raw) : end]
}

// items yields the elements of an array.
func (v value) items() iter.Seq[value] {
	return func(yield func(value) bool) {
		if v.kind() != '[' {
			v.expect('[', "an array")
			return
		}
		dec := v.decoder()
		for n := 0; dec.PeekKind() != ']'; n++ {
			raw := v.next(dec)
			if raw == nil || !yield(value{raw, &place{up: v.at, index: n}}) {
				return
			}
		}
	}
}

// itemsOf is items for a value that may be of another kind, which has none.
func (v value) itemsOf() iter.Seq[value] {
	if v.kind() != '[' {
		return func(func(value) bool) {}
	}
	return v.items()
}

// expect reports whether the value is of the kind, and fails if it is of another.
func (v value) expect(kind byte, what string) bool {
	if k := v.kind(); k != 0 && k != kind {
		v.fail("expected %s", what)
	}
	return v.kind() == kind && v.failed() == nil
}

// get returns a member of an object. A value that is no object has none.
func (v value) get(key string) value {
	m := value{at: &place{up: v.at, key: key}}
	if v.kind() == '{' {
		for k, raw := range v.pairs() {
			if k == key {
				m.raw = raw
				break
			}
		}
	}
	return m
}

// has reports whether there is a member that is not null.
func (v value) has(key string) bool { return v.get(key).kind() != 0 }

// names reports whether there is a member, which may be null.
func (v value) names(key string) bool {
	if v.kind() == '{' {
		for k := range v.pairs() {
			if k == key {
				return true
			}
		}
	}
	return false
}

// require returns a member and fails if it is missing.
func (v value) require(key string) value {
	if v.expect('{', "an object") {
		m := v.get(key)
		if m.kind() == 0 {
			v.fail("%q is missing", key)
		}
		return m
	}
	if v.kind() == 0 {
		v.fail("expected an object")
	}
	return value{nil, &place{up: v.at, key: key}}
}

// text returns a string, "" for null, and fails for other kinds.
func (v value) text() string {
	if !v.expect('"', "a string") {
		return ""
	}
	return unquote(v.raw)
}

// maybeText returns a string, or "" for anything else.
func (v value) maybeText() string {
	if v.kind() != '"' {
		return ""
	}
	return unquote(v.raw)
}

// flag reports whether the value is true.
func (v value) flag() bool { return v.kind() == 't' }

// number returns a number, which may be written as a string; 0 for null.
func (v value) number() float64 {
	s := string(v.raw)
	switch v.kind() {
	case 0:
		return 0
	case '"':
		s = unquote(v.raw)
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) {
		v.fail("expected a number")
		return 0
	}
	return n
}

// integer is number for integers of more than the 53 bits of a float64.
func (v value) integer() int64 {
	s := string(v.raw)
	if v.kind() == '"' {
		s = unquote(v.raw)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return int64(v.number())
	}
	return n
}

// compact returns the JSON without white space between tokens.
func (v value) compact() string {
	var b bytes.Buffer
	if v.raw == nil || json.Compact(&b, v.raw) != nil {
		return ""
	}
	return b.String()
}

// unquote decodes a JSON string.
func unquote(quoted []byte) string {
	s, _ := jsontext.AppendUnquote(nil, quoted) // lone surrogates are replaced
	return string(s)
}
