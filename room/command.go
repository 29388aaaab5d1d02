package room

import (
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
)

// A Command asks for a change. [State.Decide] returns the events that record
// it. A command whose ID the room has seen before changes nothing.
type Command struct {
	ID    string // idempotency key; "" for commands of the coordinator itself
	Actor string // its author: a participant's id or an Actor constant
	Via   string // how a person gave it, such as "terminal" or "http"; "" is unknown
	Do    Act
}

// Now is the time of a decision. The coordinator supplies it.
type Now struct {
	Wall  time.Time     // recorded, never compared
	Clock time.Duration // the room's running time; stands still while paused
}

// An Act is the request of a command: one of the types below.
type Act interface{ act() }

// Acts of people. Those marked (control) need an actor that is ActorHost, a
// person of the room, or a moderator's seat.
type (
	// Say posts a message.
	Say struct {
		Text       string
		To         string // "" for everybody
		As         string // a seat that the actor has taken over; "" for the actor
		Kind       string // "" is KindUtterance
		Visibility Visibility
		MessageID  string // "" lets the room name it
		Opening    bool   // it opens the conversation; see [MessagePosted]

		Source      string // where it was written: "" is SourceUser; see [Message]
		FromSession string // the agent session that sent it, which the caller has authenticated
		Applet      string // the program that sent it, as the caller knows it; only of SourceApplet
	}
	// Pause, Resume, Stop and Complete (control).
	Pause    struct{ Reason string }
	Resume   struct{}
	Stop     struct{ Reason string }
	Complete struct{ Reason string }
	// TakeOver hands an agent's seat to the actor; Release hands it back
	// (control).
	TakeOver struct{ Participant string }
	Release  struct{ Participant string }
	// Approve, Edit and Reject decide about a draft, named by its hash. Edit
	// voids the approval; with Approve set it approves the new text (control).
	Approve struct{ Draft string }
	Edit    struct {
		Draft, Text string
		Approve     bool
	}
	Reject struct{ Draft, Reason string }
	// Permit answers the permission request with that id (control). Always lets the
	// agent remember the answer, if it offers that. Absent refuses a request because
	// no person is there to answer; it is not recorded as the actor's answer. A
	// question is answered with Values, a JSON object; not allowed, it is declined.
	Permit struct {
		ID              string
		Allowed, Always bool
		Absent          bool
		Reason          string
		Values          policy.JSON
	}
	// SetMode changes the mode of an agent's seat until the room ends; "" restores
	// the mode with which it joined (control).
	SetMode struct {
		Participant string
		Mode        Mode
	}
	// Next gives the floor to a participant without asking the policy
	// (control).
	Next struct {
		Participant string
		Grant       Grant
	}
	// Join adds a person of another device to a running room. The caller has
	// authenticated the device. The person may speak and has no control (control).
	Join struct{ Participant Participant }
	// SetStanding mutes, suspends, restores or removes a seat (control).
	SetStanding struct {
		Participant string
		Standing    Standing
		Reason      string
	}
	// Redact removes the text of an event (control). Drafts are the other
	// events with its text: drafts of a message, and the change of the plan.
	Redact struct {
		Target int64
		Reason string
		Drafts []int64
	}
	// SetPolicy and SetLimits change the room while it runs (control).
	SetPolicy struct{ Policy PolicyRef }
	SetLimits struct{ Limits Limits }
)

// Acts of the coordinator.
type (
	// Open makes the room; Claim starts an ownership epoch of it. Restart says that the
	// previous epoch did not end by itself.
	Open struct {
		Spec         Spec
		Participants []Participant
	}
	Claim struct {
		Owner   string
		Restart bool
	}
	// Decided is a decision of the policy. Grant is set when it names a speaker.
	// Unattended says that no person watches the room who could speak as its host.
	Decided struct {
		Decision   policy.Decision
		Record     policy.Record
		Grant      Grant
		Unattended bool
	}
	// PolicyFailed says that the policy gave no valid decision.
	PolicyFailed struct{ Record policy.Record }
	// BidMade is an agent's bid. Failed says why it gave none.
	BidMade struct {
		Decision    int64
		Participant string
		Bid         policy.Bid
		Failed      string
	}
	// Replied ends a request that was granted with the agent's answer.
	Replied struct {
		Turn        int
		Participant string
		Request     string
		endpoint.Reply
		Latency time.Duration
	}
	// Failed ends a request without a reply.
	Failed struct {
		Turn    int
		Request string
		Code    string
		Error   string
		Usage   Usage
		Latency time.Duration

		ToolCalls int // of a seat with a Budget
	}
	// Posted is a message that an agent sends in addition to its replies.
	Posted struct{ Message Message }
	// Violated reports that an endpoint broke its protocol.
	Violated struct {
		Participant, Code, Detail string
	}
	// Started ends a start of an agent. A Code that is not empty says that it failed.
	Started struct {
		Participant string
		Attempt     int64 // of the effect
		Code, Error string
		Latency     time.Duration
	}
	// Exited reports that an agent has ended outside its turns.
	Exited struct {
		Participant, Code, Error string
	}
	// Asked is a permission request of the agent that has the turn with that request.
	// Answer is set if a rule of the owner answers it, or if no person can be asked.
	// Withdrawn says that the agent does not wait for the answer any more.
	Asked struct {
		Request    string
		Permission Permission
		Answer     *endpoint.Answer
		SignIn     bool // the coordinator asks, because the agent's owner has to sign in
	}
	Withdrawn struct{ ID string }
	// Forgot reports that an agent has lost its memory.
	Forgot struct{ Participant string }
	// Broken ends the room: its log or a guard failed.
	Broken struct{ Code, Reason string }
	// Tick reports that time has passed; see [State.Deadline].
	Tick struct{}
)

// A Grant is what the coordinator knows of the prompt of the participant that
// is about to get the floor.
type Grant struct {
	Request string // id of the request, at least 128 random bits
	Window  Window // of the prompt: the result of [State.WindowFor] in the same state
	Prompt  string // SHA-256 of the prompt, hex
	Tokens  int64  // estimate of the prompt
}

func (Say) act()          {}
func (Pause) act()        {}
func (Resume) act()       {}
func (Stop) act()         {}
func (Complete) act()     {}
func (TakeOver) act()     {}
func (Release) act()      {}
func (Approve) act()      {}
func (Edit) act()         {}
func (Reject) act()       {}
func (Permit) act()       {}
func (SetMode) act()      {}
func (Next) act()         {}
func (Join) act()         {}
func (SetStanding) act()  {}
func (Redact) act()       {}
func (SetPolicy) act()    {}
func (SetLimits) act()    {}
func (Open) act()         {}
func (Claim) act()        {}
func (Decided) act()      {}
func (PolicyFailed) act() {}
func (BidMade) act()      {}
func (Replied) act()      {}
func (Failed) act()       {}
func (Posted) act()       {}
func (Violated) act()     {}
func (Started) act()      {}
func (Exited) act()       {}
func (Asked) act()        {}
func (Withdrawn) act()    {}
func (Forgot) act()       {}
func (Broken) act()       {}
func (Tick) act()         {}
