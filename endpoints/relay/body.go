package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

const (
	maxSeats  = 256
	maxLines  = 4096
	maxTokens = 1_000_000_000
	maxReason = 500
)

// A question is the body of a request: a prompt without what the two sides
// each know by themselves.
type question struct {
	Session     string          `json:"session,omitempty"`
	Mode        string          `json:"mode,omitempty"`
	You         string          `json:"you"`
	Seats       []chair         `json:"seats"`
	Objective   string          `json:"objective"`
	Constraints []string        `json:"constraints,omitempty"`
	Summary     string          `json:"summary,omitempty"`
	History     []line          `json:"history,omitempty"`
	CatchUp     []line          `json:"catch_up,omitempty"`
	Omitted     string          `json:"omitted,omitempty"`
	Hints       json.RawMessage `json:"hints,omitempty"`
	Knows       string          `json:"knows,omitempty"` // the memory that this builds on; see memory.go

	MaxOutputChars  int   `json:"max_output_chars"`
	MaxHistoryTurns int   `json:"max_history_turns"`
	MaxHistoryChars int   `json:"max_history_chars"`
	MaxToolRounds   int   `json:"max_tool_rounds"`
	AllowToolUse    bool  `json:"allow_tool_use"`
	TimeoutMS       int64 `json:"timeout_ms"`
}

type chair struct {
	ID      string   `json:"id"`
	Name    string   `json:"name,omitempty"`
	Kind    string   `json:"kind,omitempty"`
	Role    string   `json:"role,omitempty"`
	Domains []string `json:"domains,omitempty"`
	Owner   string   `json:"owner,omitempty"`
	Device  string   `json:"device,omitempty"`
}

type line struct {
	Seq  int64  `json:"seq,omitempty"`
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Own  bool   `json:"own,omitempty"`
	Kind string `json:"kind,omitempty"`
	Text string `json:"text"`
}

func questionOf(p endpoint.Prompt) question {
	q := question{
		Session: p.Session, Mode: p.Mode, You: p.You.ID, Seats: []chair{}, Objective: p.Objective, Constraints: p.Constraints,
		Summary: p.Summary, History: linesOf(p.History), CatchUp: linesOf(p.CatchUp), Omitted: p.Omitted,
		MaxOutputChars: p.MaxOutputChars, MaxHistoryTurns: p.MaxHistoryTurns, MaxHistoryChars: p.MaxHistoryChars,
		MaxToolRounds: p.MaxToolRounds, AllowToolUse: p.AllowToolUse, TimeoutMS: p.Timeout.Milliseconds(),
	}
	if json.Valid(p.Hints) {
		q.Hints = p.Hints
	}
	known := false
	for _, s := range p.Seats {
		known = known || s.ID == p.You.ID
		q.Seats = append(q.Seats, chairOf(s))
	}
	if !known {
		q.Seats = append(q.Seats, chairOf(p.You))
	}
	return q
}

func chairOf(s endpoint.Seat) chair {
	return chair{ID: s.ID, Name: s.Name, Kind: s.Kind, Role: s.Role, Domains: s.Domains, Owner: s.Owner, Device: s.Device}
}

func linesOf(ls []endpoint.Line) (all []line) {
	for _, l := range ls {
		all = append(all, line(l))
	}
	return all
}

func (q question) check() error {
	switch {
	case len(q.Seats) > maxSeats || len(q.History)+len(q.CatchUp) > maxLines:
		return errors.New("it holds too many seats or messages")
	case q.You == "" || q.MaxOutputChars < 0 || q.MaxHistoryTurns < 0 || q.MaxHistoryChars < 0 || q.MaxToolRounds < 0:
		return errors.New("a number is negative, or nobody is asked")
	case len(q.Knows) > maxMemory:
		return errors.New("it builds on a memory of no such name")
	case q.TimeoutMS < 0 || q.TimeoutMS > (24*time.Hour).Milliseconds():
		return errors.New("its time-out is out of bounds")
	}
	return nil
}

