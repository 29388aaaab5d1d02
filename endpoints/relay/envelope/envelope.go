// Package envelope encodes the messages that two devices exchange inside a
// session, and limits chains of requests between devices.
//
// An envelope is one JSON object. It is decoded strictly, because another
// owner's device wrote it. A response carries the id of its request, and each
// request has exactly one terminal response. A repeated request carries the
// same id and a higher epoch.
//
// A Trace records through which devices a request has come. Accept, Forward and
// Start enforce the hop limit and refuse loops.
//
// All functions are safe for concurrent use.
//
//	b, err := envelope.Encode(envelope.Envelope{ID: id, Type: envelope.TurnRequest, Profile: "reviewer", Body: body})
//	e, err := envelope.Decode(b) // on the other device
package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/internal/strict"
)

// A Type is the kind of an envelope.
type Type string

// The types. A request is answered by the response type of its name or by
// Error, with the id of the request.
const (
	TurnRequest   Type = "turn.request"
	TurnResponse  Type = "turn.response"
	TurnCancel    Type = "turn.cancel"
	BidRequest    Type = "bid.request"
	BidResponse   Type = "bid.response"
	Message       Type = "message" // a typed one is answered by MessageAnswer
	MessageAnswer Type = "message.answer"
	Permission    Type = "permission"
	Call          Type = "call"
	Watch         Type = "watch" // answered by Event or Error
	Event         Type = "event"
	Status        Type = "status"
	Bye           Type = "bye"
	Error         Type = "error"
	SeatAwait     Type = "seat.await" // answered by SeatTurn or Error
	SeatTurn      Type = "seat.turn"
	SeatAnswer    Type = "seat.answer" // answered by SeatAnswered or Error
	SeatAnswered  Type = "seat.answered"
	Offers        Type = "offers" // answered by Offered
	Offered       Type = "offered"
)

// Known reports whether t is one of the types above.
func (t Type) Known() bool {
	switch t {
	case TurnRequest, TurnResponse, TurnCancel, BidRequest, BidResponse, Message, MessageAnswer, Permission, Call, Watch, Event, Status, Bye, Error,
		SeatAwait, SeatTurn, SeatAnswer, SeatAnswered, Offers, Offered:
		return true
	}
	return false
}

// Limits of an envelope.
const (
	Version  = 1
	MaxSize  = 256 << 10 // bytes; the maximum message of a session
	MaxDepth = 16        // of nested objects and lists
	MaxName  = 64        // bytes of id, profile, room and trace id
	MaxPath  = 16        // devices
)

// An Envelope is one message between devices.
type Envelope struct {
	V       int             `json:"v"` // set by Encode
	ID      string          `json:"id"`
	Type    Type            `json:"type"`
	Profile string          `json:"profile,omitempty"` // the addressed agent on the receiving device
	Room    string          `json:"room,omitempty"`
	Epoch   uint64          `json:"epoch,omitempty"`
	Turn    int             `json:"turn,omitempty"`
	Trace   *Trace          `json:"trace,omitempty"`
	Body    json.RawMessage `json:"body"` // a JSON object; nil is encoded as {}
}

// ErrEnvelope is wrapped by all errors of Decode, DecodeBody and Encode.
var ErrEnvelope = errors.New("not an envelope")

func errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrEnvelope, fmt.Errorf(format, args...))
}

// Encode encodes e. It refuses envelopes that Decode would refuse.
func Encode(e Envelope) ([]byte, error) {
	e.V = Version
	if e.Body == nil {
		e.Body = json.RawMessage("{}")
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // never embedded in HTML, and each escape takes six bytes
	if err := enc.Encode(e); err != nil {
		return nil, errorf("%w", err)
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if _, err := Decode(b); err != nil {
		return nil, err
	}
	return b, nil
}

// Decode decodes an envelope of another device. DecodeBody checks the keys of
// the body.
func Decode(b []byte) (Envelope, error) {
	var e Envelope
	if len(b) > MaxSize {
		return e, errorf("%d bytes", len(b))
	}
	if err := strict.Decode(b, MaxDepth, &e); err != nil {
		return Envelope{}, errorf("%w", err)
	}
	if err := e.check(); err != nil {
		return Envelope{}, err
	}
	return e, nil
}

// DecodeBody decodes the body into v, a pointer to a struct with json tags. It
// refuses keys that v does not have.
func (e Envelope) DecodeBody(v any) error {
	if err := strict.Decode(e.Body, MaxDepth, v); err != nil {
		return errorf("body of %s: %w", e.Type, err)
	}
	return nil
}

func (e Envelope) check() error {
	switch {
	case e.V != Version:
		return errorf("version %d", e.V)
	case e.ID == "" || !isPlainName(e.ID):
		return errorf("id is empty, too long or contains special characters")
	case !e.Type.Known():
		return errorf("type %.40q", e.Type)
	case !isPlainName(e.Profile) || !isPlainName(e.Room):
		return errorf("profile or room is too long or contains special characters")
	case e.Turn < 0:
		return errorf("turn %d", e.Turn)
	case len(e.Body) == 0 || bytes.TrimLeft(e.Body, " \t\r\n")[0] != '{':
		return errorf("the body is not an object")
	case e.Trace != nil:
		return e.Trace.check()
	}
	return nil
}

// isPlainName reports whether s is safe in logs and file names: printable ASCII
// without spaces, quotes and backslashes, at most MaxName bytes.
func isPlainName(s string) bool {
	if len(s) > MaxName {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\'' || c == '\\' || c == '`' {
			return false
		}
	}
	return true
}
