// Package hold lets a session on a paired device hold a seat of a room of this one.
//
// The device of the room has a [Server]. It gives a seat to the one device whose
// invite was for that seat, and to no other. The leases of the seats, the prompts that
// wait and the answers are the room's, as for a session on its own device; see package
// session of the endpoints. So nothing is answered twice when a device is killed.
//
// The device of the session has a [Client]. It sends an await or an answer again when
// it was lost, with the same id.
package hold

import (
	"context"
	"log/slog"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/room"
)

// An Answer is that of a session to the request of its turn. Without a request it
// answers the newest one that the seat was given.
type Answer struct {
	Request string
	Epoch   uint64
	endpoint.Reply
}

// An Answered says how the room has recorded an answer.
type Answered struct {
	Outcome string // one of package wire's
	Turn    int
	Seq     int64 // of the event
}

// A Turn is what an await of a device has brought. Without a Text it is not the turn of
// the seat yet, or the room is over.
type Turn struct {
	session.Turn
	Over room.Phase // in which the room has ended; "" while it runs
}

// A ServerConfig says which seats there are. All but Audit and Log are required.
type ServerConfig struct {
	// Peer returns a paired device.
	Peer func(identity.DeviceID) (identity.Peer, error)
	// Await and Answer do for a session what they do for one on this device. The
	// error of Await wraps [room.ErrOver] when the room has ended.
	Await  func(ctx context.Context, s session.Seat, by session.Holder, wait time.Duration, fresh bool) (session.Turn, bool, error)
	Answer func(ctx context.Context, s session.Seat, a Answer) (Answered, error)
	// Phase returns the phase of a room.
	Phase func(ctx context.Context, room string) room.Phase
	// Undelivered says that a turn did not reach the device of its session, and Leave
	// that a device may not hold a seat any more.
	Undelivered func(session.Turn)
	Leave       func(s session.Seat, device string)
	// Audit records that a device has taken a seat, has answered or was refused. An
	// error refuses the request.
	Audit func(AuditEntry) error
	Log   *slog.Logger
}

// An AuditEntry describes one request of another device. It holds no text of a
// message.
type AuditEntry struct {
	Time   time.Time
	Device identity.DeviceID
	Room   string
	Seat   string
	Status string // held, answered or refused
	Reason string // a code
}
