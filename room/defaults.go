package room

import (
	"cmp"
	"time"

	"github.com/folkmoot/moot/policies/policy"
)

// Defaults returns the limits of a room that sets none. They are those of the
// one-to-one note where it has them.
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
		DeclineRetry:    5 * time.Second,
		MaxToolRounds:   3,
		MaxViolations:   10,
		SameText:        3,
		SameTextOf:      12,
		MaxInternal:     12,
		MaxPingPong:     4,
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

// orDefaults fills the zero fields of l.
func (l Limits) orDefaults(oneToOne bool) Limits {
	d := Defaults(oneToOne)
	or(&l.MaxTurns, d.MaxTurns)
	or(&l.MaxDuration, d.MaxDuration)
	or(&l.MaxFailures, d.MaxFailures)
	or(&l.MaxDeclines, d.MaxDeclines)
	or(&l.MaxHops, d.MaxHops)
	or(&l.MaxCalls, d.MaxCalls)
	or(&l.MaxOutput, d.MaxOutput)
	or(&l.TurnTimeout, d.TurnTimeout)
	or(&l.ToolTurnTimeout, d.ToolTurnTimeout)
	or(&l.RemoteTimeout, d.RemoteTimeout)
	or(&l.BidTimeout, d.BidTimeout)
	or(&l.DeclineRetry, d.DeclineRetry)
	or(&l.MaxToolRounds, d.MaxToolRounds)
	or(&l.MaxViolations, d.MaxViolations)
	or(&l.SameText, d.SameText)
	or(&l.SameTextOf, d.SameTextOf)
	or(&l.MaxInternal, d.MaxInternal)
	or(&l.MaxPingPong, d.MaxPingPong)
	return l
}

func (c Context) orDefaults() Context {
	d := DefaultContext()
	or(&c.Tokens, d.Tokens)
	or(&c.SummaryTokens, d.SummaryTokens)
	or(&c.HistoryTurns, d.HistoryTurns)
	or(&c.HistoryChars, d.HistoryChars)
	or(&c.LineChars, d.LineChars)
	return c
}

// or puts def in the place of a number that is not set; a negative one is not
// a number that any limit could have.
func or[T cmp.Ordered](v *T, def T) {
	var zero T
	if *v <= zero {
		*v = def
	}
}

// timeout is how long a turn of p may take.
func (l Limits) timeout(p Participant) time.Duration {
	switch {
	case p.Timeout > 0:
		return p.Timeout
	case p.Kind == policy.Remote:
		return l.RemoteTimeout
	case p.Tools:
		return l.ToolTurnTimeout
	}
	return l.TurnTimeout
}
