package wasm

import (
	"math"
	"slices"
)

// read reads every section except the code.
func (m *module) read() error {
	for i := range m.sections {
		s := &m.sections[i]
		c := s.body
		switch s.id {
		case secType:
			m.readTypes(&c)
		case secImport:
			m.readImports(&c)
		case secFunction:
			m.readFuncs(&c)
		case secTable:
			m.readTables(&c)
		case secMemory:
			m.readMemories(&c)
		case secGlobal:
			m.readGlobals(&c)
		case secExport:
			m.readExports(&c)
		case secStart:
			m.readStart(&c)
		case secElement:
			m.readElems(&c)
		case secDataCount:
			m.datas = c.count("data segments", m.limits.Datas, 0)
		case secData:
			m.readDatas(&c)
		default:
			continue
		}
		c.end("section")
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

func (m *module) readStart(c *cursor) {
	f := c.index("function", len(m.funcs))
	if c.failed() {
		return
	}
	m.start = int(f)
	if t := m.types[m.funcs[f]]; len(t.Params)+len(t.Results) > 0 {
		c.fail(Malformed, "a start function with parameters or results")
	}
}

func (m *module) readTypes(c *cursor) {
	n := c.count("types", m.limits.Types, 3)
	m.types = make([]FuncType, 0, n)
	for range n {
		if c.byte() != 0x60 {
			c.fail(Unsupported, "a type that is no function type")
		}
		m.types = append(m.types, FuncType{m.valueTypes(c), m.valueTypes(c)})
		if c.failed() {
			return
		}
	}
}

func (m *module) valueTypes(c *cursor) []byte {
	ts := c.take(uint32(c.count("parameters or results", m.limits.Params, 1)))
	for _, t := range ts {
		c.valueType(t)
	}
	return ts
}

func (c *cursor) valueType(t byte) {
	switch t {
	case typeI32, typeI64, typeF32, typeF64, typeV128, typeFuncRef, typeExternRef:
	default:
		c.fail(Unsupported, "value type %#x", t)
	}
}

func (c *cursor) refType(t byte) {
	if t != typeFuncRef && t != typeExternRef {
		c.fail(Unsupported, "reference type %#x", t)
	}
}

func (m *module) readImports(c *cursor) {
	for range c.count("imports", m.limits.Imports, 4) {
		im := Import{Module: c.name(m.limits.Name), Name: c.name(m.limits.Name)}
		switch c.byte() {
		case kindFunc:
			t := c.index("type", len(m.types))
			if !c.failed() {
				im.Type = m.types[t]
				m.funcs = append(m.funcs, t)
			}
		case kindTable:
			im.Other = "a table"
			m.table(c)
		case kindMemory:
			im.Other = "a memory"
			m.memory(c)
		case kindGlobal:
			im.Other = "a global"
			c.valueType(c.byte())
			c.mutability()
			m.imported++
		default:
			c.fail(Unsupported, "an import that is no function, table, memory or global")
		}
		if c.failed() {
			return
		}
		m.imports = append(m.imports, im)
	}
}

func (c *cursor) mutability() bool {
	b := c.byte()
	if b > 1 {
		c.fail(Malformed, "mutability %d", b)
	}
	return b == 1
}

func (m *module) readFuncs(c *cursor) {
	m.ownFuncs = c.count("functions", m.limits.Funcs, 1)
	m.funcs = slices.Grow(m.funcs, m.ownFuncs)
	for range m.ownFuncs {
		m.funcs = append(m.funcs, c.index("type", len(m.types)))
		if c.failed() {
			return
		}
	}
}

func (m *module) readTables(c *cursor) {
	for range c.count("tables", m.limits.Tables, 3) {
		m.table(c)
	}
}

func (m *module) table(c *cursor) {
	c.refType(c.byte())
	least, _ := c.limits()
	if int64(least) > int64(m.limits.Table) {
		c.fail(Exceeds, "a table of %d elements; at most %d", least, m.limits.Table)
	}
	m.tables++
	if m.tables > m.limits.Tables {
		c.fail(Exceeds, "%d tables; at most %d", m.tables, m.limits.Tables)
	}
}

func (m *module) readMemories(c *cursor) {
	for range c.count("memories", m.limits.Memories, 2) {
		m.memory(c)
	}
}

func (m *module) memory(c *cursor) {
	least, most := c.limits()
	if int64(least) > int64(m.limits.Pages) {
		c.fail(Exceeds, "a memory of %d pages to start with; at most %d", least, m.limits.Pages)
	}
	if most < least || most != math.MaxUint32 && most > 1<<16 {
		c.fail(Malformed, "a memory of %d to %d pages", least, most)
	}
	m.pages, m.maxPages = least, most
	m.memories++
	if m.memories > m.limits.Memories {
		c.fail(Exceeds, "%d memories; at most %d", m.memories, m.limits.Memories)
	}
}

// limits reads a minimum and a maximum size. Without a maximum it returns the
// largest number.
func (c *cursor) limits() (least, most uint32) {
	switch flag := c.byte(); flag {
	case 0:
		return c.u32(), 1<<32 - 1
	case 1:
		return c.u32(), c.u32()
	case 2, 3:
		c.fail(Unsupported, "shared memory")
	case 4, 5, 6, 7:
		c.fail(Unsupported, "64-bit memory")
	default:
		c.fail(Malformed, "limits with the flag %d", flag)
	}
	return 0, 0
}

func (m *module) readGlobals(c *cursor) {
	for range c.count("globals", m.limits.Globals, 4) {
		t := c.byte()
		c.valueType(t)
		g := global{typ: t, mutable: c.mutability()}
		g.init = m.constant(c)
		if c.failed() {
			return
		}
		m.globals = append(m.globals, g)
	}
}

// constant reads one constant expression.
func (m *module) constant(c *cursor) []byte {
	from := c.p
	for !c.failed() {
		switch op := c.byte(); op {
		case opEnd:
			if c.failed() {
				return nil
			}
			return c.b[from:c.p]
		case opI32Const:
			c.signed(5)
		case opI64Const:
			c.signed(10)
		case opF32Const:
			c.take(4)
		case opF64Const:
			c.take(8)
		case opGlobalGet:
			c.index("imported global", m.imported)
		case opRefFunc:
			m.declared[c.index("function", len(m.funcs))] = true
		case opRefNull:
			c.refType(c.byte())
		case opSIMD:
			if c.u32() != simdConst {
				c.fail(Malformed, "not a constant")
			}
			c.take(16)
		default:
			c.fail(Malformed, "instruction %#x in a constant", op)
		}
	}
	return nil
}

func (m *module) readExports(c *cursor) {
	n := c.count("exports", m.limits.Exports, 3)
	for range n {
		e := Export{Name: c.name(m.limits.Name), Kind: c.byte()}
		switch e.Kind {
		case kindFunc:
			e.Index = c.index("function", len(m.funcs))
			m.declared[e.Index] = true
		case kindTable:
			e.Index = c.index("table", m.tables)
		case kindMemory:
			e.Index = c.index("memory", m.memories)
		case kindGlobal:
			e.Index = c.index("global", m.allGlobals())
		default:
			c.fail(Unsupported, "an export that is no function, table, memory or global")
		}
		if reserved(e.Name) {
			c.fail(Unsupported, "an export called %q: names that start with %q are the host's", e.Name, exportPrefix)
		}
		if c.failed() {
			return
		}
		m.exports = append(m.exports, e)
	}
}
