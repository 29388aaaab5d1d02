package wasm

import "strings"

// names rewrites the name section. Engines read it with less care than others,
// and it may declare any count of names. The names of functions are kept, for
// stack traces. A malformed section is dropped.
func (m *module) names(s *section) []byte {
	c := s.body
	c.name(m.limits.Name) // "name"
	for c.more() {
		id := c.byte()
		sub := c.sub()
		if c.failed() {
			return nil
		}
		if id == 1 {
			return m.functionNames(&sub)
		}
	}
	return nil
}

// maxFunctionName limits one name, in bytes.
const maxFunctionName = 256

func (m *module) functionNames(c *cursor) []byte {
	n := c.count("names", len(m.funcs), 2)
	var list []byte
	last := -1
	for range n {
		index := int(c.index("function", len(m.funcs)))
		name := c.vec()
		if c.failed() || index <= last {
			return nil
		}
		last = index
		clean := plainName(name)
		list = append(leb(leb(list, uint64(index)), uint64(len(clean))), clean...)
	}
	if c.end("names"); c.failed() || n == 0 {
		return nil
	}
	list = append(leb(nil, uint64(n)), list...)
	out := append([]byte{4}, "name"...)
	out = append(leb(append(out, 1), uint64(len(list))), list...)
	return out
}

// plainName replaces characters that are not printable ASCII.
func plainName(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, string(b[:min(len(b), maxFunctionName)]))
}
