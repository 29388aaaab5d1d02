package policy

import (
	"math/bits"
	"unsafe"
)

// What a host writes has its keys in one order. The decoder therefore walks a
// table of the texts that it expects and of where the values between them go,
// and starts again, key by key, at the first text that is not the expected
// one. Go compiles every branch to a jump through a table on WebAssembly, and a
// call costs more than that, so the walk looks at eight bytes at a time and
// branches little: it takes a tenth of what looking up each key takes.

// A field is one step of such a walk: a text to pass, and the value behind it.
type field struct {
	text     string
	value    valueKind
	optional bool    // may be left out, with its value
	offset   uintptr // where in the struct the value goes
	words    [3]uint64
	masks    [3]uint64
}

// maxText is how long a field's text may be.
const maxText = 24

// shape fills in the words that the walk compares.
func shape(fields ...field) []field {
	for i := range fields {
		f := &fields[i]
		if len(f.text) > maxText {
			panic("policy: the text of a field is too long")
		}
		for j := range len(f.text) {
			f.words[j/8] |= uint64(f.text[j]) << (j % 8 * 8)
			f.masks[j/8] |= 0xff << (j % 8 * 8)
		}
	}
	return fields
}

type valueKind uint8

const (
	noValue     valueKind = iota
	stringValue           // a string
	listValue             // a []string
	intValue              // an int
	int64Value            // an int64
	boolValue             // a bool
)

var (
	in0    Input
	agent0 Agent
	event0 Event
)

// The shapes that [Input.AppendJSON] writes.
var (
	headFields = shape(
		field{text: `{"abi":`, value: intValue, offset: unsafe.Offsetof(in0.ABI)},
		field{text: `,"init":`, value: boolValue, offset: unsafe.Offsetof(in0.Init)},
		field{text: `,"room":`, value: stringValue, offset: unsafe.Offsetof(in0.Room)},
		field{text: `,"decision":`, value: int64Value, offset: unsafe.Offsetof(in0.Decision)},
		field{text: `,"turn":`, value: intValue, offset: unsafe.Offsetof(in0.Turn)},
		field{text: `,"now_ms":`, value: int64Value, offset: unsafe.Offsetof(in0.NowMS)},
		field{text: `,"seed":`, value: stringValue, offset: unsafe.Offsetof(in0.Seed)},
		field{text: `,"objective":`, value: stringValue, offset: unsafe.Offsetof(in0.Objective)},
		field{text: `,"constraints":`, value: listValue, offset: unsafe.Offsetof(in0.Constraints)},
		field{text: `,"config":{},"limits":{`},
		field{text: `"max_turns":`, value: intValue, offset: unsafe.Offsetof(in0.Limits.MaxTurns) + unsafe.Offsetof(in0.Limits)},
		field{text: `,"turns_left":`, value: intValue, offset: unsafe.Offsetof(in0.Limits.TurnsLeft) + unsafe.Offsetof(in0.Limits)},
		field{text: `,"tokens_left":`, value: int64Value, offset: unsafe.Offsetof(in0.Limits.TokensLeft) + unsafe.Offsetof(in0.Limits)},
		field{text: `,"ms_left":`, value: int64Value, offset: unsafe.Offsetof(in0.Limits.MSLeft) + unsafe.Offsetof(in0.Limits)},
		field{text: `},"agents":`},
	)
	agentFields = shape(
		field{text: `{"id":`, value: stringValue, offset: unsafe.Offsetof(agent0.ID)},
		field{text: `,"name":`, value: stringValue, offset: unsafe.Offsetof(agent0.Name)},
		field{text: `,"kind":`, value: stringValue, offset: unsafe.Offsetof(agent0.Kind)},
		field{text: `,"role":`, value: stringValue, offset: unsafe.Offsetof(agent0.Role)},
		field{text: `,"domains":`, value: listValue, offset: unsafe.Offsetof(agent0.Domains)},
		field{text: `,"eligible":`, value: boolValue, offset: unsafe.Offsetof(agent0.Eligible)},
		field{text: `,"ineligible_reason":`, value: stringValue, offset: unsafe.Offsetof(agent0.Ineligible), optional: true},
		field{text: `,"turns":`, value: intValue, offset: unsafe.Offsetof(agent0.Turns)},
		field{text: `,"last_turn":`, value: intValue, offset: unsafe.Offsetof(agent0.LastTurn)},
		field{text: `,"failures":`, value: intValue, offset: unsafe.Offsetof(agent0.Failures)},
		field{text: `,"tokens":`, value: int64Value, offset: unsafe.Offsetof(agent0.Tokens)},
		field{text: `,"avg_ms":`, value: int64Value, offset: unsafe.Offsetof(agent0.AvgMS)},
		field{text: `,"unread":`, value: intValue, offset: unsafe.Offsetof(agent0.Unread)},
		field{text: `,"urgent":`, value: intValue, offset: unsafe.Offsetof(agent0.Urgent), optional: true},
		field{text: `,"followed":{"last":`, value: intValue, offset: unsafe.Offsetof(agent0.Followed.Last) + unsafe.Offsetof(agent0.Followed)},
		field{text: `,"last_two":`, value: intValue, offset: unsafe.Offsetof(agent0.Followed.LastTwo) + unsafe.Offsetof(agent0.Followed)},
		field{text: `}`},
	)
	eventFields = shape(
		field{text: `{"seq":`, value: int64Value, offset: unsafe.Offsetof(event0.Seq)},
		field{text: `,"turn":`, value: intValue, offset: unsafe.Offsetof(event0.Turn)},
		field{text: `,"from":`, value: stringValue, offset: unsafe.Offsetof(event0.From)},
		field{text: `,"to":`, value: listValue, offset: unsafe.Offsetof(event0.To)},
		field{text: `,"kind":`, value: stringValue, offset: unsafe.Offsetof(event0.Kind)},
		field{text: `,"text":`, value: stringValue, offset: unsafe.Offsetof(event0.Text)},
		field{text: `,"truncated":`, value: boolValue, offset: unsafe.Offsetof(event0.Truncated)},
		field{text: `,"mentions":`, value: listValue, offset: unsafe.Offsetof(event0.Mentions)},
		field{text: `,"addressed":`, value: listValue, offset: unsafe.Offsetof(event0.Addressed)},
		field{text: `,"bytes":`, value: intValue, offset: unsafe.Offsetof(event0.Bytes)},
		field{text: `}`},
	)
)

