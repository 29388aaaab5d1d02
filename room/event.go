package room

import "time"

// FormatVersion is the version of the event format that this package writes.
const FormatVersion = 1

// An Event is one entry of a room's log. What it says is in Body; the rest is
// its envelope.
type Event struct {
	V       int           // format version, [FormatVersion]
	Seq     int64         // place in the room's log: 1, 2, 3, ... without gaps
	ID      string        // unique in the room; the idempotency key of an append
	Actor   string        // who caused it: a participant's id, or one of the Actor constants
	Command string        // id of the command that caused it; "" for the room's own
	Epoch   uint64        // ownership epoch of the coordinator that wrote it
	At      time.Time     // wall time, informative only; UTC
	Clock   time.Duration // the room's own running time; limits count it
	Body    Body
}

// Actors that are no participants.
const (
	ActorRoom   = "room"   // the state machine itself: limits, watchdogs
	ActorPolicy = "policy" // the policy in force
	ActorHost   = "host"   // the person or program that hosts the room
)

// A Body is what an event says. The set is sealed: the types of this package
// whose names are listed in [Types].
type Body interface {
	// Type returns the stable name of the body, such as "message.posted".
	Type() string
}
