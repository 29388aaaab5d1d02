// Package envelope is what two devices say to each other inside a session:
// one JSON object a message, decoded strictly because the other owner's
// device wrote it, and the rules by which a chain of calls ends.
//
// A response bears the id of its request. Exactly one terminal response
// belongs to a request; a request that is repeated bears the same id and a
// higher epoch.
//
//	b, err := envelope.Encode(envelope.Envelope{ID: id, Type: envelope.TurnRequest, Profile: "reviewer", Body: body})
//	e, err := envelope.Decode(b) // of the other device
package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/internal/strict"
)

// A Type says what an envelope is.
type Type string

// The types. Those of requests are answered by the response of their name or
// by Error, each with the id of the request.
const (
	TurnRequest  Type = "turn.request"
	TurnResponse Type = "turn.response"
	TurnCancel   Type = "turn.cancel"
	BidRequest   Type = "bid.request"
	BidResponse  Type = "bid.response"
	Message      Type = "message"
	Permission   Type = "permission"
	Call         Type = "call"
	Watch        Type = "watch" // answered by Event or Error
	Event        Type = "event"
	Status       Type = "status"
	Bye          Type = "bye"
	Error        Type = "error"
)

// Known says whether t is one of the types.
func (t Type) Known() bool {
	switch t {
	case TurnRequest, TurnResponse, TurnCancel, BidRequest, BidResponse, Message, Permission, Call, Watch, Event, Status, Bye, Error:
		return true
	}
	return false
}

// Bounds of an envelope.
const (
	Version  = 1
	MaxSize  = 256 << 10 // bytes, the session's largest message
	MaxDepth = 16        // of objects and lists in each other
	MaxName  = 64        // bytes of id, profile, room and trace id
	MaxPath  = 16        // devices
)

// An Envelope is one message between devices.
type Envelope struct {
	V       int             `json:"v"` // Encode sets it
	ID      string          `json:"id"`
	Type    Type            `json:"type"`
	Profile string          `json:"profile,omitempty"` // the agent meant, on the device that has it
	Room    string          `json:"room,omitempty"`
	Epoch   uint64          `json:"epoch,omitempty"`
	Turn    int             `json:"turn,omitempty"`
	Trace   *Trace          `json:"trace,omitempty"`
	Body    json.RawMessage `json:"body"` // an object; nil is written as {}
}

// ErrEnvelope is what all errors of Decode and Encode wrap.
var ErrEnvelope = errors.New("not an envelope")

func errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrEnvelope, fmt.Errorf(format, args...))
}

// Encode writes e. It refuses what Decode refuses.
func Encode(e Envelope) ([]byte, error) {
	e.V = Version
	if e.Body == nil {
		e.Body = json.RawMessage("{}")
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // nobody renders this, and escapes take six bytes
	if err := enc.Encode(e); err != nil {
		return nil, errorf("%w", err)
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if _, err := Decode(b); err != nil {
		return nil, err
	}
	return b, nil
}

// Decode reads an envelope of another device. The body's own keys are for
// DecodeBody to check.
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

// DecodeBody reads a body into v, a pointer to a struct with json tags. Keys
// that v does not have are refused.
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
		return errorf("id is empty, too long or not plain")
	case !e.Type.Known():
		return errorf("type %.40q", e.Type)
	case !isPlainName(e.Profile) || !isPlainName(e.Room):
		return errorf("profile or room is too long or not plain")
	case e.Turn < 0:
		return errorf("turn %d", e.Turn)
	case len(e.Body) == 0 || bytes.TrimLeft(e.Body, " \t\r\n")[0] != '{':
		return errorf("the body is not an object")
	case e.Trace != nil:
		return e.Trace.check()
	}
	return nil
}

// isPlainName says whether s is fit for a name in logs and file names of others:
// printable ASCII without spaces, quotes and backslashes, at most MaxName.
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
