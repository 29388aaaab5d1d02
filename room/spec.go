package room

import (
	"time"

	"github.com/folkmoot/moot/policies/policy"
)

// A Spec describes a room at its opening. Every field has a useful zero value.
type Spec struct {
	Room        string    `json:"room"` // id
	Name        string    `json:"name,omitempty"`
	Objective   string    `json:"objective,omitempty"`
	Constraints []string  `json:"constraints,omitempty"`
	OneToOne    bool      `json:"one_to_one,omitempty"`
	Secret      string    `json:"secret"` // 128 random bits, hex; seeds prompt boundaries; never shown
	Limits      Limits    `json:"limits"`
	Context     Context   `json:"context"`
	Policy      PolicyRef `json:"policy"`
	OnRestart   string    `json:"on_restart,omitempty"` // RestartPause (default) or RestartContinue
	Dir         string    `json:"dir,omitempty"`        // folder that relative commands start in
	ForkedFrom  *Fork     `json:"forked_from,omitempty"`
	Ancestors   []Fork    `json:"forebears,omitempty"` // the room that ForkedFrom was forked from, and so on

	Observers []Observer `json:"observers,omitempty"` // devices whose owners may watch

	// Device is the id of the host's device that the owners of other devices know, if they
	// have seats of the room. Only a process that has this device runs the room.
	Device string `json:"device,omitempty"`

	// Agents are agents without a seat, which others can call. Call says of which call
	// the room is the child room; nil for other rooms.
	Agents []Participant `json:"agents,omitempty"`
	Call   *CallOf       `json:"call,omitempty"`

	// Explore is the probability with which a turn is drawn by the scores of the policy;
	// see package explore. 0 is never, 1 always.
	Explore float64 `json:"explore,omitempty"`
}

// An Observer is a device whose owner may watch the room.
type Observer struct {
	Device string     `json:"device"`
	Name   string     `json:"name,omitempty"`  // the host's name for the owner
	Level  Visibility `json:"level,omitempty"` // UserVisible (default) or UserRedacted; never Internal
}

// Behaviours of a room after a crash.
const (
	RestartPause    = "pause"
	RestartContinue = "continue"
)

// A Fork names the room and event that a room was forked from.
type Fork struct {
	Room string `json:"room"`
	Seq  int64  `json:"seq"`
}

// originalID returns the id of the room that recorded the newest event so far. A
// fork begins with events of another room, whose policy inputs contain that id.
func (s *State) originalID() string {
	f := s.Spec.ForkedFrom
	if f == nil || s.Seq >= f.Seq {
		return s.Spec.Room
	}
	id := f.Room
	for _, f := range s.Spec.Ancestors {
		if s.Seq >= f.Seq {
			break
		}
		id = f.Room
	}
	return id
}

// A PolicyRef identifies a policy with everything that its inputs depend on.
type PolicyRef struct {
	Use      string       `json:"use"`                // as the user wrote it
	Name     string       `json:"name"`               // of the manifest
	Version  string       `json:"version,omitempty"`  // of the manifest
	Digest   string       `json:"digest"`             // SHA-256 of the module, hex
	Settings policy.JSON  `json:"settings,omitempty"` // as given to configure
	Config   policy.JSON  `json:"config,omitempty"`   // Input.Config: empty when the module is configured
	Needs    policy.Needs `json:"needs,omitzero"`
	Hints    bool         `json:"hints,omitempty"` // granted in room.yaml
}

// Context limits the window of an agent. Zero means the default.
type Context struct {
	Tokens        int `json:"tokens,omitempty"`            // whole window, estimated as bytes/4
	SummaryTokens int `json:"summary_tokens,omitempty"`    // lines about older messages
	HistoryTurns  int `json:"max_history_turns,omitempty"` // verbatim messages before the catch-up
	HistoryChars  int `json:"max_history_chars,omitempty"`
	LineChars     int `json:"line_chars,omitempty"` // length of a summary line
}

