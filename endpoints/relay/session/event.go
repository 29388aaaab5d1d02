package session

import (
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// An Event is what a Session tells its owner, in the order in which it
// happened: one of the structs below.
type Event interface{ event() }

// Delivered is a message of the other side. It comes once, and after all that
// were sent before it.
type Delivered struct{ Message []byte }

// Confirmed says that the other device has the message with this number, of
// Send. It does not say that anybody has read it.
type Confirmed struct{ ID uint64 }

// Lost says that nobody will know whether the message arrived: ErrUnreachable,
// ErrForgotten, ErrViolation or ErrClosed. It is not sent again.
type Lost struct {
	ID  uint64
	Err error
}

// Connected says that a handshake is complete and confirmed. Fresh is true
// when the other device does not continue what was before: it was started
// again, or one of the two gave up. What it was asked before will not be
// answered, and messages of it may be missing from here on.
type Connected struct{ NewStream bool }

// Closed says that the other side has closed the session in good order.
type Closed struct{}

// Violated says that the other device, and nobody else, has sent what no
// device sends. The session starts anew; its seat should be suspended.
type Violated struct{ Reason string }

// Rotated says that the other device has a new session key: its record has
// been checked and belongs into the store.
type Rotated struct{ Record identity.KeyRecord }

// Learned says that the other device knows our session key NK, which belongs
// into the store as Peer.Mine.
type Learned struct{ NK [32]byte }

func (Delivered) event() {}
func (Confirmed) event() {}
func (Lost) event()      {}
func (Connected) event() {}
func (Closed) event()    {}
func (Violated) event()  {}
func (Rotated) event()   {}
func (Learned) event()   {}

// An Output is what a Session wants done: payloads to be sent, in this order,
// and events.
type Output struct {
	Payloads [][]byte
	Events   []Event
	Next     time.Time // when to call Tick; zero: not before something arrives
}
