package wasm

import "bytes"

// Straighten makes a module that Go's compiler wrote quicker, and changes
// nothing of what it does.
//
// WebAssembly has no jumps, so that the compiler puts a function's basic blocks
// into a loop around a br_table: whoever jumps sets a local, PC_B, to the number
// of a block and begins the loop anew (cmd/internal/obj/wasm, preprocess). It
// needs that to go on in the middle of a function, after other goroutines ran,
// but it costs every turn of every loop several indirect branches, and several
// looks at the fuel. Here forward jumps become branches out of blocks and
// backward jumps become loops. The table remains for the places that a function
// can be entered at again.
//
// Functions that do not look as the compiler of Go 1.26 writes them stay as
// they are. The names of functions are left out of the result; with them a
// module gains more, because they tell which functions may be entered by
// runtime.deferreturn.
func Straighten(b []byte) ([]byte, error) {
	limits := Default
	mod, err := split(b, &limits)
	if err != nil {
		return nil, err
	}
	if err := mod.read(); err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(b)), header...)
	c := cursor{b: b, p: len(header), fn: -1}
	for c.more() {
		id, body := c.byte(), c.sub()
		switch s := (section{id, body}); {
		case c.failed() || s.isNames():
			continue
		case id == secCode:
			body.b = mod.straightCode(&body)
		}
		out = append(leb(append(out, id), uint64(len(body.b))), body.b...)
	}
	return out, c.failure()
}

// straightCode returns the code section with what can be straightened so.
func (m *module) straightCode(c *cursor) []byte {
	out := leb(make([]byte, 0, len(c.b)), uint64(m.ownFuncs))
	deferred := m.called("runtime.deferreturn")
	c.u32()
	for f := 0; f < m.ownFuncs && c.more(); f++ {
		body := c.vec()
		if s, ok := straightBody(body, f, deferred); ok {
			body = s
		}
		out = append(leb(out, uint64(len(body))), body...)
	}
	return out
}

// unnamed is what called returns when it cannot tell.
const unnamed = -1

// called returns the function of that name.
func (m *module) called(name string) int {
	for i := range m.sections {
		if !m.sections[i].isNames() {
			continue
		}
		c := cursor{b: m.names(&m.sections[i]), fn: -1}
		c.vec()  // "name"
		c.byte() // functions
		c.u32()
		for n := c.u32(); n > 0 && !c.failed(); n-- {
			f := c.u32()
			if bytes.Equal(c.vec(), []byte(name)) {
				return int(f)
			}
		}
	}
	return unnamed
}

// straightBody rewrites the body of own function f, and reports whether it
// could.
func straightBody(b []byte, f, deferred int) ([]byte, bool) {
	r, ok := readRoutine(b)
	if !ok || !r.follow() {
		return nil, false
	}
	r.findEntries(f, deferred)
	r.findRegions()
	w := weaver{routine: r}
	w.weave() // finds out which labels are wanted
	w.wanted, w.out, w.labels, w.all = w.used, nil, 0, false
	w.weave()
	return w.out, !w.failed
}
