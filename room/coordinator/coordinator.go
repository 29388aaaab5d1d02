package coordinator

import (
	"context"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Policy decides who speaks next. The record is filled in as far as it got
// even when there is an error.
type Policy interface {
	Propose(context.Context, policy.Input) (policy.Decision, policy.Record, error)
}

// An Endpoint drives one seat. Speak returns within a moment of the end of
// its context; Close ends whatever the endpoint has started.
type Endpoint interface {
	Speak(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)
	Close() error
}

// Log is what a room needs of the log.
type Log interface {
	log.Appender
	log.Reader
	log.Snapshots
	Redact(ctx context.Context, room string, stubs ...room.Event) error
}

// RunOptions say how one room is run. The zero value runs a new room, and
// leaves a paused one paused.
type RunOptions struct {
	// Headless makes Run return at the first phase that is not live.
	Headless bool
	// ResumeAs is the person at whose word [Reopen] resumes a paused room; ""
	// leaves it paused.
	ResumeAs string
	// ResumeWith is what that person does before the room runs, a new one too:
	// another policy, other limits, a first message.
	ResumeWith []room.Act
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
	// Endpoint reaches a driven seat. It is called when the seat is first
	// given the floor, and again after its endpoint has ended.
	Endpoint func(context.Context, room.Spec, room.Participant) (Endpoint, error)
	// Owner names this process in the log.
	Owner string
	RunOptions
	// Audit keeps the host log; nil keeps none. An error of it ends the room.
	Audit func(AuditEntry) error
	// Profiles bounds what local agents do across the rooms of one Host; nil
	// bounds only within a room.
	Profiles *Profiles

	hosted bool // the room is ended by its Host: it answers as long as it is loaded
}

// An Update is one thing that a watcher is told: an event, live text, or that
// the room is about to pause.
type Update struct {
	Event       *room.Event // nil for the others
	Participant string      // whose Delta
	Turn        int
	Delta       string // live text; may be dropped, never logged
	Pausing     bool   // nothing is sent from here on; the event follows
}
