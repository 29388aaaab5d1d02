// Package wasmtest assembles small WebAssembly modules for tests, byte by
// byte, so that they can be wrong in every way that a test wants.
package wasmtest

import (
	"bytes"
	"slices"
)

// Value types.
const (
	I32       = 0x7f
	I64       = 0x7e
	F32       = 0x7d
	F64       = 0x7c
	V128      = 0x7b
	FuncRef   = 0x70
	ExternRef = 0x6f
)

// Kinds of imports and exports.
const (
	Func = iota
	Table
	Memory
	Global
)

// Header is how every module starts.
const Header = "\x00asm\x01\x00\x00\x00"

// A Module is a module under construction. Imported functions come before
// all others.
type Module struct {
	types, imports, funcs, tables, memories, globals, exports, elems, datas, codes [][]byte

	imported int
	start    []byte
	count    []byte
	custom   []byte
}

// Type returns the index of a function type.
func (m *Module) Type(params, results []byte) uint32 {
	t := slices.Concat([]byte{0x60}, vector(params), vector(results))
	for i, have := range m.types {
		if bytes.Equal(have, t) {
			return uint32(i)
		}
	}
	m.types = append(m.types, t)
	return uint32(len(m.types) - 1)
}

// Import imports a function and returns its index.
func (m *Module) Import(module, name string, params, results []byte) uint32 {
	t := U32(m.Type(params, results))
	m.imports = append(m.imports, slices.Concat(Name(module), Name(name), []byte{Func}, t))
	m.imported++
	return uint32(m.imported - 1)
}

// ImportRaw imports whatever follows the two names.
func (m *Module) ImportRaw(module, name string, rest ...byte) {
	m.imports = append(m.imports, slices.Concat(Name(module), Name(name), rest))
}

// Func adds a function and returns its index. The body has no locals and is
// ended by Func.
func (m *Module) Func(params, results []byte, body ...[]byte) uint32 {
	return m.Locals(params, results, nil, body...)
}

// Locals adds a function with one local of each of the types.
func (m *Module) Locals(params, results, locals []byte, body ...[]byte) uint32 {
	decl := U32(uint32(len(locals)))
	for _, t := range locals {
		decl = append(decl, 1, t)
	}
	return m.Body(params, results, slices.Concat(decl, slices.Concat(body...), []byte{End}))
}

// Body adds a function with the whole body, declarations of locals first.
func (m *Module) Body(params, results, body []byte) uint32 {
	m.funcs = append(m.funcs, U32(m.Type(params, results)))
	m.codes = append(m.codes, vector(body))
	return uint32(m.imported + len(m.funcs) - 1)
}

// Memory adds a memory; a negative max means none.
func (m *Module) Memory(minimum uint32, maximum int64) {
	m.memories = append(m.memories, limits(minimum, maximum))
}

// MemoryRaw adds a memory with these bytes as its type.
func (m *Module) MemoryRaw(b ...byte) { m.memories = append(m.memories, b) }

// Table adds a table; a negative max means none.
func (m *Module) Table(elem byte, minimum uint32, maximum int64) {
	m.tables = append(m.tables, append([]byte{elem}, limits(minimum, maximum)...))
}

// Global adds a global and returns its index among those of the module.
func (m *Module) Global(typ byte, mutable bool, init []byte) uint32 {
	mut := byte(0)
	if mutable {
		mut = 1
	}
	m.globals = append(m.globals, slices.Concat([]byte{typ, mut}, init, []byte{End}))
	return uint32(len(m.globals) - 1)
}

// Export exports something.
func (m *Module) Export(name string, kind byte, index uint32) {
	m.exports = append(m.exports, slices.Concat(Name(name), []byte{kind}, U32(index)))
}

// Start names the start function.
func (m *Module) Start(f uint32) { m.start = U32(f) }

// Data adds an active data segment.
func (m *Module) Data(at uint32, b []byte) {
	m.datas = append(m.datas, slices.Concat([]byte{0}, I32Const(int32(at)), []byte{End}, vector(b)))
}

// Passive adds a passive data segment and the section that counts them.
func (m *Module) Passive(b []byte) {
	m.datas = append(m.datas, append([]byte{1}, vector(b)...))
	m.count = U32(uint32(len(m.datas)))
}

// Elem adds an active element segment.
func (m *Module) Elem(at uint32, funcs ...uint32) {
	e := slices.Concat([]byte{0}, I32Const(int32(at)), []byte{End}, U32(uint32(len(funcs))))
	for _, f := range funcs {
		e = append(e, U32(f)...)
	}
	m.elems = append(m.elems, e)
}

// ElemRaw adds an element segment of these bytes.
func (m *Module) ElemRaw(b ...byte) { m.elems = append(m.elems, b) }

// Custom adds a custom section, at the end.
func (m *Module) Custom(name string, b []byte) {
	m.custom = append(m.custom, Section(0, append(Name(name), b...))...)
}

// Bytes returns the module.
func (m *Module) Bytes() []byte {
	out := []byte(Header)
	put := func(id byte, entries [][]byte) {
		if len(entries) > 0 {
			out = append(out, Section(id, append(U32(uint32(len(entries))), slices.Concat(entries...)...))...)
		}
	}
	put(1, m.types)
	put(2, m.imports)
	put(3, m.funcs)
	put(4, m.tables)
	put(5, m.memories)
	put(6, m.globals)
	put(7, m.exports)
	if m.start != nil {
		out = append(out, Section(8, m.start)...)
	}
	put(9, m.elems)
	if m.count != nil {
		out = append(out, Section(12, m.count)...)
	}
	put(10, m.codes)
	put(11, m.datas)
	return append(out, m.custom...)
}

// Section returns one section.
func Section(id byte, body []byte) []byte { return append([]byte{id}, vector(body)...) }

// Name returns a name.
func Name(s string) []byte { return vector([]byte(s)) }

func vector(b []byte) []byte { return append(U32(uint32(len(b))), b...) }

func limits(minimum uint32, maximum int64) []byte {
	if maximum < 0 {
		return append([]byte{0}, U32(minimum)...)
	}
	return slices.Concat([]byte{1}, U32(minimum), U32(uint32(maximum)))
}
