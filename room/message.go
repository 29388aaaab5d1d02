package room

import (
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
)

// A Message is the one envelope for everything that is said in a room. Its
// first fifteen fields are those of the manager/worker messaging note.
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

	Text   string `json:"text"`             // what is said, whole
	Turn   int    `json:"turn,omitempty"`   // 0 outside a turn
	Source string `json:"source,omitempty"` // user, applet or agent
	By     string `json:"by,omitempty"`     // the person who typed for a seat that was taken over
	Trace  *Trace `json:"trace,omitempty"`

	Mentions   []string `json:"mentions,omitempty"`   // participants named anywhere in Text
	Addressed  []string `json:"addressed,omitempty"`  // participants named at its start or end, or after @
	Confidence *float64 `json:"confidence,omitempty"` // as its sender stated it
}

// Broadcast addresses everybody.
const Broadcast = "broadcast"

// Kinds of ordinary talk; the other kinds are those of the manager/worker note.
const (
	KindUtterance = "utterance"
	KindRequest   = "request" // a person's wish
)

// A Trace says through whose hands a message came (one-to-one note).
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

// Visibility says who may read a message. An agent may lower it, never raise it.
type Visibility string

// Levels of visibility, from the widest to the narrowest.
const (
	UserVisible  Visibility = "user_visible"  // everybody
	UserRedacted Visibility = "user_redacted" // others see only the summary
	Internal     Visibility = "internal"      // its sender, its receiver and people with control
)

// Readers says who may read a message. It is the only rule of visibility:
// windows, summaries, policy inputs, views, watchers and exports all ask it.
type Readers struct {
	all      bool
	from, to string
}

// Audience returns who may read m among the participants. People with
// control read everything.
func Audience(m Message) Readers {
	return Readers{
		all:  m.Visibility != Internal,
		from: m.From,
		to:   m.To,
	}
}

// All reports whether every participant may read the message.
func (r Readers) All() bool { return r.all }

// Includes reports whether the participant with id may read it.
func (r Readers) Includes(id string) bool {
	return r.all || id == r.from || id == r.to || r.to == Broadcast
}

// VisibleTo returns what the participant with id sees of m: the whole message, of a
// user_redacted one that is not its own only the summary, or nothing.
func (m Message) VisibleTo(id string) (Message, bool) {
	r := Audience(m)
	if !r.Includes(id) {
		return Message{}, false
	}
	if m.Visibility == UserRedacted && id != m.From && id != m.To {
		m.Text, m.Payload = m.Summary, nil
	}
	return m, true
}

// VisibleAt returns what a reader with that level sees of m: the whole message, a
// message of which only the summary is left, or nothing.
func (m Message) VisibleAt(level Visibility) (Message, bool) {
	switch {
	case level == Internal || m.Visibility == "" || m.Visibility == UserVisible:
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
	m.Text, m.Summary, m.Payload = "", "", nil
	return m
}
