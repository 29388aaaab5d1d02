package subprocess

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

const exitFix = "see its last words; restart: N allows N restarts"

// ErrClosed is the error of requests after Close. It wraps endpoint.ErrClosed.
var ErrClosed error = &problem.Error{Code: "AGENT-CLOSED", What: "the agent's endpoint has been closed", Fix: "restore the seat, which restarts the agent", Kind: endpoint.ErrClosed}

// ExitError returns an error that wraps endpoint.ErrExited: what happened, and the
// last words of the process on standard error, if any.
func ExitError(what, fix, words string) error {
	return &problem.Error{Code: "AGENT-EXITED", What: WithWords(what, words), Fix: fix, Kind: endpoint.ErrExited}
}

// WithWords returns what happened with the last words of the process, if any.
func WithWords(what, words string) string {
	if words == "" {
		return what
	}
	return what + "\nits last words:\n" + words
}

// ContextError returns the error of a request whose context has ended: one that
// wraps endpoint.ErrTimeout after a deadline, else one that wraps the cause.
func ContextError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &problem.Error{Code: "AGENT-TIMEOUT", What: "the agent gave no answer in time", Fix: "give the seat a longer time-out, or see why the agent is slow", Kind: endpoint.ErrTimeout}
	}
	return fmt.Errorf("waiting for the agent: %w", context.Cause(ctx))
}
