package room

import (
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/explore"
	"github.com/folkmoot/moot/room/loops"
	"github.com/folkmoot/moot/room/names"
	"github.com/folkmoot/moot/room/plan"
)

// Phase is the state of a room as a whole.
type Phase string

// Phases. PhaseUnopened is the zero State's.
const (
	PhaseUnopened  Phase = ""
	PhaseLive      Phase = "live"
	PhasePaused    Phase = "paused"
	PhaseCompleted Phase = "completed"
	PhaseStopped   Phase = "stopped"
	PhaseError     Phase = "error"
)

// State is the fold of a room's log. The zero State is a room not yet opened.
// The owner may read its fields; only Apply and the Set methods write them. It is
// not safe for concurrent use. Its JSON form is that of snapshots.
type State struct {
	Spec   Spec
	Limits Limits  // in force, defaults filled in
	Bounds Context // of windows, defaults filled in

	Seq    int64
	Epoch  uint64
	Clock  time.Duration // of the last event
	Phase  Phase
	Ending Ending
	Seats  []*Seat // roster order; removed seats stay, so indexes are stable

	Turn    *Turn // the open turn; nil between turns
	Tally   Tally
	Policy  PolicyCursor
	Bids    []BidPosted     // for the decision that is due
	Handoff *policy.Handoff `json:",omitempty"` // of the latest turn, until the next one is granted
	Request bool            `json:",omitempty"` // in a room that explores: a person has addressed a participant since the latest turn was granted

	Mail Mail      `json:",omitzero"` // messages between participants
	Plan plan.Plan `json:",omitzero"` // intent and tasks

	Steering []Steering `json:",omitempty"` // the newest requests of people that the manager got

	Recent   recent                    // newest events as policies see them
	Messages chunkedList[indexEntry]   // every message, without its text
	Public   chunkedList[messageIndex] // those that every participant may read
	Followed map[uint64]int32          // how often a speaker followed others; see follow
	Speakers [2]int16                  // seats of the last two speakers plus one, newest first
	Counts   []int32                   // public messages by sender: the host, then every seat

	LastNews int64         // seq of the newest message or change after which the policy is asked at once
	RetryAt  time.Duration // clock at which the policy is asked again after a decline
	Declined int64         // seq of the last declined round
	Texts    []uint64      // hashes of the newest agents' texts, for the same-text guard
	Loops    loops.Guard   `json:",omitzero"` // agents that keep each other busy
	Commands idSet         // ids of commands and messages already applied
	Answers  []Answer      `json:",omitempty"` // newest answers to drafts and permission requests; at most maxAnswers

	// Calls are the open calls of agents and the newest ended ones, oldest first. Called
	// counts the ended ones, with those below them. Return is that of a child room.
	Calls  []Call `json:",omitempty"`
	Called int    `json:",omitempty"`
	Return Return `json:",omitzero"`

	matcher *names.Matcher // compiled from Seats; nil after the roster has changed
}

// Ending says why a room is not live.
type Ending struct {
	Cause  string `json:"cause"` // one of the causes of the table of endings
	Name   string `json:"name"`  // limit, guard, code or person
	Reason string `json:"reason"`
	Fix    string `json:"fix,omitempty"` // what a person can do about it

	// Degraded says that the room settled with a seat suspended for its failures,
	// or without a turn. Reason names the seats.
	Degraded bool `json:"degraded,omitempty"`
}

// A Seat is a participant with the state of its seat.
type Seat struct {
	Participant
	Index            int16
	Standing         Standing
	Why              string `json:",omitempty"` // reason of its standing; "" while it is active
	TakenBy          string `json:"Owner"`      // person who has taken it over; "" when the agent has it
	Cursor           int64  // catch-up cursor: it has been given all messages up to here
	SetMode          Mode   `json:",omitempty"` // set by a person until the room ends; "" is that of Participant
	NeedsFullContext bool   `json:"Fresh"`      // it has lost its memory, or has none yet
	Turns            int
	LastTurn         int
	Failures         int // consecutive
	Violations       int
	Fault            string `json:",omitempty"` // why the room suspended it for its failures; "" if it did not

	// Starting is the seq of the event after which its agent must be started, or
	// must be seen to run; 0 when it is ready. StartedAt is the clock of that event.
	Starting  int64         `json:",omitempty"`
	StartedAt time.Duration `json:",omitempty"`

	// Of the seat of a running session: its presence, and the last request that it has
	// answered.
	Presence   Presence  `json:",omitempty"`
	Answered   string    `json:",omitempty"`
	AnsweredAt time.Time `json:",omitzero"`

	// Budgets are the marks that were recorded, at most one of each window.
	Budgets []BudgetMark `json:",omitempty"`

	SideMessages int   `json:"Asides"` // messages outside its turns, since the last turn
	Spent        int64 // tokens
	Cost         int64
	Replies      int
	Passed       int  `json:",omitempty"` // turns in which it had nothing to say
	Failed       int  `json:",omitempty"` // failed turns in all
	Estimated    bool `json:",omitempty"` // part of Spent is an estimate

	CachedInput   int64 `json:",omitempty"` // part of Spent, as far as stated
	Reasoning     int64 `json:",omitempty"` // part of Spent, as far as stated
	CostEstimated bool  `json:",omitempty"` // part of Cost is an estimate

	// Of a seat with a Budget.
	CallsMade int `json:",omitempty"` // of other agents
	ToolCalls int `json:",omitempty"`

	Latency    time.Duration // of all replies
	Confidence *float64
	Inbox      []unread                  // messages to it that it has not been given; at most maxInbox
	Private    chunkedList[messageIndex] // messages that it may read and not every participant may
	Counts     map[int16]int32
}

