package wasm

// readElems reads the element segments. Their flag is a set of bits: 1 passive
// or declarative, 2 an explicit table or declarative, 4 expressions instead of
// indices (WebAssembly 2.0, 5.5.12).
func (m *module) readElems(c *cursor) {
	m.elems = c.count("element segments", m.limits.Elems, 3)
	total := 0
	for range m.elems {
		flag := c.u32()
		if flag > 7 {
			c.fail(Malformed, "an element segment with the flag %d", flag)
		}
		if flag&1 == 0 {
			if flag&2 != 0 {
				c.index("table", m.tables)
			} else if m.tables == 0 {
				c.fail(Malformed, "an element segment without a table")
			}
			m.constant(c)
		}
		m.elemType(c, flag)
		n := c.count("elements", m.limits.Table-total, 1)
		if total += n; c.failed() {
			return
		}
		m.elements(c, n, flag&4 != 0)
	}
}

func (m *module) elemType(c *cursor, flag uint32) {
	switch {
	case flag&3 == 0:
	case flag&4 != 0:
		c.refType(c.byte())
	default:
		if k := c.byte(); k != 0 {
			c.fail(Malformed, "elements of the kind %d", k)
		}
	}
}

func (m *module) elements(c *cursor, n int, expressions bool) {
	for range n {
		if expressions {
			m.constant(c)
		} else {
			m.declared[c.index("function", len(m.funcs))] = true
		}
		if c.failed() {
			return
		}
	}
}

// readDatas reads the data segments: flag 0 active in memory 0, 1 passive, 2
// active in a memory that it names.
func (m *module) readDatas(c *cursor) {
	n := c.count("data segments", m.limits.Datas, 2)
	if m.datas >= 0 && n != m.datas {
		c.fail(Malformed, "%d data segments, but %d were announced", n, m.datas)
	}
	for range n {
		switch flag := c.u32(); flag {
		case 0:
			if m.memories == 0 {
				c.fail(Malformed, "a data segment without a memory")
			}
			m.constant(c)
		case 1:
		case 2:
			c.index("memory", m.memories)
			m.constant(c)
		default:
			c.fail(Malformed, "a data segment with the flag %d", flag)
		}
		if c.vec(); c.failed() {
			return
		}
	}
}
