package wire

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Defaults of a prompt that states no limit (one-to-one note).
const (
	defaultOutputChars = 12_000
	defaultToolRounds  = 3
)

// Values of the field status.
const (
	StatusOK    = "ok"
	StatusError = "error"
)

// A Response is the body of turn.response and bid.response.
type Response struct {
	Status     string   `json:"status"`           // StatusOK or StatusError
	Code       string   `json:"code,omitempty"`   // of an error; see the Code constants
	Reason     string   `json:"reason,omitempty"` // of an error, a pass or a bid
	Outcome    string   `json:"outcome,omitempty"`
	Text       string   `json:"text,omitempty"`
	Usage      *Usage   `json:"usage,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	Bid        *float64 `json:"bid,omitempty"`
	ToolRounds int      `json:"tool_rounds,omitempty"`
	Cut        bool     `json:"cut,omitempty"` // Text is only the beginning of the answer
	// Cost is in millionths of a US dollar; nil is unknown. It is no part of Usage
	// because it may be known without the tokens.
	Cost *int64 `json:"cost_micros,omitempty"`
	// SessionID is the agent session id: what the agent has been told so far is
	// known to the agent as long as the id stays the same.
	SessionID string `json:"memory,omitempty"`
	// Handoff names who should go on. Devices of earlier releases refuse an answer that has it.
	Handoff *Handoff `json:"handoff,omitempty"`
}

// A Handoff is an [endpoint.Handoff].
type Handoff struct {
	To     string `json:"to"`
	Reason string `json:"reason,omitempty"`
}

// Usage counts tokens. The parts are left out when they are not stated, so that
// devices of earlier releases, which do not know them, read the rest.
type Usage struct {
	Input       int64 `json:"input_tokens"`
	Output      int64 `json:"output_tokens"`
	CachedInput int64 `json:"cached_input_tokens,omitempty"` // part of Input
	Reasoning   int64 `json:"reasoning_tokens,omitempty"`    // part of Output
}

// ResponseOf returns the body of a response with reply.
func ResponseOf(reply endpoint.Reply) Response {
	a := Response{
		Status: StatusOK, Outcome: reply.Outcome, Text: reply.Text, Reason: endpoint.CleanLine(reply.Reason, maxReason),
		Confidence: reply.Confidence, Bid: reply.Bid, ToolRounds: reply.ToolRounds, Cut: reply.Cut,
	}
	if reply.Handoff != nil {
		h := Handoff(reply.Handoff.Bounded())
		a.Handoff = &h
	}
	if u := reply.Usage; u.Known {
		a.Usage = &Usage{u.Input, u.Output, u.CachedInput, u.Reasoning}
	}
	if reply.Usage.CostKnown {
		a.Cost = &reply.Usage.Cost
	}
	return a
}

// usage returns what the agent has stated of the turn.
func (a Response) usage() (u endpoint.Usage) {
	if w := a.Usage; w != nil {
		u = endpoint.Usage{Known: true, Input: w.Input, Output: w.Output, CachedInput: w.CachedInput, Reasoning: w.Reasoning}
	}
	if a.Cost != nil {
		u.CostKnown, u.Cost = true, *a.Cost
	}
	return u
}

// Refusal returns the body of a response with an error.
func Refusal(code string) Response { return Response{Status: StatusError, Code: code} }

// Failure returns the body of a response for an error of an agent. With candid
// it holds the text of the error.
func Failure(err error, candid bool) Response {
	a := Refusal(CodeOf(err))
	if candid {
		a.Reason = endpoint.CleanLine(err.Error(), maxReason)
	}
	return a
}

// A Violation is a rule of the protocol that the other device broke.
type Violation struct {
	Rule   string // stable, for logs
	Kind   error  // one of endpoint's
	Detail string
}

// Problem returns the violation as the error that the room sees.
func (v *Violation) Problem() error {
	if errors.Is(v.Kind, endpoint.ErrTooLarge) {
		return ErrorOf(CodeTooLarge, v.Detail)
	}
	return ErrorOf(CodeProtocol, v.Detail)
}

// Reply returns the reply to p. A violation means that the other device, which
// must check its agent, did not.
func (a Response) Reply(p endpoint.Prompt) (endpoint.Reply, *Violation) {
	if v := a.violation(p); v != nil {
		return endpoint.Reply{}, v
	}
	r := endpoint.Reply{Reason: endpoint.CleanLine(a.Reason, maxReason), Confidence: a.Confidence, Bid: a.Bid, ToolRounds: a.ToolRounds, Usage: a.usage()}
	if p.Kind == endpoint.Bid {
		r.Outcome = endpoint.Passed
		return r, nil
	}
	if a.Handoff != nil {
		h := endpoint.Handoff(*a.Handoff).Bounded()
		r.Handoff = &h
	}
	switch a.Outcome {
	case endpoint.Passed, endpoint.Refused:
		r.Outcome = a.Outcome
	case endpoint.Said:
		r.Outcome, r.Text, r.Cut = endpoint.Said, a.Text, a.Cut
		if strings.TrimSpace(a.Text) == "" {
			r.Outcome, r.Text, r.Cut = endpoint.Passed, "", false
		}
	default:
		return endpoint.Reply{Usage: r.Usage}, &Violation{"bad_outcome", endpoint.ErrProtocol, "its outcome is " + endpoint.Quote(a.Outcome)}
	}
	return r, nil
}

func (a Response) violation(p endpoint.Prompt) *Violation {
	protocol := func(rule, detail string) *Violation { return &Violation{rule, endpoint.ErrProtocol, detail} }
	chars, rounds := OutputLimit(p), cmp.Or(max(p.MaxToolRounds, 0), defaultToolRounds)
	switch n := utf8.RuneCountInString(a.Text); {
	case n > chars:
		return &Violation{"too_large", endpoint.ErrTooLarge, fmt.Sprintf("%d characters, and the limit is %d", n, chars)}
	case a.usage().OutOfRange() != "":
		return protocol("bad_metrics", "its usage is out of range: "+a.usage().OutOfRange())
	case a.Confidence != nil && !(*a.Confidence >= 0 && *a.Confidence <= 1), a.Bid != nil && !(*a.Bid >= 0 && *a.Bid <= 1):
		return protocol("bad_metrics", "its confidence or bid is out of range")
	case len(a.SessionID) > MaxSessionID:
		return protocol("bad_frame", "its agent session id is too long")
	case a.ToolRounds < 0 || a.ToolRounds > 0 && !p.AllowToolUse:
		return protocol("tool_rounds", "tools were used, which is not allowed")
	case a.ToolRounds > rounds:
		return protocol("tool_rounds", fmt.Sprintf("%d tool rounds, and the limit is %d", a.ToolRounds, rounds))
	}
	return nil
}

// OutputLimit returns the most characters that an answer to p may have.
func OutputLimit(p endpoint.Prompt) int { return cmp.Or(max(p.MaxOutputChars, 0), defaultOutputChars) }
