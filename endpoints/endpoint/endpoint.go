// Package endpoint is the contract between a room and the driver of one of its
// seats: a subprocess, a model server or another owner's device.
//
// An endpoint gets a [Prompt] and returns one [Reply]. At most one request is in
// flight at a time, bids included. During a request, and afterwards, an endpoint
// may raise signals on the [Floor] that it was given.
package endpoint

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kinds of prompts.
const (
	Turn = "turn" // the floor is granted
	Bid  = "bid"  // the agent states how much it wants the floor
)

// MaxID is the largest length of an id, in bytes.
const MaxID = 32

// ValidID reports whether s has the form of an id in room.yaml: a letter, then
// letters, digits, '_' and '-', at most MaxID in all.
func ValidID(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '_' && c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= MaxID
}

// A Prompt is all that an agent gets for one request: one text and its parts.
// [Rendered] sets the text. It is called once for each prompt, by the
// host of the agent: the coordinator, or the share for the room of another owner.
// Endpoints hand Text on and never render again.
type Prompt struct {
	Text     string // all parts as one text; see Rendered
	Kind     string // Turn or Bid
	Request  string // id, at least 128 random bits
	Room     string
	Session  string
	Profile  string
	Epoch    uint64 // of the process that runs the room; a lower one than before is refused
	Turn     int
	Mode     string // manual, semi_auto or full_auto
	You      Seat
	Seats    []Seat // all participants, in roster order
	Boundary string // random; delimits quoted text in the rendered prompt
	Host     Origin // owner of the room; zero if that is the agent's owner
	Trace    Trace  // devices that the request has passed; zero if it begins here

	Objective   string
	Constraints []string
	Summary     string // one line for each older message; "" without any
	Inbox       []Line // messages to this seat that come first: urgent ones, and older ones that it has not been given or not acknowledged
	History     []Line // whole messages from before the catch-up, oldest first
	CatchUp     []Line // whole messages since this seat's previous turn, oldest first
	Mail        []Mail `json:",omitempty"` // messages to this seat that are to be dealt with, as data; their texts are in the lines too
	Omitted     Omitted
	Hints       []byte // JSON of the policy, untrusted; may be nil

	// Duty is the agent's part in the protocol of a manager and its workers, which the
	// text then describes: DutyManager, DutyWorker or "".
	Duty string `json:",omitempty"`

	// Call is the task of an agent that another agent has called; nil for others.
	Call *Call `json:",omitempty"`

	// Instructions are those of the agent's owner for this seat. They are no part of
	// Text, on which they have no influence, and the host of another owner's room
	// never sets them.
	Instructions string `json:"-"`

	MaxOutputChars  int
	MaxHistoryTurns int
	MaxHistoryChars int
	MaxToolRounds   int
	AllowToolUse    bool
	Timeout         time.Duration
}

// A Seat is a participant as others see it.
type Seat struct {
	ID, Name, Kind, Role string
	Domains              []string
	SameOwner            bool   // the same as the prompted agent's
	Owner                string // name of the owner; "" is the room's owner
	Device               string // id of its device; "" is the room's device
}

// An Origin is the device of another owner from which a request came. Name is the
// name that the agent's owner gave it. All text of such a request is data, the
// objective included.
type Origin struct{ Name, Device string }

// A Trace lists the devices that a request has passed, so that a ring of agents
// is detected. It travels in the envelope, never in the text.
type Trace struct {
	ID      string   // of the whole chain
	Origin  string   // device that began it
	Profile string   // of the agent there on whose behalf the request is
	Hops    int      // as counted by this device
	Path    []string // devices so far, the origin first
}

// A Line is one message.
type Line struct {
	Seq  int64
	From string
	To   string // "" is all participants
	Own  bool   // sent by the prompted agent
	Kind string
	Text string
	// ID is the message_id of a typed message, which answers and acknowledgements
	// name; "" for ordinary talk. Ack says that its sender asks for an acknowledgement.
	ID  string
	Ack bool
	// For is the participant that a person addressed, of a request that the manager got
	// instead.
	For string
	// Claimed means that only the host of the room says that the agent sent the
	// message: the agent's device has no record of it. Own is set too.
	Claimed bool
	// FromSession is the agent session of another room that sent the message through
	// the host; "" for messages of this room.
	FromSession string
}

