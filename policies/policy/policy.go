// Package policy is the contract between a room and the policy that decides
// who speaks next, and the kit for writing one in Go.
//
// A policy is a fold: a room hands it what happened since its previous
// decision together with the state it returned then, and gets a [Decision]
// and the next state. It keeps nothing else: every decision is made by a fresh
// instance. The same input bytes always give the same output bytes.
//
// The package builds for the host and for WebAssembly and imports neither
// encoding/json nor reflect, so that a policy stays small; [Input] and
// [Decision] carry their own codec.
package policy

// ABI is the version of the contract that this package speaks.
const ABI = 1

// JSON is a raw JSON value. The nil JSON encodes as null.
type JSON []byte

// MarshalJSON returns j itself.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == nil {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps a copy of b; null is nil.
func (j *JSON) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*j = nil
		return nil
	}
	*j = append((*j)[:0:0], b...)
	return nil
}

// An Input is everything a policy may know. It is a pure function of the
// room's log and the room clock at which the policy was asked: the same log
// prefix and clock always yield the same bytes.
type Input struct {
	ABI         int      // always [ABI]
	Init        bool     // the first decision of this policy in this room
	Room        string   // room id
	Decision    int64    // number of this decision in the room, from 1
	Turn        int      // number that the next turn would get, from 1
	NowMS       int64    // the room's clock, in milliseconds
	Seed        string   // hex; a hash of room and decision
	Objective   string   // what the room is for
	Constraints []string // rules that hold for everybody
	Config      JSON     // settings, empty object when given through configure
	Limits      Limits
	Agents      []Agent // the roster, in roster order
	Events      []Event // what happened since the previous decision, oldest first
	Truncated   bool    // older events were left out
	State       JSON    // what the previous decision returned, or null
}

// Limits tell a policy how much of the room is left. -1 means no such limit.
type Limits struct {
	MaxTurns   int
	TurnsLeft  int
	TokensLeft int64
	MSLeft     int64
}

// Kinds of agents.
const (
	Local  = "local"  // driven on this machine
	Remote = "remote" // driven on another owner's machine
	Human  = "human"  // a person, who attends
)

// An Agent is one seat of the room.
type Agent struct {
	ID         string
	Name       string
	Kind       string // Local, Remote or Human
	Role       string
	Domains    []string
	Eligible   bool   // may be chosen now
	Ineligible string // why not; empty when eligible ("ineligible_reason")
	Turns      int    // turns granted so far
	LastTurn   int    // 0 when it has not had one
	Failures   int    // consecutive
	Tokens     int64
	AvgMS      int64    // mean latency of its turns
	Unread     int      // addressed messages it has not acknowledged
	Urgent     int      // how many of those are of high or urgent priority
	Followed   Followed // habits of the room
	Confidence *float64 // what it stated with its last reply; nil when unknown
	Bid        *Bid     // nil when it was not asked or did not answer
}

// Followed counts how often an agent spoke next after the last speaker, and
// after the last two.
type Followed struct{ Last, LastTwo int }

// A Bid is what an agent answered when asked how much it wants the floor.
type Bid struct {
	Score  float64 `json:"score"` // 0 to 1
	Reason string  `json:"reason,omitempty"`
}

// Kinds of events.
const (
	KindMessage = "message" // an agent spoke
	KindHuman   = "human"   // a person spoke
	KindDecline = "decline" // a round was declined
	KindError   = "error"   // a turn failed
	KindSystem  = "system"  // anything else that the room did
)

// An Event is what a policy sees of one event of the log.
type Event struct {
	Seq       int64
	Turn      int // the turn it belongs to; 0 when to none
	From      string
	To        []string // empty: everybody
	Kind      string
	Text      string   // cut at the manifest's max_text_bytes; empty when withheld
	Truncated bool     // Text was cut
	Mentions  []string // agents named anywhere in the text; the last was named last
	Addressed []string // agents named at its start or end, or after @; the last is the strongest
	Bytes     int      // length of the whole text
}

// Actions of a decision.
const (
	ActionSpeak   = "speak"
	ActionDecline = "decline"
	ActionFinish  = "finish"
	ActionError   = "error"
)

// A Decision is a policy's answer. The zero Decision declines with the reason
// "no decision".
type Decision struct {
	Action     string
	Agent      string // whom to grant the floor; ActionSpeak only
	Reason     string // at most 500 bytes; required to decline and to finish
	Confidence *float64
	RetryMS    int64   // decline: ask again after so long; 0 means the room's default
	Hints      JSON    // metadata for the chosen agent; needs a grant
	Scores     []Score // how the candidates compared
	State      JSON    // nil leaves the state unchanged; null clears it
	Message    string  // ActionError only
}

// A Score is what a policy gave one candidate.
type Score struct {
	Agent string  `json:"agent"`
	Score float64 `json:"score"`
}

// Bounds of the contract, in bytes unless said otherwise.
const (
	MaxReason  = 500
	MaxHints   = 2 << 10
	MaxState   = 64 << 10
	MaxInput   = 1 << 20
	MaxOutput  = 256 << 10
	MaxEvents  = 500 // events in one input
	MaxLog     = 8 << 10
	DefHistory = 50      // history_events of a manifest that has none
	DefText    = 8 << 10 // max_text_bytes of a manifest that has none
)

// Speak gives the floor to the agent with id.
func Speak(id, reason string) Decision {
	return Decision{Action: ActionSpeak, Agent: id, Reason: reason}
}

// Decline records that nobody should speak this round.
func Decline(reason string) Decision { return Decision{Action: ActionDecline, Reason: reason} }

// Finish ends the room as completed.
func Finish(reason string) Decision { return Decision{Action: ActionFinish, Reason: reason} }

// Fail reports that the policy cannot decide; the room pauses with message.
func Fail(message string) Decision { return Decision{Action: ActionError, Message: message} }

// A Policy chooses who speaks next. Decide must depend on nothing but in.
type Policy interface {
	Decide(in *Input) Decision
}

// A Configurer is a Policy that takes settings, once, before its first
// decision; what it builds from them is part of every later instance.
type Configurer interface {
	Policy
	Configure(settings JSON) error
}

// A Func is a Policy without settings.
type Func func(in *Input) Decision

// Decide calls f.
func (f Func) Decide(in *Input) Decision { return f(in) }
