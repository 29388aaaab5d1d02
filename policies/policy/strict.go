package policy

import "strconv"

// A strictReader also refuses a key that comes twice in one object and a
// number that a float64 cannot hold, in the values it passes over.
type strictReader struct {
	Reader
	keys []string // of every open object, the innermost last
}

// manyKeys is from where on a map finds a repeated key; below it a scan is
// faster. Without the map an object of many keys would cost their square.
const manyKeys = 16

// skip reads any value and checks it.
func (r *strictReader) skip() {
	switch c := r.peek(); c {
	case '{':
		r.object()
	case '[':
		for r.Array(); r.More(); {
			r.skip()
		}
	case '"', 't', 'f', 'n':
		r.Skip()
	default:
		r.Float()
	}
}

func (r *strictReader) object() {
	base := len(r.keys)
	var many map[string]bool
	for r.Object(); r.More(); r.skip() {
		k := r.Key()
		if r.err != nil {
			break
		}
		if r.repeated(k, base, many) {
			r.Fail("key " + strconv.Quote(clip(k, 40)) + " comes twice")
			break
		}
		r.keys = append(r.keys, k)
		if many != nil {
			many[k] = true
		} else if len(r.keys)-base == manyKeys {
			many = make(map[string]bool, 4*manyKeys)
			for _, k := range r.keys[base:] {
				many[k] = true
			}
		}
	}
	r.keys = r.keys[:base]
}

func (r *strictReader) repeated(k string, base int, many map[string]bool) bool {
	if many != nil {
		return many[k]
	}
	for _, have := range r.keys[base:] {
		if have == k {
			return true
		}
	}
	return false
}

// compact returns a copy of j, which is valid, without white space between
// tokens.
func compact(j []byte) JSON {
	out := make(JSON, 0, len(j))
	if j[0] == '"' {
		return append(out, j...) // one token, as the states of many policies are
	}
	quoted := false
	for i := 0; i < len(j); i++ {
		c := j[i]
		if !quoted && c <= ' ' {
			continue
		}
		out = append(out, c)
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++
			out = append(out, j[i])
		}
	}
	return out
}
