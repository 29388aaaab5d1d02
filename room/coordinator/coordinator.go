package coordinator

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/oklog/ulid/v2"
)

// A Policy decides who speaks next. The record says how the policy ran, also
// when it failed; the coordinator adds what the room knows of the decision.
type Policy interface {
	Propose(context.Context, policy.Input) (policy.Decision, policy.Record, error)
}

// A QuickPolicy is a [Policy] that knows whether its next decision starts at once and
// takes about a millisecond at most. The loop of a room makes such a decision itself,
// because a change of goroutines costs tens of microseconds. The context of the decision
// ends when the room is paused or stopped, so that a person does not wait for it. Quick is
// called by the loops of many rooms at once.
type QuickPolicy interface {
	Policy
	Quick() bool
}

// An Endpoint drives one seat. Speak returns shortly after its context ends;
// Close ends everything that the endpoint has started.
type Endpoint interface {
	Speak(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)
	Close() error
}

// A Starter is an [Endpoint] whose agent has a start phase. Start returns when the
// agent is ready for a prompt. It is called while no prompt is in flight: when the
// room opens, and after a turn that may have left the agent without a process. It
// does nothing if the agent is ready. It is cancelled by a pause, and called again.
type Starter interface {
	Start(context.Context, endpoint.Floor) error
}

// Log is the part of the log that a room uses.
type Log interface {
	log.Appender
	log.Reader
	log.Snapshots
	log.Ledger
	Redact(ctx context.Context, room string, stubs ...room.Event) error
}

// RunOptions say how one room is run. The zero value runs a new room, and
// leaves a paused one paused.
type RunOptions struct {
	// Headless makes Run return at the first phase that is not live.
	Headless bool
	// Unattended says that no person speaks in the room as its host or joins it. A
	// declined round in which nothing can change any more is then repeated at once,
	// without Limits.DeclineRetry.
	Unattended bool
	// ResumeAs is the person in whose name [Reopen] resumes a paused room; ""
	// leaves it paused.
	ResumeAs string
	// ResumeWith are commands that this person gives before the room runs, also
	// before a new one does: another policy, other limits, a first message.
	ResumeWith []room.Act
	// Interrupt, if not nil, is closed when the caller wants the room to end. It
	// ends the wait for a log that another process keeps locked; Run or Open then
	// returns [log.ErrBusy].
	Interrupt <-chan struct{}
	// Foreground makes a [Host] unload the room when it has ended, and only
	// then. Other rooms of a Host answer commands after their end and are
	// unloaded when they are idle.
	Foreground bool
}

// Config says how rooms are run. Log, Policy and Endpoint are required.
type Config struct {
	Log Log
	// Policy loads the policy that a room names. It is called when the room
	// opens and whenever its policy changes.
	Policy func(context.Context, room.PolicyRef) (Policy, error)
	// Endpoint opens the endpoint of a driven seat. It is called when its agent is
	// started or the seat first gets the floor, and again after its endpoint has
	// ended.
	Endpoint func(context.Context, room.Spec, room.Participant) (Endpoint, error)
	// Owner names this process in the log.
	Owner string
	RunOptions
	// Audit writes to the host log; nil writes none. An error ends the room.
	Audit func(AuditEntry) error
	// Observers are told what the room has stored, for metrics and traces.
	Observers []Observer
	// Busy, if not nil, is told once when a room begins to wait for a log that
	// another process keeps locked. The room waits until that ends.
	Busy func(room string, err error)
	// Waiting, if not nil, is told what of a room waits for a person, whenever that
	// changes, in the order of the changes. It must return at once.
	Waiting func(room.Waiting)
	// Profiles limits each profile to one request at a time in all rooms of one
	// Host; nil sets no limit across rooms.
	Profiles *Profiles

	// Admit, if not nil, refuses a stored room that this process may not run. Nothing is
	// stored then.
	Admit func(*room.State) error

	// Shared says that other processes may take rooms over that run here. A command that
	// such a process can carry out is refused with [ErrMoved].
	Shared bool

	host   *Host // that runs the room; nil for none
	hosted bool  // a Host ends the room: it answers commands as long as it is loaded
}

