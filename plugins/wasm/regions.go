package wasm

import (
	"slices"
)

// A region is a run of units that becomes a loop: from one that is jumped back
// to, to the last that jumps back.
type region struct {
	start, end int   // units, the last included
	inside     []int // PC_B of places behind the start at which it is entered
}

// funcBase is what Go adds to the number of one of the module's own functions
// for the upper part of a return address (cmd/link/internal/wasm:
// funcValueOffset); the lower part is PC_B.
const funcBase = 0x1000

// findEntries finds the values of PC_B that the function may be entered with:
// those in return addresses that it stores, as it does before each call. A
// function that defers may also be entered where it calls runtime.deferreturn,
// which no address in the code tells.
func (r *routine) findEntries(f, deferred int) {
	defers := false
	seen := make([]bool, len(r.table)+1)
	for _, i := range r.code {
		switch i.op {
		case opCall:
			defers = defers || int(i.arg) == deferred || deferred == unnamed
		case opCallIndirect:
			defers = defers || deferred == unnamed
		case opI64Const:
			if i.arg>>16 == int64(funcBase+f) {
				seen[min(int(i.arg&0xffff), len(r.table)-1)] = true
			}
		}
	}
	for pcb := range r.table {
		if pcb > 0 && (seen[pcb] || defers) {
			r.entries = append(r.entries, pcb)
		}
	}
}

// findRegions finds the regions, none of which overlaps another without
// enclosing it.
func (r *routine) findRegions() {
	ends := map[int]int{}
	for _, j := range r.jumps {
		if to := r.unitOf(j.pcb); to <= j.unit {
			ends[to] = max(ends[to], j.unit)
		}
	}
	for start, end := range ends {
		r.regions = append(r.regions, region{start: start, end: end})
	}
	slices.SortFunc(r.regions, func(a, b region) int { return a.start - b.start })
	for grown := true; grown; {
		grown = false
		for i := range r.regions {
			for _, inner := range r.regions[i+1:] {
				if outer := &r.regions[i]; inner.start <= outer.end && inner.end > outer.end {
					outer.end, grown = inner.end, true
				}
			}
		}
	}
	r.clear = make([]bool, len(r.units))
	for i := range r.regions {
		r.findInside(&r.regions[i])
	}
}

// findInside finds where a region is entered behind its start.
func (r *routine) findInside(g *region) {
	within := func(unit int) bool { return unit > g.start && unit <= g.end }
	add := func(pcb int) {
		if u := r.unitOf(pcb); within(u) && !slices.Contains(g.inside, pcb) {
			g.inside = append(g.inside, pcb)
			r.clear[u] = true
		}
	}
	for _, pcb := range r.entries {
		add(pcb)
	}
	for _, j := range r.jumps {
		if j.unit < g.start || j.unit > g.end {
			add(j.pcb)
		}
	}
	slices.Sort(g.inside)
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