// inOrder walks fields and stores their values in the struct at to. It
// returns false, with some of them stored, at the first text that does not
// fit.
func (r *Reader) inOrder(fields []field, to unsafe.Pointer) bool {
	b, p := r.b, r.p
	for i := range fields {
		f := &fields[i]
		if p+maxText+8 > len(b) {
			return false
		}
		if (load8(b, p)^f.words[0])&f.masks[0]|(load8(b, p+8)^f.words[1])&f.masks[1]|
			(load8(b, p+16)^f.words[2])&f.masks[2] != 0 {
			if f.optional {
				continue
			}
			return false
		}
		p += len(f.text)
		end := p
		switch at := unsafe.Add(to, f.offset); f.value {
		case noValue:
			continue
		case stringValue:
			if n := short(load8(b, p)); n >= 0 {
				*(*string)(at) = view(b[p+1 : p+1+n])
				end = p + n + 2
			} else if e := plainEnd(b, p+1); e < len(b) && b[e] == '"' && b[p] == '"' {
				*(*string)(at) = view(b[p+1 : e])
				end = e + 1
			}
		case intValue:
			var n int64
			if n, end = smallInt(load8(b, p), p); end > p {
				*(*int)(at) = int(n)
			}
		case int64Value:
			var n int64
			if n, end = smallInt(load8(b, p), p); end > p {
				*(*int64)(at) = n
			}
		case boolValue:
			var v bool
			if v, end = truth(load8(b, p), p); end > p {
				*(*bool)(at) = v
			}
		}
		if end == p {
			r.p = p
			if !r.store(f.value, unsafe.Add(to, f.offset)) {
				return false
			}
			end = r.p
		}
		p = end
	}
	r.p = p
	return true
}

