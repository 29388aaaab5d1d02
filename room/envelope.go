package room

import (
	"strconv"
	"time"
)

// The envelope of an event is read and written by hand where it has the form
// that MarshalEvent always gives it: a log is mostly envelopes around texts,
// and encoding/json scans a text once more for every object around it. What
// departs from that form in any way is left to encoding/json, which decides.

// appendEnvelope appends the JSON form of w. It fails on what needs escapes.
func appendEnvelope(b []byte, w *wire) ([]byte, bool) {
	year := w.At.Year()
	if !plain(w.ID) || !plain(w.Type) || !plain(w.Actor) || !plain(w.Command) || year < 0 || year > 9999 {
		return b, false
	}
	b = strconv.AppendInt(append(b, `{"v":`...), int64(w.V), 10)
	b = strconv.AppendInt(append(b, `,"seq":`...), w.Seq, 10)
	b = append(append(append(b, `,"id":"`...), w.ID...), '"')
	b = append(append(append(b, `,"type":"`...), w.Type...), '"')
	b = append(append(append(b, `,"actor":"`...), w.Actor...), '"')
	if w.Command != "" {
		b = append(append(append(b, `,"command":"`...), w.Command...), '"')
	}
	b = strconv.AppendUint(append(b, `,"epoch":`...), w.Epoch, 10)
	b = append(w.At.AppendFormat(append(b, `,"at":"`...), time.RFC3339Nano), '"')
	b = strconv.AppendInt(append(b, `,"clock_ns":`...), w.Clock, 10)
	return append(append(append(b, `,"body":`...), w.Body...), '}'), true
}

// plain says whether s stands in JSON as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// parseEnvelope is the inverse of appendEnvelope. Body is what stands there,
// unchecked: when it does not decode, nothing of the result may be believed.
func parseEnvelope(b []byte) (w wire, ok bool) {
	c := cursor{b: b, ok: true}
	w.V = int(c.integer(`{"v":`))
	w.Seq = c.integer(`,"seq":`)
	w.ID = c.text(`,"id":"`)
	w.Type = c.text(`,"type":"`)
	w.Actor = c.text(`,"actor":"`)
	if c.at(`,"command":"`) {
		w.Command = c.text(`,"command":"`)
	}
	epoch := c.integer(`,"epoch":`)
	w.Epoch = uint64(epoch)
	at := c.text(`,"at":"`)
	w.Clock = c.integer(`,"clock_ns":`)
	c.skip(`,"body":`)
	last := len(c.b) - 1
	if !c.ok || epoch < 0 || last < 0 || c.b[last] != '}' || w.At.UnmarshalText([]byte(at)) != nil {
		return wire{}, false
	}
	w.Body = c.b[:last]
	return w, true
}

// A cursor reads from the front of b. Once something was not as expected ok
// is false and stays so.
type cursor struct {
	b  []byte
	ok bool
}

// at says whether b begins with s.
func (c *cursor) at(s string) bool { return len(c.b) >= len(s) && string(c.b[:len(s)]) == s }

// skip passes over s.
func (c *cursor) skip(s string) {
	if c.ok = c.ok && c.at(s); c.ok {
		c.b = c.b[len(s):]
	}
}

// text reads a string without escapes, after before, which ends with its
// opening quote.
func (c *cursor) text(before string) string {
	c.skip(before)
	for i := 0; c.ok && i < len(c.b); i++ {
		if c.b[i] == '"' {
			s := string(c.b[:i])
			c.b, c.ok = c.b[i+1:], plain(s)
			return s
		}
	}
	c.ok = false
	return ""
}

// integer reads a whole number of up to 18 digits, after before.
func (c *cursor) integer(before string) int64 {
	c.skip(before)
	digits, n := c.b, 0
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
		n++
	}
	size := len(c.b) - len(digits) + n
	if !c.ok || n == 0 || n > 18 || digits[0] == '0' && size > 1 {
		c.ok = false
		return 0
	}
	v, err := strconv.ParseInt(string(c.b[:size]), 10, 64)
	c.b, c.ok = c.b[size:], err == nil
	return v
}
