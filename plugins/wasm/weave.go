package wasm

import "slices"

// A weaver writes a routine with blocks and loops in place of its table.
//
// A run of units, all of them or those of a region, is written as a list of
// items, each a unit or a region within. In front of an item that is jumped to
// a block ends, which all items before it are in, so that the jump is a branch
// out of it.
//
// A region that is entered behind its start, as most loops of Go are, whose
// condition stands last, begins with a look at where to go: at a local that is
// 0 but on the way to such a place.
type weaver struct {
	*routine
	slow    int   // the function as it was
	way     int64 // local: the unit to go to plus one, or 0
	address int64 // local: where a cold block returns to

	out    []byte
	open   []around     // innermost last
	labels int          // items so far
	used   map[int]bool // items that are jumped to
	wanted map[int]bool // the same, when it is known; until then every item gets a block
	failed bool
}

// An around is what a branch may go to: the start of a region, as a loop; or
// the item that follows a block.
type around struct {
	loop       bool
	start, end int // units
	label      int
}

// weave writes the body.
func (w *weaver) weave() {
	if w.wanted == nil {
		w.used = map[int]bool{}
		if slices.ContainsFunc(w.regions, func(g region) bool { return len(g.inside) > 0 }) {
			w.way = w.ours(typeI32)
		}
	}
	w.out, w.labels = nil, 0
	w.add(instr{op: opLocalGet, arg: pcB}, instr{op: opIf, arg: blockEmpty})
	w.add(instr{op: opLocalGet, arg: pcB}, instr{op: opCall, arg: int64(w.slow)}, instr{op: opReturn}, instr{op: opEnd})
	w.add(w.entry...)
	w.openCold()
	w.run(0, len(w.units)-1, nil)
	w.writeCold()
	w.add(w.rest...)
	decl := leb(make([]byte, 0, len(w.out)+len(w.locals)+2*len(w.fresh)+2), uint64(w.groups+len(w.fresh)))
	decl = append(decl, w.locals...)
	for _, t := range w.fresh {
		decl = append(decl, 1, t)
	}
	w.out = append(decl, w.out...)
}

func (w *weaver) add(code ...instr) {
	for _, i := range code {
		w.out = appendInstr(w.out, i)
	}
}

func (w *weaver) begin(op byte, f around) {
	w.out = append(w.out, op, blockEmpty)
	w.open = append(w.open, f)
}

func (w *weaver) end() {
	w.out = append(w.out, opEnd)
	w.open = w.open[:len(w.open)-1]
}

// run writes the units from first to last, which are those of g or all.
func (w *weaver) run(first, last int, g *region) {
	items := w.items(first, last, g)
	if g != nil {
		w.begin(opLoop, around{loop: true, start: first})
	}
	for _, item := range slices.Backward(items) {
		if w.wanted == nil || w.wanted[item.label] {
			w.begin(opBlock, item)
		}
	}
	if g != nil {
		w.enter(items, g)
	}
	for _, item := range items {
		if top := len(w.open) - 1; top >= 0 && w.open[top] == item {
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
}

// items cuts a run into units and regions.
func (w *weaver) items(first, last int, g *region) (items []around) {
	for u := first; u <= last; {
		item := around{start: u, end: u, label: w.labels}
		if inner := w.regionAt(u); inner != nil && inner != g {
			item.end = inner.end
		}
		w.labels++
		items = append(items, item)
		u = item.end + 1
	}
	return items
}

// enter writes the look at where to go in a region. It may be to its start,
// when that is inside a region around.
func (w *weaver) enter(items []around, g *region) {
	if len(g.inside) == 0 {
		return
	}
	if len(g.inside) == 1 {
		w.add(instr{op: opLocalGet, arg: w.way}, instr{op: opI32Const, arg: int64(g.inside[0] + 1)}, instr{op: opI32Eq})
		w.add(instr{op: opBrIf, arg: w.branch(items, g.inside[0])})
		return
	}
	low, high := slices.Min(g.inside), slices.Max(g.inside)
	w.add(instr{op: opLocalGet, arg: w.way}, instr{op: opI32Eqz}, instr{op: opBrIf, arg: w.branch(items, g.start)})
	w.add(instr{op: opLocalGet, arg: w.way}, instr{op: opI32Const, arg: int64(low + 1)}, instr{op: opI32Sub})
	w.out = leb(append(w.out, opBrTable), uint64(high-low+1))
	for u := low; u <= high; u++ {
		to := g.start
		if slices.Contains(g.inside, u) {
			to = u
		}
		w.out = leb(w.out, uint64(w.branch(items, to)))
	}
	w.out = leb(w.out, uint64(w.branch(items, g.start)))
}

// branch returns the label of the block before the item that a unit is in.
func (w *weaver) branch(items []around, unit int) int64 {
	for _, item := range items {
		if unit <= item.end {
			w.used[item.label] = true
			at := slices.Index(w.open, item)
			w.failed = w.failed || at < 0
			return int64(len(w.open) - 1 - at)
		}
	}
	w.failed = true
	return 0
}

// unit writes one unit.
func (w *weaver) unit(u int) {
	if w.isInside(u) {
		w.setWay(0)
	}
	depth := int64(0)
	for _, i := range w.units[u] {
		switch i.op {
		case opBlock, opLoop, opIf:
			depth++
		case opEnd:
			depth--
		case goOut:
			i = instr{op: opBr, arg: depth + int64(len(w.open)) + i.arg}
		case goOutIf:
			i = instr{op: opBrIf, arg: depth + int64(len(w.open)) + i.arg}
		case goColdIf:
			i = instr{op: opBrIf, arg: depth + int64(len(w.open)-1-len(w.callees())-(len(w.cold)-1)) + i.arg}
		case goJump, goJumpIf:
			w.jump(i, depth)
			continue
		}
		w.out = appendInstr(w.out, i)
	}
}

func (w *weaver) setWay(to int64) {
	w.add(instr{op: opI32Const, arg: to}, instr{op: opLocalSet, arg: w.way})
}

// jump writes a jump.
func (w *weaver) jump(i instr, depth int64) {
	to := w.unitOf(i.arg)
	label, straight := w.target(to)
	switch {
	case straight && i.op == goJumpIf:
		w.add(instr{op: opBrIf, arg: label + depth})
	case straight:
		w.add(instr{op: opBr, arg: label + depth})
	case i.op == goJumpIf:
		w.add(instr{op: opIf, arg: blockEmpty})
		w.setWay(int64(to) + 1)
		w.add(instr{op: opBr, arg: label + depth + 1}, instr{op: opEnd})
	default:
		w.setWay(int64(to) + 1)
		w.add(instr{op: opBr, arg: label + depth})
	}
}

// target returns the label of a unit, or of the region that it is in, and
// whether it is that of the unit itself.
func (w *weaver) target(unit int) (label int64, straight bool) {
	for at, f := range slices.Backward(w.open) {
		if f.loop && f.start == unit || !f.loop && f.label != coldLabel && f.start <= unit && unit <= f.end {
			if !f.loop {
				w.used[f.label] = true
			}
			return int64(len(w.open) - 1 - at), f.start == unit
		}
	}
	w.failed = true
	return 0, false
}