// prompt is what the agent of this device is handed. Whose the others are is
// the host's word; that none of them is of the agent's owner is not.
func (q question) prompt() endpoint.Prompt {
	p := endpoint.Prompt{
		Session: q.Session, Mode: q.Mode, Objective: q.Objective, Constraints: q.Constraints, Summary: q.Summary,
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
	for _, l := range q.History {
		p.History = append(p.History, endpoint.Line(l))
	}
	for _, l := range q.CatchUp {
		p.CatchUp = append(p.CatchUp, endpoint.Line(l))
	}
	return p
}

// An answer is the body of a response.
type answer struct {
	Status     string   `json:"status"`           // statusOK or statusError
	Code       string   `json:"code,omitempty"`   // of an error
	Reason     string   `json:"reason,omitempty"` // of an error, a pass or a bid
	Outcome    string   `json:"outcome,omitempty"`
	Text       string   `json:"text,omitempty"`
	Usage      *usage   `json:"usage,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	Bid        *float64 `json:"bid,omitempty"`
	ToolRounds int      `json:"tool_rounds,omitempty"`
	Memory     string   `json:"memory,omitempty"` // that the agent has now; see memory.go
}

const (
	statusOK    = "ok"
	statusError = "error"
)

type usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

func answerOf(r endpoint.Reply) answer {
	a := answer{
		Status: statusOK, Outcome: r.Outcome, Text: r.Text, Reason: endpoint.CleanLine(r.Reason, maxReason),
		Confidence: r.Confidence, Bid: r.Bid, ToolRounds: r.ToolRounds,
	}
	if r.Usage.Known {
		a.Usage = &usage{r.Usage.Input, r.Usage.Output}
	}
	return a
}

// A message is the body of what an agent says beside its answer.
type message struct {
	To   string `json:"to,omitempty"`
	Text string `json:"text"`
}

// reply is what an answer says to p. A breach is what the other device, which
// has to check its agent, should not have sent.
func (a answer) reply(p endpoint.Prompt) (endpoint.Reply, *breach) {
	if b := a.unfit(p); b != nil {
		return endpoint.Reply{}, b
	}
	r := endpoint.Reply{Reason: endpoint.CleanLine(a.Reason, maxReason), Confidence: a.Confidence, Bid: a.Bid, ToolRounds: a.ToolRounds}
	if a.Usage != nil {
		r.Usage = endpoint.Usage{Known: true, Input: a.Usage.Input, Output: a.Usage.Output}
	}
	if p.Kind == endpoint.Bid {
		r.Outcome = endpoint.Passed
		return r, nil
	}
	switch a.Outcome {
	case endpoint.Passed, endpoint.Refused:
		r.Outcome = a.Outcome
	case endpoint.Said:
		r.Outcome, r.Text = endpoint.Said, a.Text
		if strings.TrimSpace(a.Text) == "" {
			r.Outcome, r.Text = endpoint.Passed, ""
		}
	default:
		return endpoint.Reply{Usage: r.Usage}, &breach{"bad_outcome", endpoint.ErrProtocol, "its outcome is " + quote(a.Outcome)}
	}
	return r, nil
}

// A breach is a rule that the other side broke.
type breach struct {
	rule string
	kind error
	what string
}

func (a answer) unfit(p endpoint.Prompt) *breach {
	bad := func(rule, what string) *breach { return &breach{rule, endpoint.ErrProtocol, what} }
	limit := orElse(p.MaxOutputChars, 12_000)
	switch n := utf8.RuneCountInString(a.Text); {
	case n > limit:
		return &breach{"too_large", endpoint.ErrTooLarge, fmt.Sprintf("%d characters, and the limit is %d", n, limit)}
	case a.Usage != nil && (a.Usage.Input < 0 || a.Usage.Output < 0 || a.Usage.Input > maxTokens || a.Usage.Output > maxTokens):
		return bad("bad_metrics", "its usage is out of range")
	case a.Confidence != nil && !(*a.Confidence >= 0 && *a.Confidence <= 1), a.Bid != nil && !(*a.Bid >= 0 && *a.Bid <= 1):
		return bad("bad_metrics", "its confidence or bid is out of range")
	case len(a.Memory) > maxMemory:
		return bad("bad_frame", "the name of its memory is too long")
	case a.ToolRounds < 0 || a.ToolRounds > 0 && !p.AllowToolUse:
		return bad("tool_rounds", "tools were used, which is not allowed")
	case a.ToolRounds > orElse(p.MaxToolRounds, 3):
		return bad("tool_rounds", fmt.Sprintf("%d tool rounds, and the limit is %d", a.ToolRounds, orElse(p.MaxToolRounds, 3)))
	}
	return nil
}

func orElse(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}
