package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep JSON may nest.
const MaxDepth = 128

// A value is a piece of JSON and its place. It is read where it stands: the
// bytes are those of the file. Its methods take a value that is not there for
// null. The first thing that is not as a method wants it is the document's
// error; after it every method gives its zero value, so a reader looks at the
// error when it is done.
type value struct {
	raw []byte // valid JSON that starts and ends with the value; nil when it is not there
	at  *place
}

// A place is a step on the way from a document to a value in it.
type place struct {
	up    *place
	key   string
	index int       // in an array, when key is ""
	doc   *document // of the root
}

// A document is one file of JSON, or one line of a file of lines.
type document struct {
	file string
	line int // from 1; 0 when the whole file is one document
	err  error
}

func (p *place) document() *document {
	for p.up != nil {
		p = p.up
	}
	return p.doc
}

// String returns the place as people look for it: file:line and the path.
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

// step is a key in a path.
func step(key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\" \n") || len(key) > 60 {
		return fmt.Sprintf("[%.60q]", key)
	}
	return "." + key
}

func (d *document) where() string {
	if d.line == 0 {
		return d.file
	}
	return d.file + ":" + strconv.Itoa(d.line)
}

// parse checks b and returns it as a value.
func parse(b []byte, file string, line int) (value, error) {
	d := &document{file: file, line: line}
	v := value{bytes.TrimSpace(b), &place{doc: d}}
	if !utf8.Valid(b) {
		return v, misshapen(d.spot(b, invalidAt(b)), "the JSON is not valid UTF-8", nil)
	}
	if !json.Valid(b) {
		return v, d.invalid(b)
	}
	if _, f := check(v.raw, 0, 0); f != nil {
		return v, misshapen(d.where()+": $"+f.path, f.what, nil)
	}
	return v, nil
}

// invalid says what is wrong with bytes that are no JSON, and where.
func (d *document) invalid(b []byte) error {
	var none json.RawMessage
	err := json.Unmarshal(b, &none)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return misshapen(d.spot(b, int(syntax.Offset)-1), "this is no JSON: "+err.Error(), nil)
	}
	return misshapen(d.where(), "this is no JSON", err)
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// spot names an offset by line and column.
func (d *document) spot(b []byte, offset int) string {
	before := b[:min(max(offset, 0), len(b))]
	line, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
	if d.line > 0 {
		line = d.line
	}
	return fmt.Sprintf("%s:%d:%d", d.file, line, column)
}

// kind returns the first byte of the value, '0' for a number, and 0 for null
// and for one that is not there.
func (v value) kind() byte {
	switch {
	case len(v.raw) == 0 || v.raw[0] == 'n':
		return 0
	case v.raw[0] == '-' || v.raw[0] >= '0' && v.raw[0] <= '9':
		return '0'
	}
	return v.raw[0]
}

// fail makes what the document's error, if it is the first.
func (v value) fail(format string, args ...any) {
	if d := v.at.document(); d.err == nil {
		d.err = misshapen(v.at.String(), fmt.Sprintf(format, args...), nil)
	}
}

// failed returns the document's error.
func (v value) failed() error { return v.at.document().err }

// members yields the members of an object in their order.
func (v value) members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if v.kind() != '{' {
			v.wants('{', "an object")
			return
		}
		for i := next(v.raw, 1); v.raw[i] != '}'; {
			end := skip(v.raw, i)
			key := unquote(v.raw[i:end])
			i = next(v.raw, next(v.raw, end)+1) // over the colon
			end = skip(v.raw, i)
			if !yield(key, value{v.raw[i:end], &place{up: v.at, key: key}}) {
				return
			}
			if i = next(v.raw, end); v.raw[i] == ',' {
				i = next(v.raw, i+1)
			}
		}
	}
}

// items yields the elements of an array.
func (v value) items() iter.Seq[value] {
	return func(yield func(value) bool) {
		if v.kind() != '[' {
			v.wants('[', "an array")
			return
		}
		for i, n := next(v.raw, 1), 0; v.raw[i] != ']'; n++ {
			end := skip(v.raw, i)
			if !yield(value{v.raw[i:end], &place{up: v.at, index: n}}) {
				return
			}
			if i = next(v.raw, end); v.raw[i] == ',' {
				i = next(v.raw, i+1)
			}
		}
	}
}

// wants fails unless the value is of the kind, or not there.
func (v value) wants(kind byte, what string) bool {
	if k := v.kind(); k != 0 && k != kind {
		v.fail("this is to be %s", what)
	}
	return v.kind() == kind && v.failed() == nil
}

// get returns a member. Of what is no object there is none.
func (v value) get(key string) value {
	if v.kind() == '{' {
		for i := next(v.raw, 1); v.raw[i] != '}'; {
			end := skip(v.raw, i)
			found := string(unescaped(v.raw[i:end])) == key
			i = next(v.raw, next(v.raw, end)+1) // over the colon
			end = skip(v.raw, i)
			if found {
				return value{v.raw[i:end], &place{up: v.at, key: key}}
			}
			if i = next(v.raw, end); v.raw[i] == ',' {
				i = next(v.raw, i+1)
			}
		}
	}
	return value{nil, &place{up: v.at, key: key}}
}

// has reports whether there is a member that is not null.
func (v value) has(key string) bool { return v.get(key).kind() != 0 }

// need returns a member, which has to be there.
func (v value) need(key string) value {
	if v.wants('{', "an object") {
		m := v.get(key)
		if m.kind() == 0 {
			v.fail("%q is missing", key)
		}
		return m
	}
	if v.kind() == 0 {
		v.fail("this is to be an object")
	}
	return value{nil, &place{up: v.at, key: key}}
}

// text returns a string.
func (v value) text() string {
	if !v.wants('"', "a string") {
		return ""
	}
	return unquote(v.raw)
}

// word returns a string, or "" for anything else.
func (v value) word() string {
	if v.kind() != '"' {
		return ""
	}
	return unquote(v.raw)
}

// flag reports whether the value is true.
func (v value) flag() bool { return v.kind() == 't' }

// number returns a number, be it written as a string; 0 when it is not there.
func (v value) number() float64 {
	s := string(v.raw)
	switch v.kind() {
	case 0:
		return 0
	case '"':
		s = unquote(v.raw)
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		v.fail("this is to be a number")
		return 0
	}
	return n
}

// integer is number for those beyond the 53 bits that a float64 holds.
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

// compact returns the JSON without white space between its parts.
func (v value) compact() string {
	var b bytes.Buffer
	if v.raw == nil || json.Compact(&b, v.raw) != nil {
		return ""
	}
	return b.String()
}
