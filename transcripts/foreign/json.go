package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A value is a piece of JSON and its place. It refers to the bytes of the
// file and decodes them on demand. Methods treat a missing value as null. The
// first value of an unexpected kind becomes the error of its document. From
// then on every method returns its zero value, so a reader checks failed once,
// at the end.
type value struct {
	raw []byte // valid JSON without surrounding white space; nil when missing
	at  *place
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

// members yields the members of an object in order.
func (v value) members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if v.kind() != '{' {
			v.wants('{', "an object")
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
			v.wants('[', "an array")
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

// wants fails unless the value is of the kind, or not there.
func (v value) wants(kind byte, what string) bool {
	if k := v.kind(); k != 0 && k != kind {
		v.fail("this is to be %s", what)
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

// unquote decodes a JSON string.
func unquote(quoted []byte) string {
	s, _ := jsontext.AppendUnquote(nil, quoted) // lone surrogates are replaced
	return string(s)
}