// short returns how many bytes, at most six, the string at the start of w has,
// if they are plain; otherwise -1.
func short(w uint64) int {
	past := bits.TrailingZeros64(odd8(w >> 8)) // the byte behind the last is 0, which is not plain
	if byte(w) != '"' || byte(w>>8>>(past&56)) != '"' {
		return -1
	}
	return past / 8
}

// smallInt returns the number at the start of w, of at most six digits and with
// no sign, and its end; otherwise p. What follows it must end a number.
func smallInt(w uint64, p int) (n int64, end int) {
	for end = p; ; end, w = end+1, w>>8 {
		c := w&255 - '0'
		if c > 9 {
			break
		}
		if end > p && n == 0 || end == p+6 {
			return 0, p
		}
		n = n*10 + int64(c)
	}
	if c := byte(w); c != ',' && c != '}' {
		return 0, p
	}
	return n, end
}

// truth returns the boolean at the start of w and its end; otherwise p.
func truth(w uint64, p int) (v bool, end int) {
	switch {
	case uint32(w) == 't'|'r'<<8|'u'<<16|'e'<<24:
		return true, p + 4
	case w&0xff_ffff_ffff == 'f'|'a'<<8|'l'<<16|'s'<<24|'e'<<32:
		return false, p + 5
	}
	return false, p
}

// store reads a value of the given kind to where at points. It returns false
// at what the caller reads key by key, or fails at, instead.
func (r *Reader) store(kind valueKind, at unsafe.Pointer) bool {
	switch kind {
	case stringValue:
		*(*string)(at) = r.String()
	case intValue:
		*(*int)(at) = int(r.Int())
	case int64Value:
		*(*int64)(at) = r.Int()
	case boolValue:
		return false
	case listValue:
		*(*[]string)(at) = r.list(*(*[]string)(at))
	}
	return r.err == nil
}

// list appends an array of strings to dst.
func (r *Reader) list(dst []string) []string {
	b, p := r.b, r.p+1
	if p < len(b) && b[p-1] == '[' {
		if b[p] == ']' {
			r.p = p + 1
			return dst
		}
		for p < len(b) && b[p] == '"' {
			end := plainEnd(b, p+1)
			if end+1 >= len(b) || b[end] != '"' {
				break
			}
			dst = append(dst, view(b[p+1:end]))
			if b[end+1] == ']' {
				r.p = end + 2
				return dst
			}
			if p = end + 2; b[end+1] != ',' {
				break
			}
		}
	}
	return r.appendStrings(dst[:0]) // something rare: from the start again
}

// agentInOrder reads an agent as [Input.AppendJSON] writes it.
func (d *inputDecoder) agentInOrder(a *Agent) bool {
	if !d.inOrder(agentFields, unsafe.Pointer(a)) {
		return false
	}
	if d.expect("}") {
		return true
	}
	if d.expect(`,"confidence":`) {
		f := d.Float()
		a.Confidence = &f
	}
	if d.expect(`,"bid":`) {
		a.Bid = d.bid()
	}
	return d.expect("}")
}

// eventInOrder reads an event as [Input.AppendJSON] writes it.
func (d *inputDecoder) eventInOrder(e *Event) bool {
	return d.inOrder(eventFields, unsafe.Pointer(e))
}

// noConfig is what an input has that no configuration was given for. Making it
// anew would be the only allocation of reading one.
var noConfig = JSON("{}")

// inputInOrder reads an input as [Input.AppendJSON] writes it, when it has no
// configuration.
func (d *inputDecoder) inputInOrder(in *Input) bool {
	if !d.inOrder(headFields, unsafe.Pointer(in)) {
		return false
	}
	in.Config = noConfig
	d.agents(in)
	if !d.expect(`,"events":`) {
		return false
	}
	d.events(in)
	if !d.expect(`,"truncated":`) {
		return false
	}
	in.Truncated = d.Bool()
	if !d.expect(`,"state":`) {
		return false
	}
	d.state(in)
	return d.expect("}")
}

// expect passes text if it comes next.
func (r *Reader) expect(text string) bool {
	p := r.p
	if len(r.b)-p < len(text) || string(r.b[p:p+len(text)]) != text {
		return false
	}
	r.p = p + len(text)
	return true
}
