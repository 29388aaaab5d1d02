// Package log defines the durable, append-only log of rooms: its interface, the
// hash chain over its events, and blobs by digest. Engines are in subfolders; each
// passes the suite in logtest.
package log

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A Pos is a place in one room's log. Seq is dense, 1, 2, 3, ..., and the same
// on every engine; Tok is the engine's own and opaque. The zero Pos is before
// the first event.
type Pos struct{ Seq, Tok uint64 }

// At returns the place of the event with that seq without its Tok. Readers accept
// it; appends need not.
func At(seq int64) Pos { return Pos{Seq: uint64(max(seq, 0))} }

// An Entry is an event as it is stored.
type Entry struct {
	Pos
	Event    room.Event // when Redacted the stub that was left in its place
	Raw      []byte     // its encoded form, what the chain commits to; nil when Redacted
	Salt     []byte     // blinds the commitment; nil when Redacted
	Commit   [32]byte   // H(salt | raw)
	Hash     [32]byte   // H(previous hash | seq | commit)
	Redacted bool
}

// Errors that callers branch on. Engines wrap them.
var (
	// ErrConflict: the tail is not the position given. The caller has been
	// fenced, or must reload.
	ErrConflict = errors.New("log: room has moved on")
	// ErrUnknown: the outcome of the append is not known. Appending the same events at the
	// same position again is always safe.
	ErrUnknown = errors.New("log: outcome unknown")
	// ErrBusy: another process kept the log locked, and nothing was written. It
	// is an ErrUnknown, so the append can be tried again.
	ErrBusy = errors.New("log: locked by another process")
	// ErrCorrupt: what is stored is not what was appended.
	ErrCorrupt = errors.New("log: corrupt")
	// ErrShort: the log of a room has lost its last events. It is an ErrCorrupt.
	ErrShort = errors.New("log: events are missing at the end")
	// ErrLocked: another process holds the room.
	ErrLocked = errors.New("log: room is held by another process")
	// ErrNotFound: no such room, event or blob.
	ErrNotFound = errors.New("log: not found")
	// ErrFailed: an earlier write failed, and this handle acknowledges nothing
	// any more. Reopen it.
	ErrFailed = errors.New("log: an earlier write failed")
)

// An Appender writes.
type Appender interface {
	// Append makes evs durable, all or none, directly after after. When it
	// returns nil they are on stable storage. The same events at the same place
	// again give the stored position and dup; other events at that place, be
	// it with the same ids, are ErrConflict, and so is an id that the room has
	// elsewhere. wake is when the room next has something to do, zero for
	// never; it is stored with them.
	Append(ctx context.Context, room string, after Pos, wake time.Time, evs ...room.Event) (last Pos, dup bool, err error)
	// Lock makes this process the only one that may append to room, until
	// unlock is called or the process ends. ErrLocked names who holds it.
	Lock(ctx context.Context, room string) (unlock func(), err error)
}

// A Reader reads. It checks sequence numbers and the chain of all it returns.
// A place to read from needs no Tok; a snapshot, for one, has none.
type Reader interface {
	// Tail returns the place of the last event, the zero Pos when there is none.
	Tail(ctx context.Context, room string) (Pos, error)
	// Read returns at most max entries after after, oldest first. ErrNotFound:
	// there is no such room, or it ends before after. With an ErrCorrupt it
	// returns the entries before the damage.
	Read(ctx context.Context, room string, after Pos, max int) ([]Entry, error)
	// Follow yields what is stored after after and then what is appended,
	// without gap or duplicate, until ctx ends, which is no error. A room that
	// does not exist yet is waited for.
	Follow(ctx context.Context, room string, after Pos) iter.Seq2[Entry, error]
	// Rooms lists the rooms by id. The error joins the damage of single rooms,
	// and comes with all rooms of which anything is known.
	Rooms(ctx context.Context) ([]Info, error)
	// Due returns the rooms whose wake time is not after now.
	Due(ctx context.Context, now time.Time) ([]string, error)
}

