package wasm

import "slices"

// A region is a run of units that becomes a loop: from one that is jumped back
// to, to the last that jumps back.
type region struct {
	start, end int   // units, the last included
	inside     []int // units behind the start that are jumped to from outside
}

// findRegions finds the regions, none of which overlaps another without
// enclosing it.
func (r *routine) findRegions() {
	ends := make([]int, len(r.units)) // by start, plus one
	r.eachJump(func(from, to int) {
		if to <= from {
			ends[to] = max(ends[to], from+1)
		}
	})
	for start, end := range ends {
		if end > 0 {
			r.regions = append(r.regions, region{start: start, end: end - 1})
		}
	}
	for grown := true; grown; {
		grown = false
		for i := range r.regions {
			outer := &r.regions[i]
			for _, inner := range r.regions[i+1:] {
				if inner.start <= outer.end && inner.end > outer.end {
					outer.end, grown = inner.end, true
				}
			}
		}
	}
	r.eachJump(func(from, to int) {
		for i := range r.regions {
			g := &r.regions[i]
			if within := to > g.start && to <= g.end; within && (from < g.start || from > g.end) && !slices.Contains(g.inside, to) {
				g.inside = append(g.inside, to)
			}
		}
	})
}

func (r *routine) eachJump(do func(from, to int)) {
	for u, code := range r.units {
		for _, i := range code {
			if i.op == goJump || i.op == goJumpIf {
				do(u, r.unitOf(i.arg))
			}
		}
	}
}

// regionAt returns the region that starts at a unit, or nil.
func (r *routine) regionAt(unit int) *region {
	for i := range r.regions {
		if r.regions[i].start == unit {
			return &r.regions[i]
		}
	}
	return nil
}

// isInside reports whether a region is entered at a unit behind its start.
func (r *routine) isInside(unit int) bool {
	return slices.ContainsFunc(r.regions, func(g region) bool { return slices.Contains(g.inside, unit) })
}
