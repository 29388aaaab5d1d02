package wasm

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Names of the exports that the rewriter adds. A module must not export names
// with this prefix.
const (
	exportPrefix  = "roompolicy!"
	ExportFuel    = exportPrefix + "fuel"     // i64 that counts down
	ExportDepth   = exportPrefix + "depth"    // i32 that counts down
	ExportYieldAt = exportPrefix + "yield_at" // i64: with less fuel than that the module calls the host
	ExportStart   = exportPrefix + "start"    // the start function, which the host calls
)

func reserved(name string) bool { return strings.HasPrefix(name, exportPrefix) }

// A Budget has the initial values of a rewritten module's counters. The host may
// change them later.
type Budget struct {
	Fuel  int64
	Depth int32

	// Yields lets the host decide from time to time whether the module goes on.
	// When the fuel is below the global ExportYieldAt, the module sets the global
	// to Yielding and tries to grow its memory. The module's own code cannot set
	// the global, so the host tells a yield from any growth that the module asks
	// for. The host's memory must refuse the growth, and set the global to the
	// fuel of the next yield, or end the module with a panic. The host must also
	// observe the declared maximum of the memory: see [Metered.MaxPages].
	Yields bool
}

// Yielding is the value of the global ExportYieldAt while a module waits for the
// host.
const Yielding = math.MinInt64

// A Metered is a module that was validated and rewritten.
type Metered struct {
	Whole []byte // the module, rewritten; its start function is an export instead
	Bare  []byte // Whole without data, for a memory that is a snapshot

	Imports  []Import
	Exports  []Export
	Pages    uint32   // initial size of its memory
	MaxPages uint32   // declared maximum of its memory
	Mutable  []string // exports of its mutable globals; ExportFuel, ExportDepth and ExportYieldAt are the last
	Memories int

	// Restorable reports whether memory and Mutable are all mutable state of an
	// instance. Reason says why not.
	Restorable bool
	Reason     string

	types []FuncType
	funcs []uint32
}

// FuncType returns the type of an exported function.
func (m *Metered) FuncType(e Export) FuncType {
	if e.Kind != kindFunc {
		return FuncType{}
	}
	return m.types[m.funcs[e.Index]]
}

// IsFunc reports whether e is a function.
func (e Export) IsFunc() bool { return e.Kind == kindFunc }

// IsMemory reports whether e is a memory.
func (e Export) IsMemory() bool { return e.Kind == kindMemory }

// padding is the number of unused globals on either side of the fuel. They keep
// the fuel of two instances from sharing a cache line.
const padding = 8

// Meter validates a module and rewrites it. Every error is an [*Error].
func Meter(b []byte, l Limits, start Budget) (*Metered, error) {
	mod, err := split(b, &l)
	if err != nil {
		return nil, err
	}
	if err := mod.read(); err != nil {
		return nil, err
	}
	m := &meter{mod: mod, start: start}
	m.fuel = uint32(mod.allGlobals() + padding)
	m.depth, m.yieldAt = m.fuel+1, m.fuel+2
	m.yield = uint32(len(mod.funcs))
	if err := m.code(); err != nil {
		return nil, err
	}
	out := &Metered{
		Imports: mod.imports, Exports: mod.exports, Pages: mod.pages, MaxPages: mod.maxPages, Memories: mod.memories, types: mod.types, funcs: mod.funcs,
		Mutable: m.exportGlobals(),
	}
	if mod.start >= 0 {
		m.export(ExportStart, kindFunc, mod.start)
	}
	out.Whole = m.assemble(false)
	out.Bare = m.assemble(true)
	out.Restorable, out.Reason = m.reason == "", m.reason
	return out, nil
}

// A meter rewrites one module.
type meter struct {
	mod                  *module
	start                Budget
	fuel, depth, yieldAt uint32 // indices of the added globals
	yield                uint32 // index of the added function
	totalLocals          uint64
	reason               string // why instances cannot be restored

	bodies  []byte // new code section
	exports []byte // entries to add to the export section
	added   int    // number of entries
}

