package room

import (
	"cmp"
	"math/bits"
	"reflect"
	"time"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/loops"
)

// Limits stop a room. A zero field means the default of [Defaults], never
// "unlimited"; the optional ones, MaxTokens, MaxCost and DraftTimeout, have no
// default.
type Limits struct {
	MaxTurns    int           `json:"max_turns,omitempty"`
	MaxDuration time.Duration `json:"max_duration_ns,omitempty"` // of the room's clock
	MaxFailures int           `json:"max_failures,omitempty"`    // consecutive
	MaxTokens   int64         `json:"max_tokens,omitempty"`
	MaxCost     int64         `json:"max_cost,omitempty"`     // in millionths, see Price
	MaxDeclines int           `json:"max_declines,omitempty"` // in a row
	MaxHops     int           `json:"max_hops,omitempty"`
	MaxCalls    int           `json:"max_calls,omitempty"` // child calls of the room
	MaxOutput   int           `json:"max_output_chars,omitempty"`

	TurnTimeout     time.Duration `json:"turn_timeout_ns,omitempty"`      // local, no tools
	ToolTurnTimeout time.Duration `json:"tool_turn_timeout_ns,omitempty"` // local, with tools
	RemoteTimeout   time.Duration `json:"remote_timeout_ns,omitempty"`
	BidTimeout      time.Duration `json:"bid_timeout_ns,omitempty"`
	StartTimeout    time.Duration `json:"start_timeout_ns,omitempty"` // until a started agent is ready
	DeclineRetry    time.Duration `json:"decline_retry_ns,omitempty"`
	MaxToolRounds   int           `json:"max_tool_rounds,omitempty"`
	MaxViolations   int           `json:"max_violations,omitempty"`
	SameText        int           `json:"same_text,omitempty"`     // the same text this many times ...
	SameTextOf      int           `json:"same_text_of,omitempty"`  // ... among this many messages
	MaxInternal     int           `json:"max_internal,omitempty"`  // internal exchanges without progress
	MaxPingPong     int           `json:"max_ping_pong,omitempty"` // rounds of clarifications or hand-offs of two agents
	MaxRing         int           `json:"max_ring,omitempty"`      // steps of a ring of agents that wake each other
	PairRate        int           `json:"pair_rate,omitempty"`     // messages a minute from one agent to another, outside turns
	PairBurst       int           `json:"pair_burst,omitempty"`    // of them at once

	AckTimeout     time.Duration `json:"ack_timeout_ns,omitempty"`   // until an acknowledgement is missed
	MaxAckAttempts int           `json:"max_ack_attempts,omitempty"` // missed ones until the message is a dead letter

	PermissionTimeout time.Duration `json:"permission_timeout_ns,omitempty"` // until a permission request is refused
	DraftTimeout      time.Duration `json:"draft_timeout_ns,omitempty"`      // until a draft is not sent
}

// Bounds of the time until a declining policy is asked again. A longer one of
// the policy's choice would hold a room in which no message arrives.
const (
	minRetry = 100 * time.Millisecond
	maxRetry = time.Minute
)

// Retry returns how long a room waits after a declined round for which the policy
// asked for ms milliseconds, at most a minute; 0 means the default. l are the
// limits in force.
func (l Limits) Retry(ms int64) time.Duration {
	retry := l.DeclineRetry
	if ms > 0 {
		retry = time.Duration(min(ms, maxRetry.Milliseconds())) * time.Millisecond
	}
	return max(retry, minRetry)
}

// Defaults returns the limits of a room that sets none.
func Defaults(oneToOne bool) Limits {
	l := Limits{
		MaxTurns:    40,
		MaxDuration: 30 * time.Minute,
		MaxFailures: 3,
		MaxDeclines: 3,
		MaxHops:     2,
		MaxCalls:    50,
		MaxOutput:   12_000,

		TurnTimeout:     60 * time.Second,
		ToolTurnTimeout: 120 * time.Second,
		RemoteTimeout:   300 * time.Second,
		BidTimeout:      10 * time.Second,
		StartTimeout:    120 * time.Second,
		DeclineRetry:    5 * time.Second,
		MaxToolRounds:   3,
		MaxViolations:   10,
		SameText:        3,
		SameTextOf:      12,
		MaxInternal:     12,
		MaxPingPong:     4,
		MaxRing:         20,
		PairRate:        6,
		PairBurst:       3,

		AckTimeout:     5 * time.Minute,
		MaxAckAttempts: 3,

		PermissionTimeout: 120 * time.Second,
	}
	if oneToOne {
		l.MaxTurns, l.MaxDuration = 8, 10*time.Minute
	}
	return l
}

