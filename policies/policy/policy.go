package policy

// ABI is the version of the contract that this package implements. Its minor
// versions only add optional fields to the input; this is 1.3.
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

// UnmarshalJSON stores a copy of b. It stores null as nil.
func (j *JSON) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*j = nil
		return nil
	}
	*j = append((*j)[:0:0], b...)
	return nil
}

// An Input is everything that a policy may know. It is a pure function of the
// room's log and of the room's clock when the policy was asked: the same log
// prefix and clock always give the same bytes.
type Input struct {
	ABI         int      // always [ABI]
	Init        bool     // the first decision of this policy in this room
	Room        string   // room id
	Decision    int64    // number of this decision in the room, from 1
	Turn        int      // number of the next turn, from 1
	NowMS       int64    // running time of the room, in milliseconds
	Seed        string   // hash of room and decision, hex
	Objective   string   // purpose of the room
	Constraints []string // rules for all participants
	Config      JSON     // settings; {} when they were given to Configure
	Limits      Limits
	Agents      []Agent  // participants of the room, in the order of room.yaml
	Events      []Event  // events since the previous decision, oldest first
	Handoff     *Handoff // who should go on; nil when nobody was named
	Replaced    string   // agent that the previous decision chose, if the room explored and took another one; else empty
	Truncated   bool     // older events were left out
	State       JSON     // state after the previous decision; nil is null
}

// A Handoff is the wish of an agent, at the end of its turn, that another one goes
// on. The room has checked that it is allowed. A policy may follow it.
type Handoff struct {
	From, To string // ids of agents
	Reason   string // at most [MaxHandoff] bytes; may be empty
}

// Limits tell a policy how much of the room's limits is left. -1 means that a
// limit does not exist.
type Limits struct {
	MaxTurns   int
	TurnsLeft  int
	TokensLeft int64
	MSLeft     int64 // milliseconds of running time
}

// Kinds of agents.
const (
	Local  = "local"  // driven on this machine
	Remote = "remote" // driven on the machine of another owner
	Human  = "human"  // a person
)

// Presences of agents.
const (
	Present = "live" // waits for its turn
	Idle    = "idle" // has come lately and may come again
	Away    = "away" // has not come for a while; never eligible
)

// An Agent is a participant of the room.
type Agent struct {
	ID         string
	Name       string
	Kind       string // Local, Remote or Human
	Role       string
	Domains    []string
	Eligible   bool   // can be granted the next turn
	Ineligible string // reason why not, such as "cooldown"; empty when eligible
	Presence   string // Present, Idle or Away: of an agent session that comes by itself; empty for all others
	Turns      int    // turns granted so far
	LastTurn   int    // number of its latest turn; 0 before the first
	Failures   int    // failed turns in a row
	Tokens     int64
	AvgMS      int64    // mean latency of its turns, in milliseconds
	Unread     int      // messages in its inbox that it has not acknowledged
	Urgent     int      // unread messages of high or urgent priority
	Followed   Followed // how often it followed the latest speakers
	Confidence *float64 // stated with its latest reply; nil when unknown
	Bid        *Bid     // nil without a bid
	Tasks      []Task   // the open tasks that it owns, in the order of the plan
}

// A Task is an open task of the room's plan.
type Task struct {
	ID    string
	Title string
	State string   // TaskSubmitted, TaskWorking, TaskInputRequired or TaskAuthRequired
	After []string // ids of the tasks that it still waits for; empty: it can be worked on
}

// States of open tasks.
const (
	TaskSubmitted     = "submitted"
	TaskWorking       = "working"
	TaskInputRequired = "input_required"
	TaskAuthRequired  = "auth_required"
)

// Free reports whether its owner can work on the task now.
func (t *Task) Free() bool {
	return len(t.After) == 0 && (t.State == TaskSubmitted || t.State == TaskWorking)
}

// Followed counts how often an agent spoke directly after the latest speaker,
// and after the latest two speakers, in their order.
type Followed struct{ Last, LastTwo int }

// A Bid is the answer of an agent to the question how useful its turn would be.
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
	KindSystem  = "system"  // all other events
)

// An Event is the view of a policy on an event of the log.
type Event struct {
	Seq       int64
	Turn      int // the turn it belongs to, or 0
	From      string
	To        []string // empty: all participants
	Kind      string
	Text      string   // at most max_text_bytes of the manifest; empty when withheld
	Truncated bool     // Text was cut
	Mentions  []string // agents named in the text, in the order of their last mention
	Addressed []string // agents named at its start or end, or after @; the strongest last
	Bytes     int      // length of the whole text
	Silent    []string // participants that could have spoken here and did not; empty: none in particular
}

// Actions of a decision.
const (
	ActionSpeak   = "speak"
	ActionDecline = "decline"
	ActionFinish  = "finish"
	ActionError   = "error"
)

// A Decision is the answer of a policy. The zero Decision declines with the reason
// "no decision".
type Decision struct {
	Action     string
	Agent      string // id of the agent that gets the turn; ActionSpeak only
	Reason     string // shown to users; at most MaxReason bytes; required to decline and to finish
	Confidence *float64
	Speak      *float64 // how strongly the policy is for an agent to speak now, 0 to 1: 0.5 is even; informative
	RetryMS    int64    // decline: milliseconds until the policy is asked again; 0 is the room's default
	Hints      JSON     // metadata for the chosen agent, if the room permits hints
	Scores     []Score  // scores of the candidates, informative
	State      JSON     // next state; nil leaves it unchanged, null clears it
	Message    string   // ActionError only
}

// A Score is the score that a policy gave a candidate.
type Score struct {
	Agent string  `json:"agent"`
	Score float64 `json:"score"`
}

// Bounds of the contract, in bytes if not stated otherwise.
const (
	MaxReason  = 500
	MaxHandoff = 300 // leaves space for ids in the reason of a decision
	MaxHints   = 2 << 10
	MaxState   = 64 << 10
	MaxInput   = 1 << 20
	MaxOutput  = 256 << 10
	MaxEvents  = 500 // events in one input
	MaxTasks   = 256 // tasks in one input
	MaxLog     = 8 << 10
	DefHistory = 50      // default of history_events in a manifest, events
	DefText    = 8 << 10 // default of max_text_bytes in a manifest
)

// Speak grants the turn to the agent with the given id.
func Speak(id, reason string) Decision {
	return Decision{Action: ActionSpeak, Agent: id, Reason: reason}
}

// Decline grants no turn in this round.
func Decline(reason string) Decision { return Decision{Action: ActionDecline, Reason: reason} }

// Finish ends the room as completed.
func Finish(reason string) Decision { return Decision{Action: ActionFinish, Reason: reason} }

// Fail reports that the policy cannot decide. The room pauses and shows message.
func Fail(message string) Decision { return Decision{Action: ActionError, Message: message} }

// A Policy decides which agent speaks next. Decide must depend on nothing but
// in. It may change in, whose slices are reused for the next decision.
type Policy interface {
	Decide(in *Input) Decision
}

// A Configurer is a Policy with settings. Configure is called once, before the
// first decision. The host saves the memory after it, so all decisions see its
// result. An error is shown to the user as a fault of the settings.
type Configurer interface {
	Policy
	Configure(settings JSON) error
}

// A Func is a Policy without settings.
type Func func(in *Input) Decision

// Decide calls f.
func (f Func) Decide(in *Input) Decision { return f(in) }

// A Level is the severity of a logged line.
type Level int32

// Levels of [Log].
const (
	Debug Level = iota
	Info
	Warn
	Error
)