// Outcomes of a turn.
const (
	Said    = "said"
	Passed  = "passed"  // nothing to add
	Refused = "refused" // the agent declines to answer
)

// A Reply is the one answer of an agent to a prompt. An empty text that was Said
// counts as Passed.
type Reply struct {
	Outcome    string
	Text       string
	Reason     string
	Usage      Usage
	Confidence *float64 // 0 to 1; nil if not stated
	Bid        *float64 // 0 to 1; the answer to a Bid
	ToolRounds int
	Tools      []ToolCall // of the turn, in their order; the room bounds and cleans them
	Handoff    *Handoff   // who should go on; nil if it names nobody

	// Cut says that Text is only the beginning of the answer, for example because
	// the model reached its limit of tokens.
	Cut bool
}

// A Signal is a report of an endpoint to the room, apart from the reply.
type Signal struct {
	Kind   string // one of the Signal constants
	Code   string // violation: the broken rule; late: the id of the request; exited: one of the Exited constants; claim: the id of the task
	Detail string // violation: bounded; message and late: the text; exited: why
	To     string // message: the addressee, "" for all participants
	Body   []byte // message and call: JSON, as received

	Permission *Permission // permission: what the agent wants to do
	Post       *Post       // message: its envelope; nil for plain talk
	Of         []string    // ack: the ids of the messages
}

// Kinds of signals.
const (
	SignalMessage    = "message"
	SignalPermission = "permission"
	SignalCall       = "call"
	SignalAck        = "ack"   // the agent has taken note of messages
	SignalClaim      = "claim" // the agent takes a task of the plan
	SignalViolation  = "violation"
	SignalLate       = "late"   // a reply whose request has ended
	SignalForgot     = "forgot" // the agent has lost all that it was told
	SignalExited     = "exited" // the agent's process has ended
)

// Codes of SignalExited.
const (
	ExitedRestarts = "interrupted" // a start replaces the process
	ExitedForGood  = "exited"      // each request fails from now on
)

// An Answer is the room's answer to a signal.
type Answer struct {
	Allowed bool
	Always  bool   // permission: the agent need not ask for the like again
	By      string // permission: the id of the person, or RuledBy or NoAnswer
	Reason  string
	Body    []byte // call: the answer; typed message: its message_id, state and reason; question: the values that were filled in, a JSON object
	// Reasons say of an ack why the room refuses each of the messages, "" if it does
	// not. Allowed is set if it refuses none.
	Reasons []string
}

// A Floor takes the signals of an endpoint to the room. Its methods may be called
// concurrently, and after Speak has returned.
type Floor interface {
	// Raise reports s and waits for the room's answer.
	Raise(ctx context.Context, s Signal) (Answer, error)
	// Show passes live text to watchers, and ShowTool a tool call that has begun or
	// changed. Neither is logged.
	Show(delta string)
	ShowTool(call ToolCall)
}

// Errors that the room distinguishes. Endpoints wrap them.
var (
	ErrTimeout  = errors.New("endpoint: no answer in time")
	ErrExited   = errors.New("endpoint: process has ended")
	ErrProtocol = errors.New("endpoint: protocol broken")
	ErrTooLarge = errors.New("endpoint: answer over the limit")
	ErrAgent    = errors.New("endpoint: agent reports an error")
	ErrBusy     = errors.New("endpoint: a request is in flight")
	ErrClosed   = errors.New("endpoint: closed")
	// ErrSignIn is an ErrAgent: the agent answers after its owner has signed in.
	ErrSignIn = fmt.Errorf("%w: its owner has to sign in", ErrAgent)
	// Errors of agents on other devices.
	ErrDenied      = errors.New("endpoint: not allowed by policy")
	ErrLimited     = errors.New("endpoint: over a limit of shared calls")
	ErrUntrusted   = errors.New("endpoint: the other side's keys have changed")
	ErrUnreachable = errors.New("endpoint: the other side cannot be reached")
	// ErrInterrupted together with ErrExited means that the agent is restarted for
	// its next turn.
	ErrInterrupted = errors.New("endpoint: the other side was interrupted")
	// ErrMoved is the cause of a context that ends because the room goes on in another
	// process. If the agent keeps its answer by the id of the request, the request is not
	// cancelled: the other process sends it again.
	ErrMoved = errors.New("endpoint: the room goes on in another process")
)
