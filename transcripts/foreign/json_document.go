package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	path := ""
	for ; p.up != nil; p = p.up {
		if p.key == "" {
			path = "[" + strconv.Itoa(p.index) + "]" + path
		} else {
			path = step(p.key) + path
		}
	}
	return p.doc.where() + ": $" + path
}

// step writes a key as a step of a path.
func step(key string) string {
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
		return v, misshapen(d.spot(b, invalidUTF8(b)), "the JSON is not valid UTF-8", nil)
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), tolerant)
	for {
		if _, err := dec.ReadToken(); err != nil {
			return v, d.invalid(b, dec, err)
		}
		switch depth := dec.StackDepth(); {
		case depth > MaxDepth: // the path to it would be as long
			return v, misshapen(d.where()+": $", fmt.Sprintf("the JSON nests deeper than %d", MaxDepth), nil)
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
	return misshapen(d.spot(b, len(b)-len(rest)), fmt.Sprintf("invalid JSON: %q follows the value", rest[0]), nil)
}

// invalid returns the error for a token that cannot be read.
func (d *document) invalid(b []byte, dec *jsontext.Decoder, err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return misshapen(d.spot(b, len(b)-1), "invalid JSON: unexpected end", nil)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return misshapen(d.where()+": $"+objectPath(dec), fmt.Sprintf("the object repeats the key %.60q", syntax.JSONPointer.LastToken()), nil)
	case ok:
		return misshapen(d.spot(b, int(syntax.ByteOffset)), "invalid JSON: "+syntax.Err.Error(), nil)
	}
	return misshapen(d.where(), "invalid JSON", err)
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
			path += step(token)
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
