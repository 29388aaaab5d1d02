package plugins

import (
	"math"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/folkmoot/moot/policies/policy"
)

// appendInput appends the bytes of in.AppendJSON in a fraction of its time: a
// quick policy answers sooner than that takes. The commas stand with the keys,
// keys are not looked through for what must be escaped, and texts are so by
// eight bytes at a time. The package policy keeps the simple form, because it
// is built into policies too; TestEncoded and FuzzEncoded hold this one to it.
func appendInput(b []byte, in *policy.Input) []byte {
	b = number(append(b, `{"abi":`...), int64(in.ABI))
	b = truth(append(b, `,"init":`...), in.Init)
	b = quoted(append(b, `,"room":`...), in.Room)
	b = number(append(b, `,"decision":`...), in.Decision)
	b = number(append(b, `,"turn":`...), int64(in.Turn))
	b = number(append(b, `,"now_ms":`...), in.NowMS)
	b = quoted(append(b, `,"seed":`...), in.Seed)
	b = quoted(append(b, `,"objective":`...), in.Objective)
	b = list(append(b, `,"constraints":[`...), in.Constraints)
	b = raw(append(b, `,"config":`...), in.Config, "{}")
	b = number(append(b, `,"limits":{"max_turns":`...), int64(in.Limits.MaxTurns))
	b = number(append(b, `,"turns_left":`...), int64(in.Limits.TurnsLeft))
	b = number(append(b, `,"tokens_left":`...), in.Limits.TokensLeft)
	b = number(append(b, `,"ms_left":`...), in.Limits.MSLeft)
	b = append(b, `},"agents":[`...)
	for i := range in.Agents {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendAgent(b, &in.Agents[i])
	}
	b = append(b, `],"events":[`...)
	for i := range in.Events {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEvent(b, &in.Events[i])
	}
	b = truth(append(b, `],"truncated":`...), in.Truncated)
	b = raw(append(b, `,"state":`...), in.State, "null")
	return append(b, '}')
}

func appendAgent(b []byte, a *policy.Agent) []byte {
	b = quoted(append(b, `{"id":`...), a.ID)
	b = quoted(append(b, `,"name":`...), a.Name)
	b = quoted(append(b, `,"kind":`...), a.Kind)
	b = quoted(append(b, `,"role":`...), a.Role)
	b = list(append(b, `,"domains":[`...), a.Domains)
	b = truth(append(b, `,"eligible":`...), a.Eligible)
	if a.Ineligible != "" {
		b = quoted(append(b, `,"ineligible_reason":`...), a.Ineligible)
	}
	b = number(append(b, `,"turns":`...), int64(a.Turns))
	b = number(append(b, `,"last_turn":`...), int64(a.LastTurn))
	b = number(append(b, `,"failures":`...), int64(a.Failures))
	b = number(append(b, `,"tokens":`...), a.Tokens)
	b = number(append(b, `,"avg_ms":`...), a.AvgMS)
	b = number(append(b, `,"unread":`...), int64(a.Unread))
	if a.Urgent != 0 {
		b = number(append(b, `,"urgent":`...), int64(a.Urgent))
	}
	b = number(append(b, `,"followed":{"last":`...), int64(a.Followed.Last))
	b = number(append(b, `,"last_two":`...), int64(a.Followed.LastTwo))
	b = append(b, '}')
	if a.Confidence != nil && finite(*a.Confidence) {
		b = fraction(append(b, `,"confidence":`...), *a.Confidence)
	}
	if a.Bid != nil && finite(a.Bid.Score) {
		b = fraction(append(b, `,"bid":{"score":`...), a.Bid.Score)
		b = quoted(append(b, `,"reason":`...), a.Bid.Reason)
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendEvent(b []byte, e *policy.Event) []byte {
	b = number(append(b, `{"seq":`...), e.Seq)
	b = number(append(b, `,"turn":`...), int64(e.Turn))
	b = quoted(append(b, `,"from":`...), e.From)
	b = list(append(b, `,"to":[`...), e.To)
	b = quoted(append(b, `,"kind":`...), e.Kind)
	b = quoted(append(b, `,"text":`...), e.Text)
	b = truth(append(b, `,"truncated":`...), e.Truncated)
	b = list(append(b, `,"mentions":[`...), e.Mentions)
	b = list(append(b, `,"addressed":[`...), e.Addressed)
	b = number(append(b, `,"bytes":`...), int64(e.Bytes))
	return append(b, '}')
}

func number(b []byte, n int64) []byte {
	if 0 <= n && n <= 9 {
		return append(b, '0'+byte(n))
	}
	return strconv.AppendInt(b, n, 10)
}

func truth(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

func raw(b []byte, j policy.JSON, absent string) []byte {
	if j == nil {
		return append(b, absent...)
	}
	return append(b, j...)
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

func fraction(b []byte, f float64) []byte {
	w := policy.NewWriter(b)
	w.Float(f)
	return w.Bytes()
}

// list appends what stands behind a bracket.
func list(b []byte, all []string) []byte {
	for i, s := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = quoted(b, s)
	}
	return append(b, ']')
}

func quoted(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		n := unescaped(s)
		b = append(b, s[:n]...)
		if s = s[n:]; s == "" {
			return append(b, '"')
		}
		if s[0] < utf8.RuneSelf {
			b, s = escape(b, s[0]), s[1:]
		} else {
			b, s = foreign(b, s)
		}
	}
}

// foreign appends what s begins with that is not ASCII.
func foreign(b []byte, s string) (_ []byte, rest string) {
	n := 0
	for n < len(s) && s[n] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[n:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[:n]...), "\uFFFD"...)
			return b, s[n+1:]
		}
		n += size
	}
	return append(b, s[:n]...), s[n:]
}

// unescaped is how many bytes s begins with that stand for themselves.
func unescaped(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		q := s[i : i+8]
		w := uint64(q[0]) | uint64(q[1])<<8 | uint64(q[2])<<16 | uint64(q[3])<<24 |
			uint64(q[4])<<32 | uint64(q[5])<<40 | uint64(q[6])<<48 | uint64(q[7])<<56
		quote, slash := w^ones*'"', w^ones*'\\'
		// A top bit: of the byte itself, of one below a space, of one that is 0.
		if (w|(w-ones*' ')|(quote-ones)|(slash-ones))&tops != 0 {
			break
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

func escape(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// inputs are buffers that inputs are encoded into, one after the other.
var inputs = sync.Pool{New: func() any { return new([]byte) }}

// mostKept is the size over which such a buffer is not used again.
const mostKept = 256 << 10

// encode returns the bytes of an input, in a buffer that the caller gives back
// with done when nobody reads them any more.
func encode(in *policy.Input) *[]byte {
	b := inputs.Get().(*[]byte)
	*b = appendInput((*b)[:0], in)
	return b
}

func done(b *[]byte) {
	if cap(*b) <= mostKept {
		inputs.Put(b)
	}
}
