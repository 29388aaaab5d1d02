package ndjson

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// A fault is why a request ends without a reply. rule names what the agent
// broke, for the log; it is empty when it only reported an error of its own.
type fault struct {
	rule string
	kind error // one of endpoint's
	text string
}

func faultf(rule string, kind error, format string, args ...any) *fault {
	return &fault{rule, kind, fmt.Sprintf(format, args...)}
}

const checkFix = "run `moot endpoint check -- COMMAND` to see what the agent must do"

// problem returns the fault as the error that the room and its people see.
func (f *fault) problem() error {
	switch {
	case f == nil:
		return nil
	case errors.Is(f.kind, endpoint.ErrTooLarge):
		return fail("AGENT-TOOLARGE", "the agent's answer is too large: "+f.text, "raise the limit, or have the agent keep to constraints.max_output_chars", f.kind)
	case errors.Is(f.kind, endpoint.ErrAgent):
		return fail("AGENT-ERROR", "the agent reports an error: "+f.text, "mend what the agent complains about", f.kind)
	}
	return fail("AGENT-PROTOCOL", "the agent broke the protocol: "+f.text, checkFix, f.kind)
}

func fail(code, what, fix string, kind error) error {
	return &problem.Error{Code: code, What: what, Fix: fix, Err: quiet{kind}}
}

// quiet is found by errors.Is and adds nothing to what is printed.
type quiet struct{ error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.error }

var errClosed = fail("AGENT-CLOSED", "the agent's endpoint has been closed", "restore the seat, which starts the agent anew", endpoint.ErrClosed)

// ended says why nobody waits for an answer any more.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fail("AGENT-TIMEOUT", "the agent gave no answer in time", "give the seat a longer time-out, or see why the agent is slow", endpoint.ErrTimeout)
	}
	return fmt.Errorf("waiting for the agent: %w", context.Cause(ctx))
}
