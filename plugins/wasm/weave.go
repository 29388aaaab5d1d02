package wasm

// A weaver writes a routine with blocks and loops in place of its table.
//
// A run of units, all of them or those of a region, is written as a list of
// items, each a unit or a region within. In front of an item that is jumped to
// a block ends, which all items before it are in, so that the jump is a branch
// out of it.
//
// While nothing is wrong PC_B is 0. It is not 0 on the way to where a function
// goes on or a region is entered behind its start: then whatever is entered on
// the way has a table of its own, and PC_B is set to 0 on arrival.
type weaver struct {
	*routine
	out    []byte
	open   []frameOf // innermost last
	labels int       // items so far
	all    bool      // every item gets a block: the first time, to see which are used
	used   map[int]bool
	wanted map[int]bool
	failed bool
}

// A frameOf is what a branch may go to: the start of a region, as a loop; or
// the item that follows a block.
type frameOf struct {
	loop       bool
	start, end int // units
	label      int
}

// weave writes the body.
func (w *weaver) weave() {
	if w.wanted == nil {
		w.all, w.used = true, map[int]bool{}
	}
	w.out = append(w.out[:0], w.b[:w.code[w.loop].from]...)
	w.run(0, len(w.units)-2, nil)
	w.out = append(w.out, w.b[w.code[w.after].from:]...)
}

// run writes the units from first to last, which are those of g or all.
func (w *weaver) run(first, last int, g *region) {
	var items []frameOf
	for u := first; u <= last; {
		item := frameOf{start: u, end: u, label: w.labels}
		if inner := w.regionAt(u); inner != nil && inner != g {
			item.end = inner.end
		}
		w.labels++
		items = append(items, item)
		u = item.end + 1
	}
	depth := len(w.open)
	if g != nil {
		w.begin(opLoop, frameOf{loop: true, start: first})
	}
	for i := len(items) - 1; i >= 0; i-- {
		if w.all || w.wanted[items[i].label] {
			w.begin(opBlock, items[i])
		}
	}
	w.dispatch(items, g)
	for _, item := range items {
		if top := len(w.open) - 1; top >= 0 && !w.open[top].loop && w.open[top].label == item.label {
			w.end()
		}
		if inner := w.regionAt(item.start); inner != nil && inner != g {
			w.run(item.start, item.end, inner)
		} else {
			w.unit(item.start)
		}
	}
	if g != nil {
		w.end()
	}
	w.failed = w.failed || len(w.open) != depth
}

func (w *weaver) begin(op byte, f frameOf) {
	w.out = append(w.out, op, blockEmpty)
	w.open = append(w.open, f)
}

func (w *weaver) end() {
	w.out = append(w.out, opEnd)
	w.open = w.open[:len(w.open)-1]
}

// dispatch writes the table of a run: to where the function goes on, or the
// region is entered behind its start.
func (w *weaver) dispatch(items []frameOf, g *region) {
	entries := w.entries
	if g != nil {
		entries = g.inside
	}
	if len(entries) == 0 {
		return
	}
	w.out = op(w.out, opLocalGet, pcB)
	w.out = op(append(w.out, 0x45), opBrIf, w.branch(items[0])) // i32.eqz
	if g == nil {
		w.begin(opBlock, frameOf{label: -1}) // for what is no entry
	}
	base, past := entries[0], entries[len(entries)-1]+1
	w.out = op(w.out, opLocalGet, pcB)
	w.out = append(sleb(append(w.out, opI32Const), int64(base)), opI32Sub)
	w.out = leb(append(w.out, opBrTable), uint64(past-base))
	none := uint32(0)
	if g != nil {
		none = w.branch(items[0])
	}
	next := 0
	for pcb := base; pcb < past; pcb++ {
		to := none
		if entries[next] == pcb {
			to = w.branch(itemWith(items, w.unitOf(pcb)))
			next++
		}
		w.out = leb(w.out, uint64(to))
	}
	w.out = leb(w.out, uint64(none))
	if g == nil {
		w.end()
		w.out = append(w.out, opUnreachable)
	}
}

// itemWith returns the item that a unit is in.
func itemWith(items []frameOf, unit int) frameOf {
	for _, item := range items {
		if unit <= item.end {
			return item
		}
	}
	return frameOf{label: -1}
}

// branch returns the label of the block before an item.
func (w *weaver) branch(item frameOf) uint32 {
	for i := len(w.open) - 1; i >= 0; i-- {
		if f := w.open[i]; !f.loop && f.label == item.label {
			w.used[f.label] = true
			return uint32(len(w.open) - 1 - i)
		}
	}
	w.failed = true
	return 0
}

// unit writes one unit.
func (w *weaver) unit(u int) {
	if w.clear[u] {
		w.setPCB(0)
	}
	depth, end := 0, w.unitEnd(u)
	for at := w.units[u]; at < end; at++ {
		i := w.code[at]
		switch i.op {
		case opIf:
			if i.arg == blockEmpty && at+4 < end && w.targets[at+1] > 0 && w.code[at+4].op == opEnd {
				if label, straight := w.target(w.jumps[w.targets[at+1]-1]); straight {
					w.out = op(w.out, opBrIf, label+uint32(depth))
					at += 4
					continue
				}
			}
			depth++
		case opBlock, opLoop:
			depth++
		case opEnd:
			depth--
		case opNop:
			continue
		case opBr, opBrIf:
			if i.arg > int64(depth) {
				outer := int(i.arg) - depth - (len(w.units) - 1 - u) // around the loop that was there
				w.out = op(w.out, i.op, uint32(depth+len(w.open)+outer))
				continue
			}
		}
		if j := w.targets[at]; j > 0 {
			w.jump(w.jumps[j-1], depth)
			at += 2
			continue
		}
		w.out = append(w.out, w.b[i.from:i.to]...)
		if w.isScratch(at - 2) {
			w.setPCB(0)
		}
	}
}

func (w *weaver) setPCB(pcb int) {
	w.out = sleb(append(w.out, opI32Const), int64(pcb))
	w.out = op(w.out, opLocalSet, pcB)
}

// jump writes a jump.
func (w *weaver) jump(j jump, depth int) {
	label, straight := w.target(j)
	if !straight {
		w.setPCB(j.pcb)
	}
	w.out = op(w.out, opBr, label+uint32(depth))
}

// target returns the label that a jump goes to, and whether that is its unit
// itself and not the region that it is in.
func (w *weaver) target(j jump) (label uint32, straight bool) {
	to := w.unitOf(j.pcb)
	for i := len(w.open) - 1; i >= 0; i-- {
		f := &w.open[i]
		if f.start > to || !f.loop && f.end < to || f.loop && f.start != to || f.label < 0 {
			continue
		}
		if !f.loop {
			w.used[f.label] = true
		}
		return uint32(len(w.open) - 1 - i), f.start == to
	}
	w.failed = true
	return 0, false
}
