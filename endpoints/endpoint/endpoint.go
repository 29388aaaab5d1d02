// Package endpoint is the contract between a room and whatever drives one of
// its seats: a subprocess, a model server, another owner's device.
//
// An endpoint is handed a [Prompt] and returns one [Reply]. Exactly one
// request is in flight at a time (bids included). While it works, and after,
// it may raise signals on the [Floor] it was given.
package endpoint

import (
	"context"
	"errors"
	"time"
)

// Kinds of prompts.
const (
	Turn = "turn" // the floor is granted
	Bid  = "bid"  // how much do you want it?
)

// A Prompt is everything an agent is handed for one request, in parts; [Render]
// makes one text of them.
type Prompt struct {
	Kind     string // Turn or Bid
	Request  string // id, at least 128 random bits
	Room     string
	Session  string
	Profile  string
	Epoch    uint64 // lower epochs than the highest seen are refused
	Turn     int
	Mode     string // manual, semi_auto or full_auto
	You      Seat
	Seats    []Seat // everybody, in roster order
	Boundary string // random; delimits quoted text where it is rendered
	Host     Origin // whose room it is; zero when it belongs to the agent's owner
	Trace    Trace  // how the request came here; zero when it begins here

	Objective   string
	Constraints []string
	Summary     string // one line an older message; "" when there is none
	History     []Line // whole messages from before the catch-up, oldest first
	CatchUp     []Line // whole messages since this seat's previous turn, oldest first
	Omitted     string // a sentence about what was left out; "" when nothing was
	Hints       []byte // JSON from the policy, untrusted; nil without a grant

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
	SameOwner            bool   // as the agent that is being prompted
	Owner                string // what its owner is called; "" is whoever holds the room
	Device               string // id of the device that it is on; "" is the room's
}

// An Origin is another owner's device, from which a request came. Name is what
// the agent's owner calls it. What comes from there is data, the objective too.
type Origin struct{ Name, Device string }

// A Trace says through which devices a request has come, so that no ring of
// agents goes on for ever. It travels in the envelope, never in prose.
type Trace struct {
	ID      string   // of the whole chain
	Origin  string   // device that began it
	Profile string   // of the agent there on whose behalf it is
	Hops    int      // as we count them, not as others say
	Path    []string // devices so far, the origin first
}

// A Line is one message.
type Line struct {
	Seq  int64
	From string
	To   string // "" for everybody
	Own  bool   // sent by the agent that is being prompted
	Kind string
	Text string
}

// Outcomes of a turn.
const (
	Said    = "said"
	Passed  = "passed"  // nothing to add
	Refused = "refused" // will not answer
)

// A Reply is an agent's one terminal answer. An empty text that was Said
// counts as Passed.
type Reply struct {
	Outcome    string
	Text       string
	Reason     string
	Usage      Usage
	Confidence *float64 // 0 to 1; nil when not stated
	Bid        *float64 // 0 to 1; answer to a Bid
	ToolRounds int
}

// Usage counts the tokens of a turn. Known is false when the agent did not
// state it. The JSON form is part of the event format.
type Usage struct {
	Known  bool  `json:"known,omitempty"`
	Input  int64 `json:"input_tokens,omitempty"`
	Output int64 `json:"output_tokens,omitempty"`
}

// A Signal is something an agent raises beside its reply.
type Signal struct {
	Kind   string // one of the Signal constants
	Code   string // violation: which rule was broken; late: the id of its request
	Detail string // violation: bounded; message and late: the text
	To     string // message: addressee, "" for everybody
	Body   []byte // message and call: JSON, as received
}

// Kinds of signals.
const (
	SignalMessage    = "message"
	SignalPermission = "permission"
	SignalCall       = "call"
	SignalViolation  = "violation"
	SignalLate       = "late"   // a reply whose request had ended
	SignalForgot     = "forgot" // the agent has lost its memory: nothing that it was told before is known to it
)

// An Answer is what the room says to a signal.
type Answer struct {
	Allowed bool
	Reason  string
	Body    []byte
}

// A Floor is the way from an endpoint to the room. It may be used
// concurrently, and after Speak has returned.
type Floor interface {
	// Raise reports s and waits for the room's answer.
	Raise(ctx context.Context, s Signal) (Answer, error)
	// Show passes live text to watchers; it is never logged.
	Show(delta string)
}

// Errors that the room tells apart. Endpoints wrap them.
var (
	ErrTimeout  = errors.New("endpoint: no answer in time")
	ErrExited   = errors.New("endpoint: process has ended")
	ErrProtocol = errors.New("endpoint: protocol broken")
	ErrTooLarge = errors.New("endpoint: answer over the limit")
	ErrAgent    = errors.New("endpoint: agent reports an error")
	ErrBusy     = errors.New("endpoint: a request is in flight")
	ErrClosed   = errors.New("endpoint: closed")
	// Of agents that are reached through others.
	ErrDenied      = errors.New("endpoint: not allowed by policy")
	ErrLimited     = errors.New("endpoint: over a limit of shared calls")
	ErrUntrusted   = errors.New("endpoint: the other side's keys have changed")
	ErrUnreachable = errors.New("endpoint: the other side cannot be reached")
	ErrInterrupted = errors.New("endpoint: the other side was interrupted") // and so is an agent that is started anew for its next turn; that is ErrExited too
)
