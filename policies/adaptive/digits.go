package adaptive

// digits are the 64 characters that a state is written in: those of base64
// for URLs.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// values are the values of digits; notDigit for what is none.
var values = func() (v [256]uint8) {
	for i := range v {
		v[i] = notDigit
	}
	for i := range len(digits) {
		v[digits[i]] = uint8(i)
	}
	return v
}()

const notDigit = 255

// A pen writes numbers as digits. A number takes a digit for every five bits;
// the highest bit of a digit says that another follows.
type pen struct{ b []byte }

// number writes n, which is not negative.
func (p *pen) number(n int) {
	for ; n >= 32; n >>= 5 {
		p.b = append(p.b, digits[n&31|32])
	}
	p.b = append(p.b, digits[n&31])
}

// wide writes n of up to 32 bits.
func (p *pen) wide(n uint32) {
	for ; n >= 32; n >>= 5 {
		p.b = append(p.b, digits[n&31|32])
	}
	p.b = append(p.b, digits[n])
}

// two writes n of up to twelve bits as two digits.
func (p *pen) two(n int) { p.b = append(p.b, digits[n>>6&63], digits[n&63]) }

// three writes n of up to 18 bits.
func (p *pen) three(n int) { p.b = append(p.b, digits[n>>12&63], digits[n>>6&63], digits[n&63]) }

// four writes n of up to 24 bits.
func (p *pen) four(n int) {
	p.b = append(p.b, digits[n>>18&63], digits[n>>12&63], digits[n>>6&63], digits[n&63])
}

// more returns room for n digits more.
func (p *pen) more(n int) []byte {
	start := len(p.b)
	if cap(p.b)-start < n {
		p.b = append(make([]byte, 0, 2*cap(p.b)+n), p.b...)
	}
	p.b = p.b[:start+n]
	return p.b[start:]
}

// fours writes all as four digits each.
func (p *pen) fours(all []float64, unit float64, zero int) {
	b := p.more(4 * len(all))
	for i, f := range all {
		n := clamp(int(f*unit)+zero, 1<<24)
		four := b[4*i : 4*i+4]
		four[0], four[1], four[2], four[3] = digits[n>>18&63], digits[n>>12&63], digits[n>>6&63], digits[n&63]
	}
}

// id writes a hash as six digits.
func (p *pen) id(id uint32) {
	p.two(int(id >> 24))
	p.four(int(id & (1<<24 - 1)))
}

// A reader reads what a pen wrote. What does not fit sets failed; from then on
// all is 0.
type reader struct {
	b      []byte
	p      int
	failed bool
}

func (r *reader) fail() { r.failed, r.p = true, len(r.b) }

// digit returns the next.
func (r *reader) digit() int {
	if r.p >= len(r.b) {
		r.fail()
		return 0
	}
	v := values[r.b[r.p]]
	r.p++
	if v == notDigit {
		r.fail()
		return 0
	}
	return int(v)
}

func (r *reader) number() int {
	if r.p < len(r.b) { // most are of one digit
		if v := values[r.b[r.p]]; v < 32 {
			r.p++
			return int(v)
		}
	}
	n := 0
	for shift := 0; shift < 35; shift += 5 {
		d := r.digit()
		n |= d & 31 << shift
		if d < 32 {
			if n > maxNumber {
				break
			}
			return n
		}
	}
	r.fail()
	return 0
}

// maxNumber bounds what is read, so that sums do not overflow.
const maxNumber = 1 << 30

func (r *reader) wide() uint32 {
	n := uint32(0)
	for shift := 0; shift < 35; shift += 5 {
		d := r.digit()
		n |= uint32(d&31) << shift
		if d < 32 {
			return n
		}
	}
	r.fail()
	return 0
}

// below reads a number that must be less than n.
func (r *reader) below(n int) int {
	x := r.number()
	if x >= n {
		r.fail()
		return 0
	}
	return x
}

func (r *reader) two() int {
	at := r.p + 2
	if at > len(r.b) {
		r.fail()
		return 0
	}
	a, b := values[r.b[at-2]], values[r.b[at-1]]
	r.p = at
	if (a|b)&64 != 0 {
		r.fail()
		return 0
	}
	return int(a)<<6 | int(b)
}

func (r *reader) three() int { return r.two()<<6 | r.digit() }

func (r *reader) four() int {
	at := r.p + 4
	if at > len(r.b) {
		r.fail()
		return 0
	}
	s := r.b[at-4 : at : at]
	a, b, c, d := values[s[0]], values[s[1]], values[s[2]], values[s[3]]
	r.p = at
	if (a|b|c|d)&64 != 0 {
		r.fail()
		return 0
	}
	return int(a)<<18 | int(b)<<12 | int(c)<<6 | int(d)
}

func (r *reader) id() uint32 {
	high := r.two()
	return uint32(high<<24 | r.four())
}

// fours reads what fours wrote.
func (r *reader) fours(all []float64, unit float64, zero int) {
	if len(r.b)-r.p < 4*len(all) {
		r.fail()
		return
	}
	bad := uint8(0)
	for i := range all {
		s := r.b[r.p+4*i : r.p+4*i+4]
		a, b, c, d := values[s[0]], values[s[1]], values[s[2]], values[s[3]]
		bad |= a | b | c | d
		all[i] = float64((int(a)<<18|int(b)<<12|int(c)<<6|int(d))-zero) * unit
	}
	if r.p += 4 * len(all); bad&64 != 0 {
		r.fail()
	}
}
