// Package session is the endpoint for agent sessions that already run. It starts
// nothing: a session takes its seat by awaiting its turns.
//
// # Lease
//
// [Broker.Await] holds a lease on the seat. The lease runs for 60 s after the last
// await has ended. A session that was given its prompt has until the deadline of the
// turn. The presence of the seat follows from the lease:
//
//	live   an await is in progress
//	idle   none is in progress, and the lease runs
//	away   there is no lease
//
// The broker reports each change to the room, which interrupts the turn of a session
// that leaves. Idle is reported a few seconds late, so that a session that awaits its
// turn in short calls is live throughout.
//
// # Prompts
//
// [Endpoint.Speak] parks the prompt of a turn until the room has ended the turn. Each
// await of the seat is given the parked prompt, again and again. The answer is no
// matter of the broker: it is a command to the room ([room.Answered]), which takes one
// answer to each request and has stored it when the command returns. So neither a
// client nor a host that is killed loses an answer or gives one twice.
//
// If two sessions await the turns of one seat, the newer one takes over, and the older
// one is told ([ErrTakenOver]).
package session

import (
	"context"
	"errors"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
)

// Times of a lease.
const (
	Lease = 60 * time.Second // of a seat after its last await
	// MaxWait bounds one await, so that the connection of a client that has vanished
	// keeps its seat live no longer than a lease.
	MaxWait = 55 * time.Second

	idleAfter = 5 * time.Second // without an await
)

// Errors of [Broker.Await].
var (
	// ErrTakenOver: another await of the seat has begun since.
	ErrTakenOver = errors.New("session: another await has taken the seat over")
	// ErrClosed: the broker is closed.
	ErrClosed = errors.New("session: broker is closed")
)

// A Holder says whose session awaits the turns of a seat. The zero Holder is a session
// on this device.
type Holder struct {
	Device string // id of its device
	Owner  string // the name of the device's owner
}

// A Seat names a seat of a room.
type Seat struct{ Room, Name string }

// A Request names what a session is asked: its id, and the epoch of the process that
// granted the turn.
type Request struct {
	ID    string
	Epoch uint64
}

// A Turn is a prompt that waits for the answer of a session.
type Turn struct {
	Seat
	Request
	Number   int
	Deadline time.Time
	Text     string           // the instructions of the agent's owner and the prompt
	Prompt   *endpoint.Prompt // not changed

	await uint64 // that was given it; see Undelivered
}

// turnOf returns the turn of a prompt.
func turnOf(s Seat, p endpoint.Prompt) Turn {
	t := Turn{Seat: s, Request: Request{p.Request, p.Epoch}, Number: p.Turn, Deadline: time.Now().Add(p.Timeout), Text: p.Text, Prompt: &p}
	if p.Instructions != "" {
		t.Text = p.Instructions + "\n\n" + p.Text
	}
	return t
}

// An Endpoint parks the prompts of one seat.
type Endpoint struct {
	broker *Broker
	seat   Seat
}

// Endpoint returns the endpoint of a seat.
func (b *Broker) Endpoint(s Seat) *Endpoint { return &Endpoint{b, s} }

// Speak parks the prompt until ctx ends: with the turn, which the answer of the
// session ends in the room, or at its deadline.
func (e *Endpoint) Speak(ctx context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
	if p.Kind != endpoint.Turn {
		return endpoint.Reply{}, endpoint.ErrAgent // a session cannot bid
	}
	parked := e.broker.park(turnOf(e.seat, p))
	<-ctx.Done()
	e.broker.remove(parked, errors.Is(ctx.Err(), context.DeadlineExceeded))
	return endpoint.Reply{}, ctx.Err()
}

// Close implements the contract of endpoints. Leases outlive the endpoint.
func (e *Endpoint) Close() error { return nil }

// presence returns the presence of a lease at now, and when it changes by itself;
// the zero time means that it does not.
func (l *lease) presence(now time.Time) (p room.Presence, until time.Time) {
	switch {
	case l.awaiter != nil:
		return room.Live, time.Time{}
	case !now.Before(l.until):
		return room.Away, time.Time{}
	case l.idleAt.Before(l.until) && now.Before(l.idleAt):
		return room.Live, l.idleAt
	}
	return room.Idle, l.until
}