// A Participant is a seat in a room.
type Participant struct {
	ID        string   `json:"id"`
	Name      string   `json:"name,omitempty"`
	Kind      string   `json:"kind"` // policy.Local, policy.Remote or policy.Human
	Role      string   `json:"role,omitempty"`
	Domains   []string `json:"domains,omitempty"`
	Owner     string   `json:"owner,omitempty"`   // of the agent; "" is the host
	Device    string   `json:"device,omitempty"`  // id of its device; "" is the host's
	Profile   string   `json:"profile,omitempty"` // named local agent; one request in flight each
	Mode      Mode     `json:"mode,omitempty"`    // "" is Manual
	Remembers bool     `json:"remembers,omitempty"`
	Cooldown  int      `json:"cooldown,omitempty"` // turns of others between two of its own
	MaxTokens int64    `json:"max_tokens,omitempty"`
	Tools     bool     `json:"allow_tool_use,omitempty"`
	Moderator bool     `json:"moderator,omitempty"`
	Price     Price    `json:"price,omitzero"`
	Review    Review   `json:"review,omitzero"`
	Timeout   Duration `json:"timeout_ns,omitempty"` // of one turn; 0 is the default

	// Starts says that its agent has a start phase, such as that of a process. The
	// seat is not eligible until its agent is ready.
	Starts       bool     `json:"starts,omitempty"`
	StartTimeout Duration `json:"start_timeout_ns,omitempty"` // of one start; 0 is the default

	// Session says that an agent session that already runs has the seat. It is not
	// started: it awaits its turns, and is not eligible while it is away.
	Session bool `json:"session,omitempty"`

	// Instructions are what the host, as the owner of a driven local seat, tells its
	// agent in addition to each prompt.
	Instructions string `json:"instructions,omitempty"`

	// Allow are the rules of the agent's owner: actions that need no person. Only
	// agents of the host's device have rules here.
	Allow []AllowRule `json:"allow,omitempty"`

	// MayUse are the tool rights of its agent, and MayDelegate those that it may let the
	// agents have that it calls; see package rights. nil is the default of its role.
	MayUse      []string `json:"may_use,omitzero"`
	MayDelegate []string `json:"may_delegate,omitzero"`

	// Calls says whether the agent may call other agents: CallsAllow, CallsAsk or
	// CallsDeny, which "" is too. MaxSubAgentDepth is the depth of calls below it; 0 is
	// that of the room.
	Calls            string `json:"calls,omitempty"`
	MaxSubAgentDepth int    `json:"max_sub_agent_depth,omitempty"`

	// Caller says that it is the caller of a child room: the room neither asks it nor
	// lets it control anything.
	Caller bool `json:"caller,omitempty"`

	// Budget limits what its agent may use. A seat that has used it gets no turn.
	Budget Budget `json:"budget,omitzero"`

	// HandoffTo are the participants that its agent may hand off to; empty means every
	// agent of the room, and no person.
	HandoffTo []string `json:"handoff_to,omitempty"`

	// NoBids says that its agent cannot bid, so it is never asked for one.
	NoBids bool `json:"no_bids,omitempty"`

	// Endpoint says how the host reaches a driven seat, as it was written,
	// before ${...} was expanded. It is opaque to this package.
	Endpoint policy.JSON `json:"endpoint,omitempty"`
}

// A Duration is in nanoseconds.
type Duration = time.Duration

// Price is in millionths of a currency for one million tokens. It is US dollars in
// a room with an agent that states its cost; see [Usage].
type Price struct {
	Input       int64 `json:"input,omitempty"`
	CachedInput int64 `json:"cached_input,omitempty"` // of Input tokens that were read from a cache; 0 is the price of Input
	Output      int64 `json:"output,omitempty"`
}

// A Mode says whether a person reviews what an agent sends.
type Mode string

// Modes of approval (one-to-one note).
const (
	Manual   Mode = "manual"    // a person approves every message
	SemiAuto Mode = "semi_auto" // a person approves when a review rule says so
	FullAuto Mode = "full_auto" // no person does
)

// Review holds the rules of a semi_auto seat. The zero Review asks for a
// review when the stated confidence is unknown or under 0.5.
type Review struct {
	ConfidenceBelow float64  `json:"confidence_below,omitempty"`
	Words           []string `json:"words,omitempty"` // any of these, ignoring case
	LongerThan      int      `json:"longer_than,omitempty"`
	Patterns        []string `json:"patterns,omitempty"`      // any of these regular expressions (RE2) matches
	Remote          bool     `json:"remote,omitempty"`        // an agent of another owner takes part, or another owner may watch
	FirstContact    bool     `json:"first_contact,omitempty"` // likewise, and it is the seat's first message
}

// Standing says what a seat may do.
type Standing string

// Standings.
const (
	Active    Standing = "active"
	Muted     Standing = "muted"     // reads and may not speak
	Suspended Standing = "suspended" // neither reads nor speaks until a person restores it
	Removed   Standing = "removed"
)
