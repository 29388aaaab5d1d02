// Package frame is the wire between an endpoint and its relay: what is sent
// before, beside and around the end-to-end encrypted payloads, which are
// opaque here. A frame is one binary WebSocket message: a kind, and what the
// kind says.
//
//	0x01 HELLO    relay to endpoint  version u8 | challenge[32] | limits as JSON
//	0x02 LOGIN    endpoint to relay  device[32] | signature[64] | token
//	0x03 WELCOME  relay to endpoint  {"limits":{...}}
//	0x04 REJECT   relay to endpoint  code u16 | retry after, ms u32
//	0x10 SEND     endpoint to relay  destination[32] | payload
//	0x11 RECV     relay to endpoint  source[32] | payload
//	0x12 GONE     relay to endpoint  destination[32] | reason u8
//	0x13 ALLOW    endpoint to relay  device[32]...
//	0x20 RESTART  relay to endpoint  reconnect in, ms u32 | try for, ms u32
//	0x21 HEALTH   relay to endpoint  text
//
// Numbers are big-endian. Decoding is strict: what Decode takes, Append gives
// back byte for byte, so there is one way to write a frame, its JSON included
// (the fields in the order of the structs, no spaces). Nothing is allocated
// in proportion to a length that a frame claims.
package frame

import (
	"errors"
	"fmt"
)

// Subprotocol is the WebSocket subprotocol of these frames.
const Subprotocol = "moot-relay.v1"

// Version is the version that HELLO states.
const Version = 1

// Bounds in bytes, but for MaxAllowed.
const (
	MaxPayload = 65_536                  // of SEND and RECV
	MaxFrame   = 1 + idSize + MaxPayload // the largest frame there is
	MaxLogin   = 4_096                   // all that an endpoint may send before it is welcomed
	MaxToken   = 512
	MaxText    = 256   // of HEALTH
	MaxAllowed = 1_024 // devices in ALLOW
	maxJSON    = 1_024
)

const (
	idSize        = 32
	signatureSize = 64
	challengeSize = 32
)

// CloseReplaced is the WebSocket close code of a connection whose device has
// logged in again elsewhere.
const CloseReplaced = 4001

// An ID names a device: its Ed25519 public key.
type ID = [idSize]byte

// A Kind is a frame's first byte.
type Kind byte

// The kinds of frames.
const (
	KindHello   Kind = 0x01
	KindLogin   Kind = 0x02
	KindWelcome Kind = 0x03
	KindReject  Kind = 0x04
	KindSend    Kind = 0x10
	KindRecv    Kind = 0x11
	KindGone    Kind = 0x12
	KindAllow   Kind = 0x13
	KindRestart Kind = 0x20
	KindHealth  Kind = 0x21
)

// ErrFrame is what errors about a frame that is not well formed are, or that
// cannot be written. Their texts hold nothing of the frame's content.
var ErrFrame = errors.New("not a relay frame")

// ErrVersion says that a HELLO is of another version.
var ErrVersion = fmt.Errorf("%w: another version of the protocol", ErrFrame)

func errorf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrFrame}, args...)...)
}

// A Frame is one of the structs of this package.
type Frame interface {
	Kind() Kind
	append(b []byte) ([]byte, error)
}

// Limits is what a relay enforces, so that an endpoint can keep to it.
type Limits struct {
	MaxFrame        int    `json:"max_frame"`         // bytes of a payload
	Queue           int    `json:"queue"`             // frames that wait for one destination
	BytesPerSecond  int    `json:"bytes_per_s"`       // that are read from an endpoint
	Burst           int    `json:"burst"`             // bytes that may come at once
	FramesPerSecond int    `json:"frames_per_s"`      // that are read from an endpoint
	PingSeconds     int    `json:"ping_s"`            // between pings of the relay
	Binding         string `json:"binding,omitempty"` // BindingExporter, or ""
}

// BindingExporter says that the relay terminates TLS itself and wants the
// connection's exporter signed too, so that no one between can pass a login
// on. See LoginMessage.
const BindingExporter = "tls-exporter"

// Hello opens a connection.
type Hello struct {
	Version   byte
	Challenge [challengeSize]byte
	Limits    Limits
}

// Login answers Hello. Signature is over LoginMessage.
type Login struct {
	Device    ID
	Signature [signatureSize]byte
	Token     []byte // empty where the relay wants none
}

// Welcome says that the login was accepted, and which limits hold.
type Welcome struct {
	Limits Limits `json:"limits"`
}

// Reject says that it was not.
type Reject struct {
	Code         RejectCode
	RetryAfterMS uint32 // 0: trying again will not help by itself
}

// Send asks the relay to pass a payload to a device.
type Send struct {
	To      ID
	Payload []byte
}

// Recv is a payload that arrived. From is what the relay says.
type Recv struct {
	From    ID
	Payload []byte
}

// Gone says that a frame to a device was not passed on.
type Gone struct {
	To     ID
	Reason GoneReason
}

// Allow lists the only devices that may send to the one that says so. An
// empty list allows none.
type Allow struct {
	Devices []ID
}

// Restart announces that the relay ends and will be back.
type Restart struct {
	ReconnectInMS uint32 // wait that long before the first attempt
	TryForMS      uint32 // and keep trying for that long before giving it up for down
}

// Health is a sentence for the person at the endpoint. It is the relay's
// word: whoever shows it treats it as text of a stranger.
type Health struct {
	Text string
}

// Kind returns the frame's first byte.
func (Hello) Kind() Kind { return KindHello }

// Kind returns the frame's first byte.
func (Login) Kind() Kind { return KindLogin }

// Kind returns the frame's first byte.
func (Welcome) Kind() Kind { return KindWelcome }

// Kind returns the frame's first byte.
func (Reject) Kind() Kind { return KindReject }

// Kind returns the frame's first byte.
func (Send) Kind() Kind { return KindSend }

// Kind returns the frame's first byte.
func (Recv) Kind() Kind { return KindRecv }

// Kind returns the frame's first byte.
func (Gone) Kind() Kind { return KindGone }

// Kind returns the frame's first byte.
func (Allow) Kind() Kind { return KindAllow }

// Kind returns the frame's first byte.
func (Restart) Kind() Kind { return KindRestart }

// Kind returns the frame's first byte.
func (Health) Kind() Kind { return KindHealth }
