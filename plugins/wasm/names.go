package wasm

import "strings"

// names rewrites the section of names, which engines read with less care than
// the others: it may claim any count of names. What is kept are the names of
// functions, for traces of failed calls; where it is not in order nothing is.
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

// mostFunctionName bounds one name, in bytes.
const mostFunctionName = 256

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

// plainName keeps what a terminal shows as it is.
func plainName(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, string(b[:min(len(b), mostFunctionName)]))
}