// code rewrites all functions.
func (m *meter) code() error {
	i := slices.IndexFunc(m.mod.sections, func(s section) bool { return s.id == secCode })
	if i < 0 && m.mod.ownFuncs > 0 {
		return &Error{Kind: Malformed, What: "functions without code", At: m.mod.size, Func: -1}
	}
	if i < 0 {
		return nil
	}
	c := m.mod.sections[i].body
	if n := c.count("bodies", m.mod.limits.Funcs, 1); !c.failed() && n != m.mod.ownFuncs {
		c.fail(Malformed, "%d bodies for %d functions", n, m.mod.ownFuncs)
	}
	out := leb(make([]byte, 0, len(c.b)*2), uint64(m.mod.ownFuncs)+1)
	b := &body{meter: m, at: map[byte]uint32{}}
	for f := range m.mod.ownFuncs {
		fn := m.mod.importedFuncs() + f
		in := c.sub()
		if c.failed() {
			break
		}
		b.reset(fn, in, len(m.mod.types[m.mod.funcs[fn]].Params))
		code := b.rewrite()
		if b.in.err != nil {
			return b.in.err
		}
		out = append(leb(out, uint64(len(code))), code...)
	}
	if m.mod.ownFuncs == 0 {
		c.end("code section")
		m.bodies = []byte{0}
		return c.failure()
	}
	yield := m.yieldBody()
	out = append(leb(out, uint64(len(yield))), yield...)
	c.end("code section")
	m.bodies = out
	return c.failure()
}

// exportGlobals exports every mutable global, added ones included, and returns the
// names.
func (m *meter) exportGlobals() []string {
	var names []string
	add := func(name string, index int) {
		names = append(names, name)
		m.export(name, kindGlobal, index)
	}
	for i, g := range m.mod.globals {
		switch {
		case !g.mutable:
		case g.typ == typeV128 || g.typ == typeFuncRef || g.typ == typeExternRef:
			m.reason = "a mutable global that is a vector or a reference"
		default:
			add(exportPrefix+"g"+strconv.Itoa(i), m.mod.imported+i)
		}
	}
	add(ExportFuel, int(m.fuel))
	add(ExportDepth, int(m.depth))
	add(ExportYieldAt, int(m.yieldAt))
	return names
}

func (m *meter) export(name string, kind byte, index int) {
	m.exports = append(leb(m.exports, uint64(len(name))), name...)
	m.exports = leb(append(m.exports, kind), uint64(index))
	m.added++
}

// assemble writes the sections of the new module.
func (m *meter) assemble(bare bool) []byte {
	out := append(make([]byte, 0, m.mod.size+len(m.bodies)), header...)
	put := func(id byte, body []byte) {
		out = append(out, id)
		out = append(leb(out, uint64(len(body))), body...)
	}
	var globals, exports bool
	added := func(next int) { // sections that the module may lack
		if !globals && next >= rank[secGlobal] {
			globals = true
			put(secGlobal, m.globalSection())
		}
		if !exports && next >= rank[secExport] {
			exports = true
			put(secExport, m.exportSection())
		}
	}
	for _, s := range m.mod.sections {
		added(rank[s.id])
		switch s.id {
		case secGlobal, secExport, secStart:
		case secType, secFunction:
			put(s.id, m.withYieldFunction(s))
		case secMemory:
			put(secMemory, m.memorySection(s.body))
		case secCode:
			put(secCode, m.bodies)
		case secData, secDataCount:
			if !bare {
				put(s.id, s.body.b)
			}
		default:
			put(s.id, s.body.b)
		}
	}
	added(len(rank) + 1)
	return out
}

// withYieldFunction adds the function, or its type, to a section that is a list.
func (m *meter) withYieldFunction(s section) []byte {
	if m.mod.ownFuncs == 0 {
		return s.body.b
	}
	entry := []byte{0x60, 0, 0}
	if s.id == secFunction {
		entry = leb(nil, uint64(len(m.mod.types)))
	}
	c := s.body
	b := leb(nil, uint64(c.u32())+1)
	return append(append(b, c.b[c.p:]...), entry...)
}

// memorySection drops the declared maximum when the host observes it.
func (m *meter) memorySection(c cursor) []byte {
	if !m.start.Yields || m.mod.memories == 0 {
		return c.b
	}
	return leb([]byte{1, 0}, uint64(m.mod.pages))
}

func (m *meter) globalSection() []byte {
	b := leb(nil, uint64(len(m.mod.globals)+2*padding+3))
	for _, g := range m.mod.globals {
		mut := byte(0)
		if g.mutable {
			mut = 1
		}
		b = append(append(b, g.typ, mut), g.init...)
	}
	pad := func() {
		for range padding {
			b = append(b, typeI32, 0, opI32Const, 0, opEnd)
		}
	}
	pad()
	b = append(sleb(append(b, typeI64, 1, opI64Const), m.start.Fuel), opEnd)
	b = append(sleb(append(b, typeI32, 1, opI32Const), int64(m.start.Depth)), opEnd)
	b = append(b, typeI64, 1, opI64Const, 0, opEnd)
	pad()
	return b
}

func (m *meter) exportSection() []byte {
	b := leb(nil, uint64(len(m.mod.exports)+m.added))
	for _, e := range m.mod.exports {
		b = append(leb(b, uint64(len(e.Name))), e.Name...)
		b = leb(append(b, e.Kind), uint64(e.Index))
	}
	return append(b, m.exports...)
}