// An Update is an event, a piece of live text, a tool call of the turn that runs, or
// the notice that the room is about to pause.
type Update struct {
	Event       *room.Event // nil for live text, tool calls and notices
	Participant string      // the author of Delta or Tool
	Turn        int
	Delta       string         // live text; may be dropped, never logged
	Tool        *room.ToolCall // has begun or changed; like Delta. Its ID is unique within the turn
	Pausing     bool           // the room sends nothing any more; the event follows
}

// VisibleAt reports whether a reader with that level gets u, if it is no event. Live
// text and tool calls may become a draft or an internal message.
func (u Update) VisibleAt(level room.Visibility) bool {
	return u.Delta == "" && u.Tool == nil || level == room.Internal
}

// AuditEntry is one request to an agent or to the room, and how it ended. It
// holds no text of a message.
type AuditEntry struct {
	Time      time.Time
	Profile   string // of the seat, or its id when it has no profile
	Device    string // the seat's device; "" is this one
	Requester string // the actor of the command
	Room      string
	Turn      int
	Mode      string
	Status    string // granted, posted, passed, drafted, rejected, failed, interrupted, late, violation or refused
	Reason    string
	Took      time.Duration
}

// Profiles allows one request of each profile at a time, in all rooms of a
// Host. The nil Profiles sets no limit. It is safe for concurrent use.
type Profiles struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // semaphore of each profile
}

// acquire waits until the profile has no other request in flight.
func (p *Profiles) acquire(ctx context.Context, profile string) (release func(), err error) {
	if p == nil || profile == "" {
		return func() {}, nil
	}
	p.mu.Lock()
	if p.busy == nil {
		p.busy = map[string]chan struct{}{}
	}
	slot, ok := p.busy[profile]
	if !ok {
		slot = make(chan struct{}, 1)
		p.busy[profile] = slot
	}
	p.mu.Unlock()
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ErrFenced reports that another process has taken the room over.
var ErrFenced = errors.New("coordinator: another process owns the room")

// ErrClosed reports a command to a room that is not running.
var ErrClosed = errors.New("coordinator: room is not running")

// ErrMoved reports a command that was not carried out, because another process has the
// room now.
var ErrMoved = errors.New("coordinator: room has moved to another process")

func existsError(id string) error {
	return &problem.Error{Code: "ROOM-EXISTS", What: "room " + id + " exists", Fix: "reopen it with `moot run --room " + id + "`"}
}

// effectError says that an effect cannot be started. It ends the room.
type effectError struct {
	code string
	err  error
}

// command returns the command that records the error.
func (e *effectError) command() room.Command {
	return room.Command{Actor: room.ActorRoom, Do: room.Broken{Code: e.code, Reason: e.err.Error()}}
}

// fatalError marks an error after which the room cannot go on in this process.
type fatalError struct{ error }

func (f fatalError) Unwrap() error { return f.error }

// fatalCause returns the error with which Run ends, or nil when err does not
// end it.
func fatalCause(id string, err error) error {
	f, ok := errors.AsType[fatalError](err)
	if !ok {
		return nil
	}
	if errors.Is(f.error, log.ErrConflict) {
		return &problem.Error{
			Code: "ROOM-FENCED", What: "another process has taken the room over", Where: "room " + id, Err: f.error, Kind: ErrFenced,
			Fix: "use the room in that process; `moot ls` names it",
		}
	}
	return f.error
}

// NewRoomID returns a new id of a room. Ids sort by the time they were made.
func NewRoomID() string { return "r_" + strings.ToLower(ulid.Make().String()) }

// random returns 128 random bits in hex.
func random() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