// DefaultContext returns the window of a room that sets none.
func DefaultContext() Context {
	return Context{Tokens: 8_000, SummaryTokens: 1_500, HistoryTurns: 6, HistoryChars: 24_000, LineChars: 120}
}

// orDefaults returns l with defaults in the fields that are not positive.
func (l Limits) orDefaults(oneToOne bool) Limits {
	setDefaults(&l, Defaults(oneToOne))
	return l
}

func (c Context) orDefaults() Context {
	setDefaults(&c, DefaultContext())
	return c
}

// setDefaults sets each field of *v, a struct of integers, that is not positive.
func setDefaults[T any](v *T, defaults T) {
	fields, d := reflect.ValueOf(v).Elem(), reflect.ValueOf(defaults)
	for i := range d.NumField() {
		if fields.Field(i).Int() <= 0 {
			fields.Field(i).Set(d.Field(i))
		}
	}
}

// setDefault sets *v to def if it is zero or negative; no limit is negative.
func setDefault[T cmp.Ordered](v *T, def T) {
	var zero T
	if *v <= zero {
		*v = def
	}
}

// timeout returns the time limit of a turn of p. A running session may be in the
// middle of other work, and has the time of a remote agent.
func (l Limits) timeout(p Participant) time.Duration {
	switch {
	case p.Timeout > 0:
		return p.Timeout
	case p.Kind == policy.Remote, p.Session:
		return l.RemoteTimeout
	case p.Tools:
		return l.ToolTurnTimeout
	}
	return l.TurnTimeout
}

// startTimeout returns the time limit of a start of p's agent.
func (l Limits) startTimeout(p Participant) time.Duration {
	if p.StartTimeout > 0 {
		return p.StartTimeout
	}
	return l.StartTimeout
}

// A Tally holds the counts that limits apply to.
type Tally struct {
	Turns    int   `json:"turns"`
	Failures int   `json:"failures"` // consecutive; only a success resets them
	Declines int   `json:"declines"` // in a row
	Messages int   `json:"messages"`
	Tokens   int64 `json:"tokens"`
	Cost     int64 `json:"cost"`
	Errors   int   `json:"errors"`   // failed turns in all
	Declined int   `json:"declined"` // declined rounds in all
	Passed   int   `json:"passed,omitempty"`

	Estimated     bool  `json:"estimated,omitempty"`           // part of Tokens is an estimate
	CostEstimated bool  `json:"cost_estimated,omitempty"`      // part of Cost is an estimate
	CachedInput   int64 `json:"cached_input_tokens,omitempty"` // part of Tokens, as far as stated
	Reasoning     int64 `json:"reasoning_tokens,omitempty"`    // part of Tokens, as far as stated
}

// add charges a turn to the room.
func (t *Tally) add(c charge) {
	addTo(&t.Tokens, c.tokens)
	addTo(&t.Cost, c.cost)
	addTo(&t.CachedInput, c.cached)
	addTo(&t.Reasoning, c.reasoning)
	t.Estimated = t.Estimated || c.estimated
	t.CostEstimated = t.CostEstimated || c.costEstimated
}

// add charges a turn to the seat.
func (x *Seat) add(c charge) {
	addTo(&x.Spent, c.tokens)
	addTo(&x.Cost, c.cost)
	addTo(&x.CachedInput, c.cached)
	addTo(&x.Reasoning, c.reasoning)
	x.Estimated = x.Estimated || c.estimated
	x.CostEstimated = x.CostEstimated || c.costEstimated
}

// maxSum is the largest count of tokens and the largest cost. Sums stop there
// instead of overflowing.
const maxSum = 1 << 52

// addTo adds n, which is not negative, to a sum.
func addTo(sum *int64, n int64) { *sum = min(*sum+min(n, maxSum), maxSum) }

// A charge is what a turn adds to the counts of its seat and of the room.
type charge struct {
	tokens, cached, reasoning int64
	cost                      int64
	estimated, costEstimated  bool
}

