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
	helloSize    = 1_024 // payloads of handshakes are padded to a multiple of it
	maxHelloSize = 4_096
	streamIDSize = 8
)

// A streamID identifies the frames that one Session has sent since it was
// created or reset. If each side knows the other's stream, both continue after
// a key change. Otherwise both start with frame 1.
type streamID [streamIDSize]byte

// MarshalText writes the id in hexadecimal.
func (s streamID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads the form of MarshalText.
func (s *streamID) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(s)) {
		return errFrame
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// hello is the payload of both handshake messages of a session.
type hello struct {
	V      int                 `json:"v"`
	Limits limits              `json:"limits"`
	Stream streamID            `json:"stream"`
	Knows  *streamID           `json:"knows,omitempty"`  // the peer's stream, if known
	Record *identity.KeyRecord `json:"record,omitempty"` // sent if the peer may not have it
}

type limits struct {
	Message int `json:"message"` // bytes
	Window  int `json:"window"`  // frames
}

func ownLimits() limits { return limits{Message: MaxMessage, Window: windowFrames} }

func (h hello) encode() ([]byte, error) { return padded(h) }

// continues reports whether the sender of h knows the stream of other.
func (h hello) continues(other hello) bool { return h.Knows != nil && *h.Knows == other.Stream }

func decodeHello(b []byte) (h hello, err error) {
	if err := decodePadded(b, &h); err != nil {
		return h, err
	}
	if h.V != version {
		return h, fmt.Errorf("version %d is not supported", h.V)
	}
	if h.Limits.Message < 1 || h.Limits.Window < 1 {
		return h, errors.New("limits below 1")
	}
	return h, nil
}

// padded encodes v as JSON and pads it with spaces, so that the size of a
// handshake does not reveal the length of names.
func padded(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if n := len(b) % helloSize; n != 0 {
		b = append(b, bytes.Repeat([]byte{' '}, helloSize-n)...)
	}
	if len(b) > maxHelloSize {
		return nil, fmt.Errorf("payload over %d bytes", maxHelloSize)
	}
	return b, nil
}

func decodePadded(b []byte, v any) error {
	if len(b) > maxHelloSize {
		return errFrame
	}
	return strict.Decode(b, helloDepth, v)
}