// Turn is the turn that is open.
type Turn struct {
	Number      int
	Participant string
	Request     string
	Window      Window
	Hints       policy.JSON `json:",omitempty"`
	Prompt      string      `json:",omitempty"` // digest of the prompt
	Epoch       uint64      `json:",omitempty"` // of the coordinator that granted it
	Tokens      int64
	Left        *Amounts `json:",omitempty"` // for calls, of its budgets of an hour and a day; see [TurnGranted]
	Started     time.Duration
	Timeout     time.Duration
	Draft       *Draft          // waiting for a person; nil while the agent works
	Exploration *explore.Choice `json:",omitempty"` // nil in a room that does not explore
	Forgot      bool            // its agent has lost its memory since it was granted

	Handoff  *policy.Handoff `json:",omitempty"` // counts when the turn ends with an answer
	HandOffs int             `json:",omitempty"` // so far, with the refused ones

	// Permission requests of its agent. The clock of the turn stands while one waits.
	Asked    int                 `json:",omitempty"` // so far
	Requests []PermissionRequest `json:",omitempty"` // that wait, oldest first
	Held     time.Duration       `json:",omitempty"` // how long the clock stood, without the present wait
	HeldAt   time.Duration       `json:",omitempty"` // clock at which the present wait began
	Calling  int                 `json:",omitempty"` // calls that its agent waits for; the clock stands meanwhile
}

// Draft is a reply that waits for a person.
type Draft struct {
	Hash    string        `json:"hash"`
	Message Message       `json:"message"`
	Usage   Usage         `json:"usage"`
	Why     string        `json:"why"`
	Latency time.Duration `json:"latency_ns"` // of the agent, without the person's
	Edited  bool          `json:"edited"`
	At      time.Time     `json:"at,omitzero"`        // since when this text waits
	Since   time.Duration `json:"since_ns,omitempty"` // the same by the room's clock
}

// A PolicyCursor is the position of the policy in force.
type PolicyCursor struct {
	Ref      PolicyRef
	Asked    bool        // it has made a decision in this room
	Decision int64       // number of the last recorded decision
	Through  int64       // newest event its last input knew of
	State    policy.JSON // that it returned; nil for null
	Digest   string      // SHA-256 of State, hex; "" for null
	Lost     bool        // the log lacks State, which must be computed again; see SetPolicyState
	Replaced string      `json:",omitempty"` // agent that it chose last, if another one had the turn; see package explore
}

// seat returns the seat with id, or nil.
func (s *State) seat(id string) *Seat {
	for _, x := range s.Seats {
		if x.ID == id {
			return x
		}
	}
	return nil
}

// Seat returns the seat with id.
func (s *State) Seat(id string) (Seat, bool) {
	if x := s.seat(id); x != nil {
		return *x, true
	}
	return Seat{}, false
}

// Driven reports whether the room calls the seat through an endpoint.
func (x *Seat) Driven() bool { return x.Kind != policy.Human && !x.Caller }

// Label returns the display name, or the id without one.
func (p Participant) Label() string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

// UseNames sets the matcher of the roster's names. A caller that has compiled
// it for the same roster saves s from compiling it again.
func (s *State) UseNames(m *names.Matcher) { s.matcher = m }

// CompileNames completes a State that was decoded from a snapshot.
func (s *State) CompileNames() { s.matcher = s.compileNames() }

// names returns the matcher of the roster's names. It does not store one that
// it has to compile, because Decide must leave s unchanged.
func (s *State) names() *names.Matcher {
	if s.matcher != nil {
		return s.matcher
	}
	return s.compileNames()
}

func (s *State) compileNames() *names.Matcher {
	ids, labels := make([]string, len(s.Seats)), make([]string, len(s.Seats))
	for i, x := range s.Seats {
		ids[i], labels[i] = x.ID, x.Name
	}
	return names.New(ids, labels)
}
