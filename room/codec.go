package room

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// MaxEventBytes is the largest size of an encoded event.
const MaxEventBytes = 4 << 20

// ErrUnknownType reports an event whose type this release does not know.
var ErrUnknownType = errors.New("room: unknown event type")

// eventJSON is the JSON form of an event. Key order is the order of the fields.
type eventJSON struct {
	V       int             `json:"v"`
	Seq     int64           `json:"seq"`
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Actor   string          `json:"actor"`
	Command string          `json:"command,omitempty"`
	Via     string          `json:"via,omitempty"`
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
	b, err := encode(eventJSON{
		e.V, e.Seq, e.ID, e.Body.Type(), e.Actor, e.Command, e.Via, e.Epoch,
		e.At.UTC(), int64(e.Clock), body,
	})
	if err == nil && len(b) > MaxEventBytes {
		err = fmt.Errorf("event %d is %d bytes, over the limit of %d", e.Seq, len(b), MaxEventBytes)
	}
	return b, err
}

// encode is json.Marshal without the escapes for HTML, which make texts longer.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// UnmarshalEvent is the inverse of [MarshalEvent]. It ignores unknown fields,
// which newer releases may add. An unknown type is [ErrUnknownType].
func UnmarshalEvent(b []byte) (Event, error) {
	if len(b) > MaxEventBytes {
		return Event{}, fmt.Errorf("event of %d bytes is over the limit of %d", len(b), MaxEventBytes)
	}
	var w eventJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return Event{}, fmt.Errorf("decoding event: %w", err)
	}
	return w.event()
}

// event decodes the body.
func (w *eventJSON) event() (Event, error) {
	bodyType, ok := bodyTypes[w.Type]
	if !ok {
		return Event{}, fmt.Errorf("%w: %q in event %d", ErrUnknownType, w.Type, w.Seq)
	}
	body := reflect.New(bodyType)
	if err := json.Unmarshal(w.Body, body.Interface()); err != nil {
		return Event{}, fmt.Errorf("decoding %s in event %d: %w", w.Type, w.Seq, err)
	}
	return Event{
		V: w.V, Seq: w.Seq, ID: w.ID, Actor: w.Actor, Command: w.Command, Via: w.Via, Epoch: w.Epoch,
		At: w.At.UTC(), Clock: time.Duration(w.Clock), Body: body.Elem().Interface().(Body),
	}, nil
}

// Bodies returns a zero value of every type of body.
func Bodies() []Body {
	return []Body{
		Opened{},
		Claimed{},
		Joined{},
		SeatChanged{},
		SeatTaken{},
		SeatReleased{},
		ModeChanged{},
		SeatForgot{},
		SeatReady{},
		SeatFailed{},
		PresenceChanged{},
		BudgetChanged{},
		PolicyChanged{},
		LimitsChanged{},
		BidPosted{},
		RoundDeclined{},
		TurnGranted{},
		HandoffAsked{},
		TurnDrafted{},
		TurnEdited{},
		TurnApproved{},
		TurnRejected{},
		TurnPassed{},
		TurnFailed{},
		TurnInterrupted{},
		PermissionAsked{},
		PermissionAnswered{},
		ReplyLate{},
		Violation{},
		MessagePosted{},
		MessageAcked{},
		MessageReleased{},
		AckMissed{},
		MessageDead{},
		PayloadStored{},
		PlanChanged{},
		Redacted{},
		SummaryMade{},
		Paused{},
		Resumed{},
		Stopped{},
		Completed{},
		Errored{},
		CallStarted{},
		CallChanged{},
		CallEnded{},
	}
}

// bodyTypes holds the type of every body by its name.
var bodyTypes = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, b := range Bodies() {
		types[b.Type()] = reflect.TypeOf(b)
	}
	return types
}()

// Types returns the names of all types of bodies, sorted.
func Types() []string { return slices.Sorted(maps.Keys(bodyTypes)) }
