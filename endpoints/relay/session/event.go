package session

import (
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// An Event is a notification of a Session, in the order of occurrence. It is
// one of the structs below.
type Event interface{ event() }

// Delivered is a message of the peer. Each message is delivered once and in the
// order of sending.
type Delivered struct{ Message []byte }

// Confirmed reports that the peer's device has received the message with this
// id, as returned by Send. It does not mean that the application has read it.
type Confirmed struct{ ID uint64 }

// Lost reports that it is unknown whether the message arrived. Err is
// ErrUnreachable, ErrForgotten or ErrViolation. It is not sent again.
type Lost struct {
	ID  uint64
	Err error
}

// Connected reports a completed and confirmed handshake. NewStream is true if
// the streams did not continue, because a device restarted or gave up. Open
// requests will then not be answered, and messages of the peer may be missing.
type Connected struct{ NewStream bool }

// Violated reports that the authenticated peer broke the protocol. The session
// starts again. The owner should suspend the peer's seat.
type Violated struct{ Reason string }

// Rotated reports a new session key of the peer. The record has been verified
// and must be stored.
type Rotated struct{ Record identity.KeyRecord }

// Learned reports that the peer knows our session key NK. It must be stored as
// Peer.Mine.
type Learned struct{ NK [32]byte }

func (Delivered) event() {}
func (Confirmed) event() {}
func (Lost) event()      {}
func (Connected) event() {}
func (Violated) event()  {}
func (Rotated) event()   {}
func (Learned) event()   {}

// An Output is what a Session wants its owner to do: send the payloads in this
// order and handle the events.
type Output struct {
	Payloads [][]byte
	Events   []Event
	Next     time.Time // when to call Tick; zero: not before the next input
}
