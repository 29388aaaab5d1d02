package room

import (
	"slices"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/kinds"
)

// A Message is the envelope of every text that is posted in a room. Its first
// fifteen fields are those of the manager/worker messaging note.
type Message struct {
	ID          string      `json:"message_id"`
	Run         string      `json:"run_id"` // the room
	Session     string      `json:"session_id,omitempty"`
	Thread      string      `json:"thread_id,omitempty"`
	From        string      `json:"from_agent"`
	To          string      `json:"to_agent"` // a participant, or Broadcast
	Kind        string      `json:"kind"`
	Summary     string      `json:"summary,omitempty"`
	Payload     policy.JSON `json:"payload,omitempty"`
	Visibility  Visibility  `json:"visibility"`
	Priority    string      `json:"priority,omitempty"` // "" is normal
	RequiresAck bool        `json:"requires_ack,omitempty"`
	Correlation string      `json:"correlation_id,omitempty"`
	Parent      string      `json:"parent_id,omitempty"`
	CreatedAt   float64     `json:"created_at"` // seconds since 1970; informative, the order is the log's

	Text   string `json:"text"`             // the whole text
	Turn   int    `json:"turn,omitempty"`   // 0 outside a turn
	Source string `json:"source,omitempty"` // SourceUser, SourceApplet or SourceAgent
	By     string `json:"by,omitempty"`     // the person who typed for a seat that was taken over
	Trace  *Trace `json:"trace,omitempty"`

	Mentions   []string `json:"mentions,omitempty"`   // participants mentioned anywhere in Text
	Addressed  []string `json:"addressed,omitempty"`  // participants mentioned at its start or end, or after @
	Confidence *float64 `json:"confidence,omitempty"` // as its sender stated it

	FromSession string `json:"from_session,omitempty"` // the agent session of another room that sent it
	Applet      string `json:"applet,omitempty"`       // the name of the program that sent it, of SourceApplet

	// Tools are the tool calls of the turn, and ToolsMore the number of those that are
	// not listed. Only people with control read them: they name files and commands.
	// Agents of other owners state none here.
	Tools     []ToolCall `json:"tools,omitempty"`
	ToolsMore int        `json:"tools_more,omitempty"`

	// Receivers are the agents to which a typed broadcast goes. If it is internal, no
	// other agent reads it.
	Receivers []string `json:"receivers,omitempty"`

	For        string `json:"for_agent,omitempty"`   // the worker that a person addressed; the manager got the message
	Notify     string `json:"notify,omitempty"`      // "idle": its sender is told once when its receiver has nothing left to do
	ToolRounds int    `json:"tool_rounds,omitempty"` // that its sender says it used; no device counts them
	Cut        bool   `json:"cut,omitempty"`         // its sender says that Text is only the beginning
}

// Broadcast addresses every participant.
const Broadcast = "broadcast"

// Kinds of ordinary messages; package kinds has the others.
const (
	KindUtterance = kinds.Utterance
	KindRequest   = kinds.Request // a request of a person
)

// Sources of messages.
const (
	SourceUser   = "user"   // a person
	SourceApplet = "applet" // a program of a person
	SourceAgent  = "agent"
)

// A Trace lists the devices that a message has passed.
type Trace struct {
	ID           string   `json:"trace_id"`
	Hops         int      `json:"hop_count"`
	OriginDevice string   `json:"origin_agent_device_id,omitempty"`
	Orchestrator string   `json:"orchestrator_profile_id,omitempty"`
	Path         []string `json:"path,omitempty"`
}

// Usage is what an agent stated of a turn. When it is not known, the room
// charges the estimate of the prompt and of the reply.
type Usage = endpoint.Usage

// An AllowRule is a rule of an agent's owner, by which an action of the agent needs
// no person.
type AllowRule = endpoint.AllowRule

// A Permission is what an agent asks of its owner before it acts.
type Permission = endpoint.Permission

// A ToolCall is an action of an agent in its turn.
type ToolCall = endpoint.ToolCall

// A Question is a form that an agent asks its owner to fill in.
type Question = endpoint.Question

// Visibility restricts the readers of a message. An agent may narrow it and never
// widen it.
type Visibility string

// Levels of visibility, from the widest to the narrowest.
const (
	UserVisible  Visibility = "user_visible"  // every participant
	UserRedacted Visibility = "user_redacted" // the others see only the summary
	Internal     Visibility = "internal"      // its sender, its receiver and people with control
)

// Readers is the set of participants that may read a message. It is the only rule
// of visibility, used by windows, summaries, policy inputs, views, watchers and
// exports.
type Readers struct {
	all      bool
	from, to string
	only     []string // of a broadcast; empty for everybody
}

// Audience returns the participants that may read m. People with control may
// read every message.
func Audience(m Message) Readers {
	return Readers{
		all:  m.Visibility != Internal,
		from: m.From,
		to:   m.To,
		only: m.Receivers,
	}
}

// All reports whether every participant may read the message.
func (r Readers) All() bool { return r.all }

// Includes reports whether the participant with id may read it.
func (r Readers) Includes(id string) bool {
	return r.all || id == r.from || id == r.to || r.to == Broadcast && (len(r.only) == 0 || slices.Contains(r.only, id))
}

// VisibleTo returns m as the participant with id sees it: whole or, if it is
// user_redacted and neither from nor to that participant, only its summary. ok is
// false when the participant sees nothing.
func (m Message) VisibleTo(id string) (_ Message, ok bool) {
	r := Audience(m)
	if !r.Includes(id) {
		return Message{}, false
	}
	m.Tools, m.ToolsMore = nil, 0
	if m.Visibility == UserRedacted && id != m.From && id != m.To {
		m.Text, m.Payload = m.Summary, nil
	}
	return m, true
}

// VisibleAt returns m as a reader with that level sees it: whole or only its
// summary. ok is false when the reader sees nothing.
func (m Message) VisibleAt(level Visibility) (_ Message, ok bool) {
	if level == Internal {
		return m, true
	}
	m.Tools, m.ToolsMore, m.Receivers, m.Notify = nil, 0, nil, ""
	switch {
	case m.Visibility == "" || m.Visibility == UserVisible:
		return m, true
	case level == UserRedacted && m.Visibility == UserRedacted:
		return m, true
	case m.Visibility == UserRedacted:
		m.Text, m.Payload = m.Summary, nil
		return m, true
	}
	return Message{}, false
}

func (m Message) withoutText() Message {
	m.Text, m.Summary, m.Payload, m.Tools, m.ToolsMore = "", "", nil, nil, 0
	return m
}

// size returns the estimated number of tokens that m takes in a prompt.
func (m Message) size() int { return estimate(m.Text) + estimate(string(m.Payload)) }

// content returns what the guard of repeated texts compares: the text, and the summary
// and the payload of a message without one.
func (m Message) content() string {
	if m.Text == "" {
		return m.Summary + string(m.Payload)
	}
	return m.Text
}