// Info is a room's entry in the index.
type Info struct {
	Room    string
	Last    uint64    // seq of the tail
	Updated time.Time // of the last append; wall time
	Wake    time.Time // zero for never
	Bytes   int64
	Damage  error // why the room cannot be run; nil for an intact one
}

// A Snapshot is the disposable encoded state of a room at Seq.
type Snapshot struct {
	Seq  uint64
	Hash [32]byte // of the chain at Seq
	Data []byte
}

// Snapshots keeps the newest snapshot of each room.
type Snapshots interface {
	Snapshot(ctx context.Context, room string) (Snapshot, error) // ErrNotFound
	PutSnapshot(ctx context.Context, room string, s Snapshot) error
}

// Blobs keeps large payloads once each, by the SHA-256 of their content, hex.
type Blobs interface {
	Blob(ctx context.Context, digest string) ([]byte, error) // ErrNotFound, ErrCorrupt
	PutBlob(ctx context.Context, content []byte) (digest string, err error)
	Digests(ctx context.Context) ([]string, error) // of all blobs, sorted
}

// A Redactor removes the texts of single events, or whole rooms. Redact replaces
// the events with the same seq by stubs (see [room.Event.Redacted]), and removes
// their bytes, their salts and the room's snapshot. It keeps their commitments, so
// that the chain stays verifiable and the room can still be folded.
type Redactor interface {
	Redact(ctx context.Context, room string, stubs ...room.Event) error
	Remove(ctx context.Context, room string) error
}

// A Ledger counts what agents use, over all rooms and processes of a data folder. It
// is apart from the rooms: it remains when a room is removed.
type Ledger interface {
	// Charges returns the charges of agent from after since, also those from a time to
	// come, oldest first.
	Charges(ctx context.Context, agent string, since time.Time) ([]room.BudgetCharge, error)
	// Reserve stores c, of a request that is about to leave, as an open charge if may
	// allows it. may gets the charges of the agent from after since without c; no
	// other process adds one meanwhile. It may be called more than once, and must not
	// use the ledger.
	Reserve(ctx context.Context, c room.BudgetCharge, since time.Time, may func([]room.BudgetCharge) bool) (stored bool, err error)
	// Settle stores c in the place of the open charge with its id, and closes it. It
	// adds c if there is none. A charge that is closed stays as it is.
	Settle(ctx context.Context, c room.BudgetCharge) error
	// Release removes the open charges of a room but those with an id in keep: they were
	// reserved, and what they were for was never stored.
	Release(ctx context.Context, room string, keep ...string) error
	// Agents lists the agents that have charges, sorted.
	Agents(ctx context.Context) ([]string, error)
	// Reset removes the charges of an agent and returns their number.
	Reset(ctx context.Context, agent string) (int, error)
}

// LedgerKept is how long a Ledger keeps a charge at least. It is longer than every
// window, so that a clock that is set forward for a while loses none.
const LedgerKept = 8 * 24 * time.Hour

// A Log is a whole log.
type Log interface {
	Appender
	Reader
	Snapshots
	Blobs
	Redactor
	Ledger
	Close() error
}

// MaxName bounds the id of a room, in bytes.
const MaxName = 512

// CheckName refuses an invalid id of a room. A valid one has 1 to [MaxName] bytes
// of UTF-8 without NUL. The error has the code LOG-ROOM.
func CheckName(room string) error {
	if room == "" || len(room) > MaxName || !utf8.ValidString(room) || strings.ContainsRune(room, 0) {
		return &problem.Error{
			Code: "LOG-ROOM", Where: "room id", What: fmt.Sprintf("%.40q cannot be the id of a room", room),
			Fix: fmt.Sprintf("use 1 to %d bytes of valid UTF-8", MaxName),
		}
	}
	return nil
}