// chargeOf returns the charge of a turn at price p: what the agent states or, where
// it states nothing possible, an estimate from the size of the prompt in tokens and
// from the text of the answer. A stated cost takes the place of the price.
func chargeOf(p Price, u Usage, prompt int64, text string) charge {
	if u.OutOfRange() != "" {
		u = Usage{}
	}
	if !u.Known {
		u.Input, u.Output, u.CachedInput, u.Reasoning = min(max(0, prompt), maxSum), int64(estimate(text)), 0, 0
	}
	c := charge{tokens: u.Input + u.Output, cached: u.CachedInput, reasoning: u.Reasoning, cost: u.Cost, estimated: !u.Known}
	if !u.CostKnown {
		c.cost = p.of(u)
		c.costEstimated = !u.Known && c.cost > 0
	}
	return c
}

// estimate returns the estimated number of tokens of a text: bytes / 4.
func estimate(text string) int { return (len(text) + 3) / 4 }

// of returns the cost of u at price p.
func (p Price) of(u Usage) int64 {
	cached := int64(0)
	if p.CachedInput > 0 {
		cached = u.CachedInput
	}
	return price(u.Input-cached, p.Input) + price(cached, p.CachedInput) + price(u.Output, p.Output)
}

// price returns the price of tokens, at least 0 and at most maxSum.
func price(tokens, perMillion int64) int64 {
	if tokens <= 0 || perMillion <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(tokens), uint64(perMillion))
	if hi >= 1_000_000 {
		return maxSum
	}
	q, _ := bits.Div64(hi, lo, 1_000_000)
	return int64(min(q, maxSum))
}

// reached returns the limit that a room with tally t has reached, or "".
func (t Tally) reached(l Limits, now Now) (name, reason string) {
	switch {
	case now.Clock >= l.MaxDuration:
		return "maxDuration", "the room has run for " + human.Duration(now.Clock)
	case t.Turns >= l.MaxTurns:
		return "maxTurns", count(t.Turns, "turn") + " granted"
	case t.Failures >= l.MaxFailures:
		return "maxFailures", count(t.Failures, "failure") + " in a row"
	case l.MaxTokens > 0 && t.Tokens >= l.MaxTokens:
		return "maxTokens", human.Rough(count(int(t.Tokens), "token"), t.Estimated) + " of " + itoa(l.MaxTokens) + " used"
	case l.MaxCost > 0 && t.Cost >= l.MaxCost:
		return "maxCost", "a cost of " + human.Rough(human.Money(t.Cost), t.CostEstimated) + " of " + human.Money(l.MaxCost)
	}
	return "", ""
}

// raised returns the limits with which a room that a limit or a loop guard has
// stopped can go on: the one that it has reached is doubled, and leaves enough for
// one more turn. Other rooms keep their limits.
func (s *State) raised() Limits {
	l := s.Limits
	if s.Phase != PhaseStopped {
		return l
	}
	switch s.Ending.Name {
	case "maxTurns":
		l.MaxTurns = 2 * max(l.MaxTurns, s.Tally.Turns)
	case "maxDuration":
		l.MaxDuration = (2*max(l.MaxDuration, s.Clock) + l.TurnTimeout).Truncate(time.Second)
	case "maxFailures":
		l.MaxFailures = 2 * max(l.MaxFailures, s.Tally.Failures)
	case "maxTokens":
		l.MaxTokens = 2*max(l.MaxTokens, s.Tally.Tokens) + int64(s.Bounds.Tokens)
	case "maxCost":
		l.MaxCost = 2*max(l.MaxCost, s.Tally.Cost) + s.costliestPrompt()
	case loopSameText:
		l.SameText *= 2
		l.SameTextOf = max(l.SameTextOf, l.SameText)
	case loops.Ring:
		l.MaxRing *= 2
	case loops.PingPong:
		l.MaxPingPong *= 2
	case loops.Internal:
		l.MaxInternal *= 2
	}
	return l
}

// costliestPrompt returns the highest cost that a prompt of the allowed size can
// have.
func (s *State) costliestPrompt() int64 {
	most := int64(0)
	for _, x := range s.Seats {
		most = max(most, x.Price.of(Usage{Input: int64(s.Bounds.Tokens)}))
	}
	return most
}
