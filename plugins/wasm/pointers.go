package wasm

// pointers: a pointer is made an address once, and not for each of its uses.
// The engine looks once at the bounds of what it knows to be one address.
func (p *polisher) pointers() {
	times := map[int64]int{} // that a local is made an address
	for _, code := range p.units {
		for at, i := range code[:max(0, len(code)-1)] {
			if (i.op == opLocalGet || i.op == opLocalTee) && code[at+1].op == opI32WrapI64 {
				times[i.arg]++
			}
		}
	}
	for local, n := range times {
		if n > 1 {
			p.wrapped[local] = 0
		}
	}
	out := make([][]instr, len(p.units))
	flow(p.routine, func(u int, w *walk[int64]) { out[u] = p.pointersIn(p.units[u], w) })
	copy(p.units, out)
}

func (p *polisher) pointersIn(code []instr, w *walk[int64]) []instr {
	out := make([]instr, 0, len(code)+len(code)/8)
	for at := 0; at < len(code); at++ {
		i := code[at]
		w.pass(p.routine, i)
		if i.op == opLocalSet || i.op == opLocalTee {
			delete(w.known, i.arg)
		}
		_, often := p.wrapped[i.arg]
		if i.op != opLocalGet && i.op != opLocalTee || !often || at+1 == len(code) || code[at+1].op != opI32WrapI64 {
			out = append(out, i)
			continue
		}
		at++
		if w.known[i.arg] {
			out = append(out, instr{op: opLocalGet, arg: p.addressOf(i.arg)})
			continue
		}
		w.known[i.arg] = true
		out = append(out, i, code[at], instr{op: opLocalTee, arg: p.addressOf(i.arg)})
	}
	return out
}

// addressOf returns the local that holds what a local is as an address.
func (p *polisher) addressOf(local int64) int64 {
	if p.wrapped[local] == 0 {
		p.wrapped[local] = p.ours(typeI32)
		p.addressed[p.wrapped[local]] = true
	}
	return p.wrapped[local]
}
