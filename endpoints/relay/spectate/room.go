// Package spectate lets people on other devices watch rooms of this device and
// speak in them.
//
// The host of a room has a [Server]; a spectator has a [Client]. The client
// sends a subscribe request with the number of the last event that it has. The
// server answers with a snapshot frame of the next events, read from the log,
// and the client asks again. So the server keeps no state for a client: a
// client that is slow or frozen gets nothing until it asks, and one that was
// killed goes on where it was.
//
// Access is denied by default. A device may watch a room when it was paired as
// observer and the room lists it, or its invite names the room. The server
// looks the grant up for each snapshot. The events leave field by field: a
// field that the filter does not name stays on this device.
package spectate

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/room"
)

// A Room is a room that spectators may watch.
type Room interface {
	// ID returns the id of the room.
	ID() string
	// Observers returns the devices that the room lists.
	Observers() []room.Observer
	// Tail returns the number of the last stored event.
	Tail() int64
	// Head returns the first stored events, at most n.
	Head(ctx context.Context, n int) ([]room.Event, error)
	// Watch yields the events after one as a reader of the level sees them: the
	// stored ones, then new ones, until the room stops running or ctx ends.
	Watch(ctx context.Context, after int64, level room.Visibility) iter.Seq2[room.Event, error]
	// Say posts a message of a spectator. A second call with the same id posts
	// nothing. Errors wrap room.ErrOver and room.ErrDenied.
	Say(ctx context.Context, s Spectator, id, text string) error
	// Ending returns how the room stands after Watch has ended by itself. over is
	// false when its host may resume it.
	Ending() (phase room.Phase, reason string, over bool)
}

// A Spectator is a device that watches, and the name of its owner on this
// device.
type Spectator struct {
	Device identity.DeviceID
	Name   string
}

// A ServerConfig says who may watch. Peer and Quota are required.
type ServerConfig struct {
	// Peer looks up a device and its current grant.
	Peer func(identity.DeviceID) (identity.Peer, error)
	// Peers lists all devices. Begin greets those that may watch. May be nil.
	Peers func() ([]identity.Peer, error)
	Quota *quota.Quota
	// Audit is called when a device begins to watch, speaks or is refused. An
	// error refuses. May be nil.
	Audit func(AuditEntry) error
	Log   *slog.Logger
}

// An AuditEntry describes one action of a spectator. It holds no text of a
// message.
type AuditEntry struct {
	Time   time.Time
	Device identity.DeviceID
	Room   string
	Status string // watched, said or refused
	Reason string // a code
}

// Counts are the totals of a server since its start.
type Counts struct {
	Answers, Events  int // sent to spectators
	Said             int // messages posted
	Refused, Limited int
}
