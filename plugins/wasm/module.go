package wasm

// Value types.
const (
	typeI32       = 0x7f
	typeI64       = 0x7e
	typeF32       = 0x7d
	typeF64       = 0x7c
	typeV128      = 0x7b
	typeFuncRef   = 0x70
	typeExternRef = 0x6f
)

// Kinds of imports and exports.
const (
	kindFunc = iota
	kindTable
	kindMemory
	kindGlobal
)

// Ids of sections.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
)

// rank is the required order of sections; 0 is not a section.
var rank = [...]int{
	secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secGlobal: 6, secExport: 7,
	secStart: 8, secElement: 9, secDataCount: 10, secCode: 11, secData: 12,
}

const header = "\x00asm\x01\x00\x00\x00"

// A FuncType is the type of a function, in encoded value types.
type FuncType struct{ Params, Results []byte }

// An Import is a function that a module imports.
type Import struct {
	Module, Name string
	Type         FuncType
	Other        string // kind of an import that is not a function, such as "a memory"
}

// An Export is an export of a module.
type Export struct {
	Name  string
	Kind  byte
	Index uint32
}

// A global is a global of the module itself.
type global struct {
	typ     byte
	mutable bool
	init    []byte // constant expression, with its end
}

// A section is an unparsed section.
type section struct {
	id   byte
	body cursor
}

// A module is the contents of a module except its code.
type module struct {
	limits   *Limits
	size     int
	sections []section

	types    []FuncType
	imports  []Import
	funcs    []uint32 // type of every function, imported ones first
	ownFuncs int
	tables   int
	memories int
	pages    uint32 // initial size of its memory
	maxPages uint32
	globals  []global
	imported int // globals
	exports  []Export
	declared map[uint32]bool // functions to which code may take references
	elems    int
	datas    int // of the data count section; -1 without one
	start    int // function; -1 without one
}

func (m *module) importedFuncs() int { return len(m.funcs) - m.ownFuncs }
func (m *module) allGlobals() int    { return m.imported + len(m.globals) }

// split cuts a module into sections and checks their order. It drops custom
// sections, names of functions included.
func split(b []byte, l *Limits) (*module, error) {
	m := &module{limits: l, size: len(b), datas: -1, start: -1, declared: map[uint32]bool{}}
	c := cursor{b: b, fn: -1}
	if len(b) > l.Bytes {
		c.fail(Exceeds, "%d bytes; at most %d", len(b), l.Bytes)
	} else if string(c.take(8)) != header {
		c.err, c.p = nil, 0
		c.fail(Malformed, "not a WebAssembly module of version 1")
	}
	last := 0
	for c.more() {
		id := c.byte()
		s := section{id, c.sub()}
		switch {
		case c.failed():
		case id == secCustom:
			s.body.name(1 << 10)
			c.err = s.body.err
		case int(id) >= len(rank):
			c.fail(Malformed, "unknown section %d", id)
		case rank[id] <= last:
			c.fail(Malformed, "section %d out of order, or twice", id)
		default:
			last = rank[id]
			m.sections = append(m.sections, s)
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	return m, nil
}

// Custom returns the contents of the first custom section of a name, and whether
// there is one in the readable part of b.
func Custom(b []byte, name string) ([]byte, bool) {
	c := cursor{b: b, fn: -1}
	c.take(8)
	for c.more() {
		id := c.byte()
		s := section{id, c.sub()}
		if c.failed() || id != secCustom {
			continue
		}
		if body := s.body; body.name(1<<10) == name && !body.failed() {
			return body.b[body.p:], true
		}
	}
	return nil, false
}
