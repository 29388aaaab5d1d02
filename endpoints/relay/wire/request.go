package wire

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Bounds of a Request.
const (
	maxSeats     = 256
	maxLines     = 4096
	maxTimeoutMS = int64(24 * time.Hour / time.Millisecond)
)

// MaxSessionID bounds an agent session id, in bytes.
const MaxSessionID = 64

// A Request is the body of turn.request and bid.request: a prompt without the
// fields that the envelope or the receiving device supplies.
type Request struct {
	Session     string          `json:"session,omitempty"`
	Mode        string          `json:"mode,omitempty"`
	You         string          `json:"you"`
	Seats       []Seat          `json:"seats"`
	Objective   string          `json:"objective"`
	Constraints []string        `json:"constraints,omitempty"`
	Summary     string          `json:"summary,omitempty"`
	History     []Line          `json:"history,omitempty"`
	CatchUp     []Line          `json:"catch_up,omitempty"`
	Omitted     string          `json:"omitted,omitempty"`
	Hints       json.RawMessage `json:"hints,omitempty"`
	// Knows is the agent session id that the request builds on. Empty means that
	// the request holds the whole context.
	Knows string `json:"knows,omitempty"`

	MaxOutputChars  int   `json:"max_output_chars"`
	MaxHistoryTurns int   `json:"max_history_turns"`
	MaxHistoryChars int   `json:"max_history_chars"`
	MaxToolRounds   int   `json:"max_tool_rounds"`
	AllowToolUse    bool  `json:"allow_tool_use"`
	TimeoutMS       int64 `json:"timeout_ms"`
}

// A Seat is a participant of the room.
type Seat struct {
	ID      string   `json:"id"`
	Name    string   `json:"name,omitempty"`
	Kind    string   `json:"kind,omitempty"`
	Role    string   `json:"role,omitempty"`
	Domains []string `json:"domains,omitempty"`
	Owner   string   `json:"owner,omitempty"`
	Device  string   `json:"device,omitempty"`
}

// A Line is one message of the room.
type Line struct {
	Seq  int64  `json:"seq,omitempty"`
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Own  bool   `json:"own,omitempty"`
	Kind string `json:"kind,omitempty"`
	Text string `json:"text"`
}

// RequestOf returns the body of a request for p. Hints that are not valid JSON
// are left out.
func RequestOf(p endpoint.Prompt) Request {
	q := Request{
		Session: p.Session, Mode: p.Mode, You: p.You.ID, Seats: []Seat{}, Objective: p.Objective, Constraints: p.Constraints,
		Summary: p.Summary, History: linesAs[Line](p.History), CatchUp: linesAs[Line](p.CatchUp), Omitted: p.Omitted,
		MaxOutputChars: p.MaxOutputChars, MaxHistoryTurns: p.MaxHistoryTurns, MaxHistoryChars: p.MaxHistoryChars,
		MaxToolRounds: p.MaxToolRounds, AllowToolUse: p.AllowToolUse, TimeoutMS: p.Timeout.Milliseconds(),
	}
	if json.Valid(p.Hints) {
		q.Hints = p.Hints
	}
	seats := p.Seats
	if !slices.ContainsFunc(seats, func(s endpoint.Seat) bool { return s.ID == p.You.ID }) {
		seats = append(slices.Clone(seats), p.You)
	}
	for _, s := range seats {
		q.Seats = append(q.Seats, Seat{ID: s.ID, Name: s.Name, Kind: s.Kind, Role: s.Role, Domains: s.Domains, Owner: s.Owner, Device: s.Device})
	}
	return q
}

// linesAs converts the lines of a prompt to those of a request, and back.
func linesAs[To, From Line | endpoint.Line](ls []From) (all []To) {
	for _, l := range ls {
		all = append(all, To(l))
	}
	return all
}

// Check returns an error if a field of q is out of its bounds.
func (q Request) Check() error {
	switch {
	case len(q.Seats) > maxSeats || len(q.History)+len(q.CatchUp) > maxLines:
		return errors.New("it holds too many seats or messages")
	case q.You == "":
		return errors.New("it names no agent")
	case q.MaxOutputChars < 0 || q.MaxHistoryTurns < 0 || q.MaxHistoryChars < 0 || q.MaxToolRounds < 0:
		return errors.New("a number is negative")
	case len(q.Knows) > MaxSessionID:
		return errors.New("its agent session id is too long")
	case q.TimeoutMS < 0 || q.TimeoutMS > maxTimeoutMS:
		return errors.New("its time-out is out of bounds")
	}
	return nil
}

// Prompt returns the prompt for the agent of this device. The owners of the
// other seats are as the host says. Only the agent's own seat is marked as of
// the same owner, whatever the host says.
func (q Request) Prompt() endpoint.Prompt {
	p := endpoint.Prompt{
		Session: q.Session, Mode: q.Mode, Objective: q.Objective, Constraints: q.Constraints, Summary: q.Summary,
		History: linesAs[endpoint.Line](q.History), CatchUp: linesAs[endpoint.Line](q.CatchUp),
		Omitted: q.Omitted, Hints: q.Hints, MaxOutputChars: q.MaxOutputChars, MaxHistoryTurns: q.MaxHistoryTurns,
		MaxHistoryChars: q.MaxHistoryChars, MaxToolRounds: q.MaxToolRounds, AllowToolUse: q.AllowToolUse,
		Timeout: time.Duration(q.TimeoutMS) * time.Millisecond,
	}
	for _, c := range q.Seats {
		s := endpoint.Seat{ID: c.ID, Name: c.Name, Kind: c.Kind, Role: c.Role, Domains: c.Domains, Owner: c.Owner, Device: c.Device}
		if c.ID == q.You {
			s.SameOwner, s.Owner, s.Device = true, "", ""
			p.You = s
		}
		p.Seats = append(p.Seats, s)
	}
	if p.You.ID == "" {
		p.You = endpoint.Seat{ID: q.You, SameOwner: true}
	}
	return p
}
