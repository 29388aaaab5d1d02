// Package frame encodes the frames between an endpoint and its relay. They
// carry the end-to-end encrypted payloads, which are opaque here. A frame is
// one binary WebSocket message: a kind byte and a body.
//
//	0x01 HELLO    relay to endpoint  version u8 | challenge[32] | limits as JSON
//	0x02 LOGIN    endpoint to relay  device[32] | signature[64] | token
//	0x03 WELCOME  relay to endpoint  {"limits":{...}}
//	0x04 REJECT   relay to endpoint  code u16 | retry after, ms u32
//	0x10 SEND     endpoint to relay  destination[32] | payload
//	0x11 RECV     relay to endpoint  source[32] | payload
//	0x12 GONE     relay to endpoint  destination[32] | reason u8
//	0x20 RESTART  relay to endpoint  reconnect in, ms u32 | try for, ms u32
//	0x21 HEALTH   relay to endpoint  text
//
// Numbers are big-endian. Decoding is strict: each frame has exactly one
// encoding, JSON included (fields in the order of the structs, no spaces).
// Nothing is allocated in proportion to a length that a frame states.
package frame

import (
	"errors"
	"fmt"
	"strconv"
)

// Subprotocol is the WebSocket subprotocol of these frames.
const Subprotocol = "moot-relay.v1"

// Version is the protocol version in HELLO.
const Version = 1

// Limits in bytes.
const (
	MaxPayload = 65_536                  // of SEND and RECV
	MaxFrame   = 1 + idSize + MaxPayload // the largest frame
	MaxLogin   = 4_096                   // everything that an endpoint may send before WELCOME
	MaxToken   = 512
	MaxText    = 256 // of HEALTH
	maxJSON    = 1_024
)

const (
	idSize        = 32
	signatureSize = 64
	challengeSize = 32
)

// CloseReplaced is the WebSocket close code of a connection that a newer login
// of the same device has replaced.
const CloseReplaced = 4001

// An ID identifies a device: its Ed25519 public key.
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
	KindRestart Kind = 0x20
	KindHealth  Kind = 0x21
)

// ErrFrame is wrapped by errors about malformed frames. Their texts contain
// nothing of the frame.
var ErrFrame = errors.New("not a relay frame")

// ErrVersion reports a HELLO of another protocol version.
var ErrVersion = fmt.Errorf("%w: another version of the protocol", ErrFrame)

func errorf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrFrame}, args...)...)
}

// A Frame is one of the structs of this package.
type Frame interface {
	kind() Kind
	append(b []byte) ([]byte, error)
}

// Limits are the limits that a relay enforces, so that an endpoint can keep
// them.
type Limits struct {
	MaxFrame        int    `json:"max_frame"`         // bytes of a payload
	Queue           int    `json:"queue"`             // frames queued for one destination
	BytesPerSecond  int    `json:"bytes_per_s"`       // read from an endpoint
	Burst           int    `json:"burst"`             // bytes that may come at once
	FramesPerSecond int    `json:"frames_per_s"`      // read from an endpoint
	PingSeconds     int    `json:"ping_s"`            // between pings of the relay
	Binding         string `json:"binding,omitempty"` // BindingExporter, or ""
}

// BindingExporter means that the relay terminates TLS itself and requires a
// signature over the exporter of the connection. An attacker between endpoint
// and relay then cannot pass a login on. See LoginMessage.
const BindingExporter = "tls-exporter"

// Hello is the first frame of a connection.
type Hello struct {
	Version   byte
	Challenge [challengeSize]byte
	Limits    Limits
}

// Login answers Hello. Signature is over LoginMessage.
type Login struct {
	Device    ID
	Signature [signatureSize]byte
	Token     []byte // empty if the relay needs none
}

// Welcome accepts the login and states the limits.
type Welcome struct {
	Limits Limits `json:"limits"`
}

// Reject refuses the login.
type Reject struct {
	Code         RejectCode
	RetryAfterMS uint32 // 0: do not retry
}

// Send asks the relay to forward a payload to a device.
type Send struct {
	To      ID
	Payload []byte
}

// Recv is a forwarded payload. From is stated by the relay and not
// authenticated.
type Recv struct {
	From    ID
	Payload []byte
}

// Gone reports that a frame to a device was not forwarded.
type Gone struct {
	To     ID
	Reason GoneReason
}

// Restart announces that the relay shuts down and will return.
type Restart struct {
	ReconnectInMS uint32 // delay before the first attempt
	TryForMS      uint32 // how long to retry before treating the relay as down
}

// Health is a message for the user of the endpoint. Show it as untrusted text:
// the relay wrote it.
type Health struct {
	Text string
}

func (Hello) kind() Kind   { return KindHello }
func (Login) kind() Kind   { return KindLogin }
func (Welcome) kind() Kind { return KindWelcome }
func (Reject) kind() Kind  { return KindReject }
func (Send) kind() Kind    { return KindSend }
func (Recv) kind() Kind    { return KindRecv }
func (Gone) kind() Kind    { return KindGone }
func (Restart) kind() Kind { return KindRestart }
func (Health) kind() Kind  { return KindHealth }

// A RejectCode is the reason of a refused login.
type RejectCode uint16

// The reasons of a refused login.
const (
	RejectAuth    RejectCode = 1 // the signature is not valid for the device, this relay and this connection
	RejectToken   RejectCode = 2 // the device is not listed and the token is wrong
	RejectFull    RejectCode = 3 // the relay, or the address's quota, is full
	RejectTooMany RejectCode = 4 // too many logins from the address
	RejectVersion RejectCode = 5 // the relay has another version
)

var rejectNames = [...]string{RejectAuth: "auth", RejectToken: "token", RejectFull: "full", RejectTooMany: "too_many", RejectVersion: "version"}

// String returns the code's name.
func (c RejectCode) String() string {
	if c.known() {
		return rejectNames[c]
	}
	return strconv.Itoa(int(c))
}

func (c RejectCode) known() bool { return c >= RejectAuth && c <= RejectVersion }

// A GoneReason is the reason why a frame was not forwarded.
type GoneReason byte

// The reasons why a frame was not forwarded.
const (
	GoneDisconnected GoneReason = 0 // the destination has disconnected
	GoneNotHere      GoneReason = 1 // the destination is not connected
	GoneNotAllowed   GoneReason = 2 // the destination does not accept frames of the sender
	GoneQueueFull    GoneReason = 3 // the destination reads too slowly
)

var goneNames = [...]string{GoneDisconnected: "disconnected", GoneNotHere: "not_here", GoneNotAllowed: "not_allowed", GoneQueueFull: "queue_full"}

// String returns the reason's name.
func (r GoneReason) String() string {
	if r.known() {
		return goneNames[r]
	}
	return strconv.Itoa(int(r))
}

func (r GoneReason) known() bool { return r <= GoneQueueFull }
