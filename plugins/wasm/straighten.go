package wasm

import (
	"bytes"
	"slices"
	"strings"
)

// Straighten makes a module that Go's compiler wrote quicker, and changes
// nothing of what it does.
//
// WebAssembly has no jumps, so that the compiler puts the basic blocks of a
// function into a loop around a br_table: whoever jumps sets a local, PC_B, to
// the number of a block and begins the loop anew (cmd/internal/obj/wasm,
// preprocess). It needs that to go on in the middle of a function after other
// goroutines ran, or after the stack grew. But it costs every turn of every
// loop several indirect branches, and as many looks at the fuel.
//
// So every such function becomes two. The first is for calls, which begin with
// PC_B 0: its jumps are branches out of blocks and loops. It hands over to the
// second, the function as it was, when PC_B says that it is to go on somewhere.
// No value lives in a local across a call in Go's code, so that the two can
// take turns.
//
// A module of another language stays as it is, and so does one that was made
// straight before. So do functions that do not look as the compiler of Go 1.26
// writes them, and most of Go's runtime, which is told by its names. The names
// of functions are left out of the result.
//
// In the order in which it happens: routine.go takes a function apart, cold.go
// puts aside what ends it, polish.go and slots.go take out what need not be
// there, with what flow.go knows of the ways that lead to a place, bounds.go
// spares looks at the bounds of memory, regions.go finds the loops, and weave.go
// writes it anew.
func Straighten(b []byte, l Limits) ([]byte, error) {
	_, done := Custom(b, sectionStraight)
	if who, _ := Custom(b, "producers"); done || !bytes.Contains(who, []byte("language\x01\x02Go")) {
		return b, nil
	}
	mod, err := split(b, &l)
	if err != nil {
		return nil, err
	}
	if err := mod.read(); err != nil {
		return nil, err
	}
	s := straightener{mod: mod, typ: mod.sharedType(), names: mod.namesOf()}
	for f, name := range s.names {
		if slices.Contains(neverReturn, name) {
			s.never = append(s.never, f)
		}
	}
	code := s.code()
	out := append(make([]byte, 0, len(b)), header...)
	c := cursor{b: b, p: len(header), fn: -1}
	for c.more() {
		id, body := c.byte(), c.sub()
		switch {
		case c.failed() || (&section{id, body}).isNames():
			continue
		case id == secFunction:
			body.b = s.functions(body)
		case id == secCode:
			body.b = code
		}
		out = append(leb(append(out, id), uint64(len(body.b))), body.b...)
	}
	mark := append([]byte{byte(len(sectionStraight))}, sectionStraight+"\x01"...)
	return append(leb(append(out, secCustom), uint64(len(mark))), mark...), c.failure()
}

// sectionStraight is a custom section that says that it was done.
const sectionStraight = "roompolicy.straight"

// A straightener works on one module.
type straightener struct {
	mod   *module
	typ   int // of Go's functions: takes and returns an i32
	names map[int]string
	never []int // functions that do not return
	added int   // functions at the end, all of that type
}

// sharedType returns the type of functions that take PC_B, or -1.
func (m *module) sharedType() int {
	for i, t := range m.types {
		if string(t.Params) == "\x7f" && string(t.Results) == "\x7f" {
			return i
		}
	}
	return -1
}

// code returns the code section.
func (s *straightener) code() []byte {
	var bodies, slow []byte
	for i := range s.mod.sections {
		if s.mod.sections[i].id != secCode {
			continue
		}
		c := s.mod.sections[i].body
		c.u32()
		for f := 0; f < s.mod.ownFuncs && c.more(); f++ {
			body := c.vec()
			if index := s.mod.importedFuncs() + f; int(s.mod.funcs[index]) == s.typ && !isSeldom(s.names[index]) {
				if quick, ok := s.body(body); ok {
					slow = append(leb(slow, uint64(len(body))), body...)
					s.added++
					body = quick
				}
			}
			bodies = append(leb(bodies, uint64(len(body))), body...)
		}
	}
	out := leb(make([]byte, 0, len(bodies)+len(slow)+8), uint64(s.mod.ownFuncs+s.added))
	return append(append(out, bodies...), slow...)
}

// functions returns the function section with those that were added.
func (s *straightener) functions(c cursor) []byte {
	out := leb(nil, uint64(c.u32())+uint64(s.added))
	out = append(out, c.b[c.p:]...)
	for range s.added {
		out = leb(out, uint64(s.typ))
	}
	return out
}

// body returns a body for calls, and reports whether there is one.
func (s *straightener) body(b []byte) ([]byte, bool) {
	r, ok := readRoutine(b)
	if !ok {
		return nil, false
	}
	r.cool(s.never)
	r.polish()
	r.findRegions()
	w := weaver{routine: r, slow: len(s.mod.funcs) + s.added}
	w.weave() // finds out which labels are wanted
	w.wanted = w.used
	w.weave()
	return w.out, !w.failed
}

// namesOf returns the names of the functions, as far as the module tells.
func (m *module) namesOf() map[int]string {
	names := map[int]string{}
	for i := range m.sections {
		if !m.sections[i].isNames() {
			continue
		}
		c := cursor{b: m.names(&m.sections[i]), fn: -1}
		c.vec()  // "name"
		c.byte() // functions
		c.u32()
		for n := c.u32(); n > 0 && !c.failed(); n-- {
			f := int(c.u32())
			names[f] = string(c.vec())
		}
	}
	return names
}

// neverReturn are functions of Go's runtime that do not return.
var neverReturn = []string{"runtime.sigpanic", "runtime.morestack_noctxt", "runtime.morestack"}

// Of Go's runtime, which is two thirds of a small module, only what makes and
// grows values is worth having twice.
var (
	runtimePrefixes = []string{"runtime.", "internal_runtime_", "type_"}
	oftenPrefixes   = []string{"runtime.mallocgc", "runtime.growslice", "runtime.concatstring", "runtime.slicebytetostring", "runtime.makeslice", "runtime.newobject"}
)

func isSeldom(name string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.ContainsFunc(runtimePrefixes, begins) && !slices.ContainsFunc(oftenPrefixes, begins)
}
