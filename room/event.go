package room

import (
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/explore"
)

// FormatVersion is the version of the event format that this package writes.
const FormatVersion = 1

// An Event is one entry of a room's log. Its content is in Body; the other
// fields are its envelope.
type Event struct {
	V       int           // format version, [FormatVersion]
	Seq     int64         // place in the room's log: 1, 2, 3, ... without gaps
	ID      string        // unique in the room; the idempotency key of an append
	Actor   string        // its cause: a participant's id, or one of the Actor constants
	Command string        // id of the command that caused it; "" for the room's own
	Via     string        // how a person gave that command; see [Command]
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

// A Body is the content of an event. The set is sealed: the types of this
// package whose names [Types] lists.
type Body interface {
	// Type returns the stable name of the body, such as "message.posted".
	Type() string
}

// Bodies of events by topic. Their JSON forms are the log's format: fields
// are added, never renamed or removed.
type (
	// Opened is the first event of every room.
	Opened struct {
		Spec Spec `json:"spec"`
	}
	// Claimed starts an ownership epoch: a coordinator has opened the room.
	Claimed struct {
		Owner   string `json:"owner"`
		Restart bool   `json:"restart,omitempty"` // the previous epoch did not end by itself
	}
	// Joined adds a seat.
	Joined struct {
		Participant Participant `json:"participant"`
	}
	// SeatChanged changes the standing of a seat. Failed says that the room
	// itself suspended it, for its failures or violations.
	SeatChanged struct {
		Participant string   `json:"participant"`
		Standing    Standing `json:"standing"`
		Reason      string   `json:"reason,omitempty"`
		Failed      bool     `json:"failed,omitempty"`
	}
	// SeatTaken hands an agent's seat to a person; SeatReleased hands it back.
	SeatTaken struct {
		Participant string `json:"participant"`
		By          string `json:"by"`
	}
	SeatReleased struct {
		Participant string `json:"participant"`
	}
	// ModeChanged changes the mode of a seat until the room ends. The mode "" is that
	// with which the seat joined.
	ModeChanged struct {
		Participant string `json:"participant"`
		Mode        Mode   `json:"mode,omitempty"`
	}
	// SeatForgot records that the agent of a seat has lost its memory. Its next
	// window is a full one.
	SeatForgot struct {
		Participant string `json:"participant"`
	}
	// SeatReady records that the agent of a seat has started. The seat may get the
	// floor from now on.
	SeatReady struct {
		Participant string        `json:"participant"`
		Latency     time.Duration `json:"latency_ns"`
	}
	// PresenceChanged records that a running session has come, awaits its turn, or
	// has left. Request is the one that it has left open; [Event] has the epoch.
	// Device and Owner are those of a session on the device of another owner. Host is
	// the [Spec.Device] from now on.
	PresenceChanged struct {
		Participant string   `json:"participant"`
		Presence    Presence `json:"presence"`
		Request     string   `json:"request,omitempty"`
		Device      string   `json:"device,omitempty"`
		Owner       string   `json:"owner,omitempty"`
		Host        string   `json:"host,omitempty"`
	}
	// SeatFailed records that the agent of a seat failed outside a turn: it could
	// not be started, was not ready in time, or its process has ended. It is
	// started again unless the seat is suspended.
	SeatFailed struct {
		Participant string        `json:"participant"`
		Code        string        `json:"code"` // as in TurnFailed
		Error       string        `json:"error"`
		Latency     time.Duration `json:"latency_ns,omitempty"`
	}
	// PolicyChanged puts another policy in force.
	PolicyChanged struct {
		Policy PolicyRef `json:"policy"`
	}
	// LimitsChanged replaces the limits. Only a person raises one.
	LimitsChanged struct {
		Limits Limits `json:"limits"`
	}

	// BidPosted is an agent's answer to a request for a bid. Failed says why it
	// gave none.
	BidPosted struct {
		Decision    int64      `json:"decision"`
		Participant string     `json:"participant"`
		Bid         policy.Bid `json:"bid"`
		Failed      string     `json:"failed,omitempty"`
	}
	// RoundDeclined records that the policy declined a round. In an imported room it
	// records a silence of the source: then Record is zero, and Silent has the participants
	// that could have spoken, if the source names them.
	RoundDeclined struct {
		Record policy.Record `json:"record,omitzero"`
		Reason string        `json:"reason"`
		Retry  time.Duration `json:"retry_ns"`
		Silent []string      `json:"silent,omitempty"`
	}
	// TurnGranted gives the floor to a participant. It is in the log before
	// the prompt leaves.
	TurnGranted struct {
		Turn        int            `json:"turn"`
		Participant string         `json:"participant"`
		Reason      string         `json:"reason,omitempty"`
		Confidence  *float64       `json:"confidence,omitempty"`
		Hints       policy.JSON    `json:"hints,omitempty"`
		Scores      []policy.Score `json:"scores,omitempty"`
		Record      *policy.Record `json:"record,omitempty"` // nil when a person granted it
		Request     string         `json:"request"`          // id of the request sent to the endpoint
		Window      Window         `json:"window"`
		Prompt      string         `json:"prompt_sha256,omitempty"` // of the bytes of the prompt's text, hex; "" of earlier versions
		Parts       string         `json:"prompt_digest,omitempty"` // of earlier versions: a digest of the prompt's parts
		Tokens      int64          `json:"tokens"`                  // estimate of the prompt, charged when usage stays unknown
		Left        *Amounts       `json:"left,omitempty"`          // of the budgets of an hour and a day, without the prompt; -1 is no limit
		Timeout     time.Duration  `json:"timeout_ns"`

		// Exploration is nil in a room that does not explore. Reason and Confidence are
		// about its Choice.
		Exploration *explore.Choice `json:"exploration,omitempty"`
	}
	// TurnDrafted holds an agent's reply until a person has reviewed it.
	TurnDrafted struct {
		Turn    int           `json:"turn"`
		Draft   string        `json:"draft"` // hash of the text
		Message Message       `json:"message"`
		Usage   Usage         `json:"usage,omitzero"`
		Why     string        `json:"why"` // the rule that asked for the review
		Latency time.Duration `json:"latency_ns,omitempty"`
	}
	// TurnEdited replaces the text of a draft, which voids its approval.
	TurnEdited struct {
		Turn  int    `json:"turn"`
		Draft string `json:"draft"`
		Text  string `json:"text"`
	}
	// TurnApproved lets the draft with that hash be posted.
	TurnApproved struct {
		Turn  int    `json:"turn"`
		Draft string `json:"draft"`
	}
	// TurnRejected ends a turn whose draft a person refused.
	TurnRejected struct {
		Turn   int    `json:"turn"`
		Draft  string `json:"draft"`
		Reason string `json:"reason,omitempty"`
	}
	// TurnPassed ends a turn in which the agent had nothing to add.
	TurnPassed struct {
		Turn    int           `json:"turn"`
		Reason  string        `json:"reason,omitempty"`
		Usage   Usage         `json:"usage,omitzero"`
		Latency time.Duration `json:"latency_ns"`

		ToolCalls int  `json:"tool_calls,omitempty"` // of a seat with a Budget
		Silent    bool `json:"silent,omitempty"`     // policies are told who passed; logs of earlier versions do not say it
	}
	// TurnFailed ends a turn without a reply.
	TurnFailed struct {
		Turn    int           `json:"turn"`
		Code    string        `json:"code"`
		Error   string        `json:"error"`
		Usage   Usage         `json:"usage,omitzero"`
		Latency time.Duration `json:"latency_ns"`

		ToolCalls int `json:"tool_calls,omitempty"` // of a seat with a Budget
	}
	// TurnInterrupted ends a turn because of a person, a take-over, a crash, or a
	// session that has left. It does not count as a failure.
	TurnInterrupted struct {
		Turn   int    `json:"turn"`
		Reason string `json:"reason"`
		Tokens int64  `json:"tokens,omitempty"` // charged to a seat with a Budget: the estimate of the prompt
	}
	// PermissionAsked records that the agent that has the turn asks its owner before
	// it acts, or puts a question to it. The clock of the turn is stopped meanwhile.
	PermissionAsked struct {
		Turn        int           `json:"turn"`
		Participant string        `json:"participant"`
		ID          string        `json:"id"` // unique in the room
		Permission  Permission    `json:"permission"`
		Timeout     time.Duration `json:"timeout_ns"` // until it is refused

		Calls []calls.Args `json:"calls,omitempty"` // that are started when it is allowed
	}
	// PermissionAnswered is the one answer to a PermissionAsked. By is the person, who
	// is also the actor, or a constant of package endpoint: RuledBy, NoAnswer, Unasked
	// or Cancelled.
	PermissionAnswered struct {
		Turn        int    `json:"turn"`
		Participant string `json:"participant"`
		ID          string `json:"id"`
		Allowed     bool   `json:"allowed"`
		Always      bool   `json:"always,omitempty"`
		By          string `json:"by"`
		Reason      string `json:"reason,omitempty"` // the text of the rule, if By is RuledBy

		Values policy.JSON `json:"values,omitempty"` // of a question that was filled in, an object
	}
	// ReplyLate records a reply whose turn had ended. It is not forwarded.
	ReplyLate struct {
		Turn        int    `json:"turn"`
		Participant string `json:"participant"`
		Digest      string `json:"digest"` // SHA-256 of the text, hex
		Bytes       int    `json:"bytes"`
	}
	// Violation records that an endpoint broke its protocol.
	Violation struct {
		Participant string `json:"participant"`
		Code        string `json:"code"`
		Detail      string `json:"detail,omitempty"`
		Count       int    `json:"count"` // since the last such event, rate limited
	}

	// MessagePosted adds a message to the transcript. Turn is 0 for a message
	// outside a turn. An Opening message to all opens the conversation: it is an
	// unread message of every agent.
	MessagePosted struct {
		Turn    int           `json:"turn,omitempty"`
		Message Message       `json:"message"`
		Usage   Usage         `json:"usage,omitzero"`
		Latency time.Duration `json:"latency_ns,omitempty"`
		Auto    bool          `json:"auto,omitempty"` // sent without an approval
		Opening bool          `json:"opening,omitempty"`

		// Held says why the message is not handed over before the room's clock HeldUntil.
		Held      string        `json:"held,omitempty"`
		HeldUntil time.Duration `json:"held_until_ns,omitempty"`
	}
	// Redacted removes the text of an earlier event from the log.
	Redacted struct {
		Target int64  `json:"target"` // seq
		Reason string `json:"reason,omitempty"`
	}
	// SummaryMade is a summary that an agent wrote. No code produces it any more;
	// it remains readable.
	SummaryMade struct {
		By      string `json:"by"`
		Through int64  `json:"through"`
		Text    string `json:"text"`
	}

	// Paused stops the room from sending anything until a person resumes it.
	Paused struct {
		Cause  string         `json:"cause"` // PauseBy, PausePolicy or PauseCrash
		Code   string         `json:"code,omitempty"`
		Reason string         `json:"reason"`
		Record *policy.Record `json:"record,omitempty"` // set when the policy failed
	}
	// Resumed lifts a pause.
	Resumed struct{}
	// Stopped ends the room by a person, a limit or a loop guard.
	Stopped struct {
		Cause  string `json:"cause"` // PauseBy, StopLimit, StopLoop
		Name   string `json:"name"`  // of the limit, the guard or the person
		Reason string `json:"reason"`
	}
	// Completed ends the room as planned. Degraded says that it settled with a
	// seat suspended for its failures, or without a turn.
	Completed struct {
		Cause    string         `json:"cause"` // DoneFinish, DoneSettled, DoneFinal, PauseBy
		Reason   string         `json:"reason"`
		Degraded bool           `json:"degraded,omitempty"`
		Record   *policy.Record `json:"record,omitempty"`
	}
	// Errored ends the room because it cannot go on.
	Errored struct {
		Code   string `json:"code"`
		Reason string `json:"reason"`
	}
)

// Causes of a pause, a stop or a completion, as the table of endings has them.
const (
	CausePerson        = "person"         // a person paused, stopped or completed the room
	CausePolicy        = "policy"         // the policy failed
	CauseInterrupted   = "interrupted"    // the host ended while the room was live
	CauseLimit         = "limit"          // a limit was reached
	CauseLoop          = "loop"           // a loop guard was tripped
	CauseFinish        = "finish"         // the policy said finish
	CauseSettled       = "settled"        // the policy declined too often in a row
	CauseFinalResponse = "final_response" // an agent gave the final response
)

// Type names; see [Body].
func (Opened) Type() string { return "room.opened" }

func (Claimed) Type() string { return "room.claimed" }

func (Joined) Type() string { return "participant.joined" }

func (SeatChanged) Type() string { return "participant.changed" }

func (SeatTaken) Type() string { return "seat.taken" }

func (SeatReleased) Type() string { return "seat.released" }

func (ModeChanged) Type() string { return "mode.changed" }

func (SeatForgot) Type() string { return "seat.forgot" }

func (SeatReady) Type() string { return "seat.ready" }

func (PresenceChanged) Type() string { return "presence.changed" }

func (SeatFailed) Type() string { return "seat.failed" }

func (PolicyChanged) Type() string { return "policy.changed" }

func (LimitsChanged) Type() string { return "limits.changed" }

func (BidPosted) Type() string { return "bid.posted" }

func (RoundDeclined) Type() string { return "round.declined" }

func (TurnGranted) Type() string { return "turn.granted" }

func (TurnDrafted) Type() string { return "turn.drafted" }

func (TurnEdited) Type() string { return "turn.edited" }

func (TurnApproved) Type() string { return "turn.approved" }

func (TurnRejected) Type() string { return "turn.rejected" }

func (TurnPassed) Type() string { return "turn.passed" }

func (TurnFailed) Type() string { return "turn.failed" }

func (TurnInterrupted) Type() string { return "turn.interrupted" }

func (PermissionAsked) Type() string { return "permission.asked" }

func (PermissionAnswered) Type() string { return "permission.answered" }

func (ReplyLate) Type() string { return "reply.late" }

func (Violation) Type() string { return "protocol.violation" }

func (MessagePosted) Type() string { return "message.posted" }

func (Redacted) Type() string { return "message.redacted" }

func (SummaryMade) Type() string { return "summary.made" }

func (Paused) Type() string { return "room.paused" }

func (Resumed) Type() string { return "room.resumed" }

func (Stopped) Type() string { return "room.stopped" }

func (Completed) Type() string { return "room.completed" }

func (Errored) Type() string { return "room.error" }

// VisibleAt returns e as a reader with that level sees it, and false when the
// reader sees nothing of it. Readers below [Internal] do not see the room's
// secret, the commands, instructions and permissions of its agents, drafts, or
// the list of observers.
func (e Event) VisibleAt(level Visibility) (Event, bool) {
	if level == Internal {
		return e, true
	}
	switch b := e.Body.(type) {
	case Opened:
		b.Spec.Secret, b.Spec.Dir, b.Spec.Observers, b.Spec.Agents, b.Spec.Call = "", "", nil, nil, nil
		e.Body = b
	case Joined:
		b.Participant.Endpoint, b.Participant.Allow, b.Participant.Instructions = nil, nil, ""
		b.Participant.MayUse, b.Participant.MayDelegate = nil, nil
		e.Body = b
	case MessagePosted:
		m, ok := b.Message.VisibleAt(level)
		if !ok {
			return Event{}, false
		}
		b.Message, b.Held, b.HeldUntil = m, "", 0
		e.Body = b
	case CallStarted, CallChanged, CallEnded, PlanChanged: // calls and the plan are internal
		return Event{}, false
	case PermissionAsked, PermissionAnswered: // only the owner of an agent sees what it does here
		return Event{}, false
	case HandoffAsked: // it may belong to a draft
		return Event{}, false
	case MessageAcked, MessageReleased, AckMissed, MessageDead, PayloadStored: // about messages that a reader may not see
		return Event{}, false
	case TurnDrafted, TurnEdited, SummaryMade: // only its author and its reviewers see a draft
		return e.Redacted(), true
	}
	return e, true
}

// Redacted returns e without the texts that people or agents wrote. It is what
// a log keeps of a redacted event.
func (e Event) Redacted() Event {
	switch b := e.Body.(type) {
	case MessagePosted:
		b.Message = b.Message.withoutText()
		e.Body = b
	case PlanChanged:
		b.Change = b.WithoutTexts()
		e.Body = b
	case MessageDead:
		b.Message = b.Message.withoutText()
		e.Body = b
	case PayloadStored:
		b.Payload = nil
		e.Body = b
	case TurnDrafted:
		b.Message = b.Message.withoutText()
		e.Body = b
	case TurnEdited:
		b.Text = ""
		e.Body = b
	case TurnRejected:
		b.Reason = ""
		e.Body = b
	case TurnPassed:
		b.Reason = ""
		e.Body = b
	case HandoffAsked:
		b.Reason = ""
		e.Body = b
	case SummaryMade:
		b.Text = ""
		e.Body = b
	case PermissionAsked:
		b.Permission, b.Calls = Permission{Kind: b.Permission.Kind}, nil
		e.Body = b
	case PermissionAnswered:
		b.Reason, b.Values = "", nil
		e.Body = b
	case CallStarted:
		b.Task, b.Request = "", nil
		e.Body = b
	case CallChanged:
		b.Text = ""
		e.Body = b
	case CallEnded:
		b.Result.Output, b.Result.Errors = "", nil
		e.Body = b
	}
	return e
}
