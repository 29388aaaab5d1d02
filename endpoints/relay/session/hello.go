package session

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/strict"
)

const (
	version      = 1
	helloDepth   = 3
	helloSize    = 1_024 // to which payloads of handshakes are padded
	maxHelloSize = 4_096
	streamIDSize = 8
)

// A streamID names what one Session has sent since it was made or gave up.
// Two devices whose streams know each other go on where they were when their
// keys change; all others start with the first frame.
type streamID [streamIDSize]byte

// MarshalText writes it in hexadecimal.
func (s streamID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *streamID) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(s)) {
		return errFrame
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// hello is the payload of both messages of a session's handshake.
type hello struct {
	V      int                 `json:"v"`
	Limits limits              `json:"limits"`
	Stream streamID            `json:"stream"`
	Knows  *streamID           `json:"knows,omitempty"`  // the other side's stream, as far as known
	Record *identity.KeyRecord `json:"record,omitempty"` // when the other side may not have it
}

type limits struct {
	Message int `json:"message"` // bytes
	Window  int `json:"window"`  // frames
}

func ownLimits() limits { return limits{Message: MaxMessage, Window: windowFrames} }

func (h hello) encode() ([]byte, error) { return padded(h) }

// continues says whether h's side knows the stream of the other side.
func (h hello) continues(other hello) bool { return h.Knows != nil && *h.Knows == other.Stream }

func decodeHello(b []byte) (h hello, err error) {
	if err := decodePadded(b, &h); err != nil {
		return h, err
	}
	if h.V != version {
		return h, fmt.Errorf("version %d is not spoken here", h.V)
	}
	if h.Limits.Message < 1 || h.Limits.Window < 1 {
		return h, errors.New("limits that let nothing pass")
	}
	return h, nil
}

// padded writes JSON and spaces behind it, so that a handshake's size says
// nothing about names.
func padded(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if n := len(b) % helloSize; n != 0 {
		b = append(b, bytes.Repeat([]byte{' '}, helloSize-n)...)
	}
	if len(b) > maxHelloSize {
		return nil, errors.New("too much for a handshake")
	}
	return b, nil
}

func decodePadded(b []byte, v any) error {
	if len(b) > maxHelloSize {
		return errFrame
	}
	return strict.Decode(b, helloDepth, v)
}
