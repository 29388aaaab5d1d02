package policy

import "strconv"

// DecodeDecision reads the answer of a policy strictly, because a policy is not
// trusted. It rejects unknown keys, repeated keys at any depth, keys in other
// case, unknown actions, numbers that a float64 cannot hold, bytes after the
// value, and values that exceed the bounds of the contract. The error is a
// *[DecodeError].
//
// Hints and State are returned without white space between their tokens, so
// that a log that compacts JSON does not change them. Other strings share
// memory with b.
func DecodeDecision(b []byte) (Decision, error) {
	d := decisionDecoder{strictReader: strictReader{Reader: Reader{b: b}}}
	if len(b) > MaxOutput {
		d.Fail("an answer of " + strconv.Itoa(len(b)) + " bytes; at most " + strconv.Itoa(MaxOutput))
		return Decision{}, d.err
	}
	for d.Object(); d.More(); {
		d.member()
	}
	d.End()
	d.check()
	if d.err != nil {
		return Decision{}, d.err
	}
	return d.out, nil
}

type decisionDecoder struct {
	strictReader
	out  Decision
	seen uint16
}

// decisionKeys are the keys in the order of [Decision.AppendJSON]. The index
// of a key is its bit in decisionDecoder.seen.
var decisionKeys = [...]string{
	"action", "agent", "reason", "message", "confidence", "speak", "retry_ms", "hints", "scores", "state",
}

func (d *decisionDecoder) member() {
	k := d.Key()
	if d.err != nil || !d.once(k) {
		return
	}
	switch k {
	case "action":
		d.out.Action = d.action()
	case "agent":
		d.out.Agent = d.String()
	case "reason":
		d.out.Reason = d.bounded()
	case "message":
		d.out.Message = d.bounded()
	case "confidence":
		d.out.Confidence = d.share()
	case "speak":
		d.out.Speak = d.share()
	case "retry_ms":
		if d.out.RetryMS = d.Int(); d.out.RetryMS < 0 {
			d.Fail("expected milliseconds, 0 or more")
		}
	case "hints":
		d.out.Hints = d.bulk(MaxHints)
	case "scores":
		d.scores()
	case "state":
		d.out.State = d.bulk(MaxState)
	}
	d.name(k)
}

// share reads a number from 0 to 1.
func (d *decisionDecoder) share() *float64 {
	f := d.Float()
	if d.err == nil && (f < 0 || f > 1) {
		d.Fail("expected a number from 0 to 1")
	}
	return &f
}

// once rejects an unknown key and a repeated one.
func (d *decisionDecoder) once(k string) bool {
	for i, known := range decisionKeys {
		if k != known {
			continue
		}
		if d.seen&(1<<i) != 0 {
			d.Fail("key " + strconv.Quote(k) + " comes twice")
			return false
		}
		d.seen |= 1 << i
		return true
	}
	what := "unknown key " + strconv.Quote(clip(k, 40))
	for _, known := range decisionKeys {
		if foldEqual(k, known) {
			what += "; did you mean " + strconv.Quote(known) + "?"
		}
	}
	d.Fail(what)
	return false
}

// name puts the key before the field of an error that has just happened.
func (d *decisionDecoder) name(k string) {
	if d.err != nil {
		d.err.Field = k + d.err.Field
	}
}

func (d *decisionDecoder) action() string {
	s := d.String()
	switch s {
	case ActionSpeak, ActionDecline, ActionFinish, ActionError:
		return s
	}
	d.Fail("unknown action " + strconv.Quote(clip(s, 40)) + "; expected speak, decline, finish or error")
	return ""
}

func (d *decisionDecoder) bounded() string {
	s := d.String()
	if len(s) > MaxReason {
		d.Fail(strconv.Itoa(len(s)) + " bytes; at most " + strconv.Itoa(MaxReason))
	}
	return s
}

// bulk reads any value of at most limit bytes after compaction.
func (d *decisionDecoder) bulk(limit int) JSON {
	d.peek()
	start := d.p
	d.skip()
	if d.err != nil {
		return nil
	}
	out := compact(d.b[start:d.p])
	if len(out) > limit {
		d.Fail(strconv.Itoa(len(out)) + " bytes; at most " + strconv.Itoa(limit))
	}
	return out
}

func (d *decisionDecoder) scores() {
	for d.Array(); d.More(); {
		n := len(d.out.Scores)
		var s Score
		var hasAgent, hasScore bool
		for d.Object(); d.More(); {
			switch k := d.Key(); {
			case k == "agent" && !hasAgent:
				s.Agent, hasAgent = d.String(), true
			case k == "score" && !hasScore:
				s.Score, hasScore = d.Float(), true
			default:
				d.Fail("expected the keys agent and score, once each, not " + strconv.Quote(clip(k, 40)))
			}
		}
		if !hasAgent || !hasScore {
			d.Fail("expected the keys agent and score")
		}
		if d.err != nil {
			d.err.Field = "[" + strconv.Itoa(n) + "]" + d.err.Field
			return
		}
		d.out.Scores = append(d.out.Scores, s)
	}
}

// check tests the keys that an action requires.
func (d *decisionDecoder) check() {
	switch o := &d.out; {
	case d.err != nil:
	case o.Action == "":
		d.missing("action", "an answer needs an action")
	case o.Action == ActionSpeak && o.Agent == "":
		d.missing("agent", "speak needs the id of an agent")
	case (o.Action == ActionDecline || o.Action == ActionFinish) && o.Reason == "":
		d.missing("reason", o.Action+" needs a reason")
	}
}

func (d *decisionDecoder) missing(field, what string) {
	d.Fail(what)
	d.err.Field = field
}

// A strictReader is a Reader that also rejects repeated keys of one object, and
// numbers that a float64 cannot hold, in values of any form.
type strictReader struct {
	Reader
	keys []string // of all open objects, the innermost last
}

// manyKeys is the number of keys of an object from which on a map finds the
// repeated ones. Below it a linear search is faster; above it a search would
// take quadratic time.
const manyKeys = 16

// skip reads and checks any value.
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

// compact returns a copy of the valid JSON text j without white space between
// its tokens.
func compact(j []byte) JSON {
	out := make(JSON, 0, len(j))
	if j[0] == '"' {
		return append(out, j...) // a string is one token; many states are strings
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
