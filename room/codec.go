package room

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// MaxEventBytes bounds an encoded event.
const MaxEventBytes = 4 << 20

// ErrUnknownType reports an event of a type that this release cannot fold.
var ErrUnknownType = errors.New("room: unknown event type")

// eventJSON is the JSON form of an event. Key order is the order of the fields.
type eventJSON struct {
	V       int             `json:"v"`
	Seq     int64           `json:"seq"`
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Actor   string          `json:"actor"`
	Command string          `json:"command,omitempty"`
	Epoch   uint64          `json:"epoch"`
	At      time.Time       `json:"at"`
	Clock   int64           `json:"clock_ns"`
	Body    json.RawMessage `json:"body"`
}

// MarshalEvent returns the stored form of e, one line of JSON without a line
// break. The same event always gives the same bytes.
func MarshalEvent(e Event) ([]byte, error) {
	if e.Body == nil {
		return nil, errors.New("room: event without a body")
	}
	body, err := encode(e.Body)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", e.Body.Type(), err)
	}
	w := eventJSON{
		e.V, e.Seq, e.ID, e.Body.Type(), e.Actor, e.Command, e.Epoch,
		e.At.UTC(), int64(e.Clock), body,
	}
	b, ok := appendEnvelope(make([]byte, 0, len(body)+256), &w)
	if !ok {
		b, err = encode(w)
	}
	if err == nil && len(b) > MaxEventBytes {
		err = fmt.Errorf("event %d is %d bytes, over the limit of %d", e.Seq, len(b), MaxEventBytes)
	}
	return b, err
}

// encode is json.Marshal without its escapes for HTML, which texts pay for.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// UnmarshalEvent is the inverse of [MarshalEvent]. Unknown fields are
// tolerated, for newer releases add them; an unknown type is
// [ErrUnknownType].
func UnmarshalEvent(b []byte) (Event, error) {
	if len(b) > MaxEventBytes {
		return Event{}, fmt.Errorf("event of %d bytes is over the limit of %d", len(b), MaxEventBytes)
	}
	if w, ok := parseEnvelope(b); ok {
		if e, err := w.event(); err == nil {
			return e, nil
		}
	}
	var w eventJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return Event{}, fmt.Errorf("decoding event: %w", err)
	}
	return w.event()
}

// event decodes the body.
func (w *eventJSON) event() (Event, error) {
	decode, ok := bodyDecoders[w.Type]
	if !ok {
		return Event{}, fmt.Errorf("%w: %q in event %d", ErrUnknownType, w.Type, w.Seq)
	}
	body, err := decode(w.Body)
	if err != nil {
		return Event{}, fmt.Errorf("decoding %s in event %d: %w", w.Type, w.Seq, err)
	}
	return Event{
		V: w.V, Seq: w.Seq, ID: w.ID, Actor: w.Actor, Command: w.Command, Epoch: w.Epoch,
		At: w.At.UTC(), Clock: time.Duration(w.Clock), Body: body,
	}, nil
}

func decodeBody[T Body](b []byte) (Body, error) {
	var v T
	err := json.Unmarshal(b, &v)
	return v, err
}

// bodyDecoders holds a decoder for every type of body.
var bodyDecoders = map[string]func([]byte) (Body, error){
	"room.opened":         decodeBody[Opened],
	"room.claimed":        decodeBody[Claimed],
	"participant.joined":  decodeBody[Joined],
	"participant.changed": decodeBody[SeatChanged],
	"seat.taken":          decodeBody[SeatTaken],
	"seat.released":       decodeBody[SeatReleased],
	"seat.forgot":         decodeBody[SeatForgot],
	"policy.changed":      decodeBody[PolicyChanged],
	"limits.changed":      decodeBody[LimitsChanged],
	"bid.posted":          decodeBody[BidPosted],
	"round.declined":      decodeBody[RoundDeclined],
	"turn.granted":        decodeBody[TurnGranted],
	"turn.drafted":        decodeBody[TurnDrafted],
	"turn.edited":         decodeBody[TurnEdited],
	"turn.approved":       decodeBody[TurnApproved],
	"turn.rejected":       decodeBody[TurnRejected],
	"turn.passed":         decodeBody[TurnPassed],
	"turn.failed":         decodeBody[TurnFailed],
	"turn.interrupted":    decodeBody[TurnInterrupted],
	"reply.late":          decodeBody[ReplyLate],
	"protocol.violation":  decodeBody[Violation],
	"message.posted":      decodeBody[MessagePosted],
	"message.redacted":    decodeBody[Redacted],
	"summary.made":        decodeBody[SummaryMade],
	"room.paused":         decodeBody[Paused],
	"room.resumed":        decodeBody[Resumed],
	"room.stopped":        decodeBody[Stopped],
	"room.completed":      decodeBody[Completed],
	"room.error":          decodeBody[Errored],
}

// Types returns the names of all types of bodies, sorted.
func Types() []string {
	names := make([]string, 0, len(bodyDecoders))
	for name := range bodyDecoders {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The envelope of an event is read and written by hand where it has the form
// that MarshalEvent always gives it: a log is mostly envelopes around texts,
// and encoding/json scans a text once more for every object around it. What
// departs from that form in any way is left to encoding/json, which decides.

// appendEnvelope appends the JSON form of w. It fails on what needs escapes.
func appendEnvelope(b []byte, w *eventJSON) ([]byte, bool) {
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
func parseEnvelope(b []byte) (w eventJSON, ok bool) {
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
		return eventJSON{}, false
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
