package adaptive

// What was foreseen is part of the state, so that the next decision can learn
// from it without working it out again, which would double its cost. For each
// row there is a record, of which the next decision reads the one of who spoke.

// foreseen is what the mixture foresaw for the turn that is to come.
type foreseen struct {
	current bool     // the rows are of the latest turn
	noted   []byte   // of the state: the records
	seen    evidence // of who spoke
}

// A record holds features in parts of valueUnit, logarithms in parts of
// logUnit and the expected features in parts of expectedUnit.
const (
	valueUnit    = 128
	valueZero    = 2048 // of two digits
	logUnit      = 256
	expectedUnit = 1 << 18
	expectedZero = 1 << 23 // of four digits
)

// note writes the records: what is expected, and each row.
func (r *room) note(p *pen, m *model) {
	r.expect()
	p.number(m.n)
	p.fours(r.seen.expected[:m.corrected()], expectedUnit, expectedZero)
	p.number(len(r.rows))
	for i := range r.rows {
		r.record(p, i, m.n)
	}
}

// record writes row i.
func (r *room) record(p *pen, i, n int) {
	w := &r.rows[i]
	p.id(w.id)
	b := p.more(2 + 2*n + 3*w.n)
	b[0], b[1] = digits[sign(w.size > 1)], digits[w.n&63]
	size := 0.0
	if w.size > 1 {
		size = ln(w.size)
	}
	z, sums := r.score[i][:n], r.sums[:n]
	at := 2
	for j := range z {
		v := clamp(int((sums[j]-z[j]-size)*logUnit), 1<<12)
		b[at], b[at+1] = digits[v>>6&63], digits[v&63]
		at += 2
	}
	for k, f := range w.at[:w.n] {
		v := clamp(int(w.x[k]*valueUnit+(valueZero+.5)), 1<<12)
		b[at], b[at+1], b[at+2] = digits[f&63], digits[v>>6&63], digits[v&63]
		at += 3
	}
}

// clamp keeps n within 0 and end-1.
func clamp(n, end int) int { return min(max(n, 0), end-1) }

// recall takes the evidence of id from the records, if they are of the latest
// turn, and reports whether there is any.
func (r *room) recall(m *model, id uint32) bool {
	if r.noted == nil || r.current {
		return false
	}
	in := reader{b: r.noted}
	r.noted = nil
	if in.number() != m.n {
		return false
	}
	e := &r.seen
	e.expected = [correctable]float64{}
	in.fours(e.expected[:m.corrected()], 1.0/expectedUnit, expectedZero)
	found := false
	for n := in.below(mostRows + 1); n > 0 && !found; n-- {
		who, group, count := in.id(), in.digit() == 1, in.digit()
		if found = who == id || group && r.rank(id) == neverSpoke && r.seats.find(id) >= 0; !found {
			in.p += 2*m.n + 3*count
			continue
		}
		for j := range m.n {
			e.logs[j] = atLeast(float64(in.two())*(-1.0/logUnit), leastLog)
		}
		if e.n = count; count > features {
			return false
		}
		for k := range e.n {
			e.at[k], e.x[k] = uint8(min(in.digit(), features-1)), float64(in.two()-valueZero)*(1.0/valueUnit)
		}
	}
	return found && !in.failed
}
