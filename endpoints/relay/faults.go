package relay

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/problem"
)

// faults are the codes by which a share says why there is no answer, and what
// each is here.
var faults = []struct {
	code string
	kind error
	name string // code of the problem
	what string
	fix  string
}{
	{"denied", endpoint.ErrDenied, "RELAY-DENIED", "the other owner's device refuses", "ask its owner to allow this device for that profile"},
	{"limit", endpoint.ErrLimited, "RELAY-BUSY", "the other owner's device has reached a limit", "wait, or ask its owner to raise it"},
	{"interrupted", endpoint.ErrInterrupted, "RELAY-INTERRUPTED", "the other owner's device was interrupted while its agent worked", "give the agent the floor again: it is never asked the same twice"},
	{codeForgot, endpoint.ErrInterrupted, "RELAY-FORGOT", "the remote agent was started anew, and knows nothing of what it was told", "nothing: it is handed everything when it has the floor again"},
	{"timeout", endpoint.ErrTimeout, "RELAY-TIMEOUT", "the remote agent gave no answer in time", "give the seat a longer time-out"},
	{codeRestarts, endpoint.ErrInterrupted, "RELAY-RESTARTS", "the remote agent's process has ended, and is started anew for its next turn", "give it the floor again; its last words are in its owner's log"},
	{"exited", endpoint.ErrExited, "RELAY-EXITED", "the remote agent's process has ended", "ask its owner, whose log has its last words, to start the share again; then restore the seat"},
	{"too_large", endpoint.ErrTooLarge, "AGENT-TOOLARGE", "the remote agent's answer is too large", "raise maxOutputChars"},
	{"protocol", endpoint.ErrProtocol, "AGENT-PROTOCOL", "the remote agent broke its protocol", "ask its owner to mend it"},
	{"agent", endpoint.ErrAgent, "AGENT-ERROR", "the remote agent reports an error", "ask its owner to mend it"},
}

// codeOf is how a share words an error of its agent or of its own rules.
func codeOf(err error) string {
	if errors.Is(err, endpoint.ErrExited) && errors.Is(err, endpoint.ErrInterrupted) {
		return codeRestarts
	}
	for _, f := range faults {
		if errors.Is(err, f.kind) {
			return f.code
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "failed"
}

// faultOf makes an error of what a share said. Its reason is a stranger's.
func faultOf(code, reason string) error {
	reason = endpoint.CleanLine(reason, maxReason)
	for _, f := range faults {
		if f.code != code {
			continue
		}
		if reason != "" {
			return problemOf(f.name, f.what+": "+reason, f.fix, f.kind)
		}
		return problemOf(f.name, f.what, f.fix, f.kind)
	}
	return problemOf("AGENT-ERROR", "the remote agent failed: "+endpoint.CleanLine(code+" "+reason, maxReason), "ask its owner what happened", endpoint.ErrAgent)
}

func problemOf(code, what, fix string, kind error) error {
	return &problem.Error{Code: code, What: what, Fix: fix, Kind: kind}
}

// unsent says why a request cannot be delivered.
func unsent(err error) error {
	switch {
	case errors.Is(err, session.ErrSuspended):
		return problemOf("RELAY-KEYS", "the other owner's device has other keys than before", "compare the digits with its owner, then accept them with `moot peers verify`, and restore the seat", endpoint.ErrUntrusted)
	case errors.Is(err, session.ErrUnknownPeer):
		return problemOf("RELAY-PEER", "the device of this seat is not paired with this one any more", "pair it again with `moot invite`", endpoint.ErrUntrusted)
	case errors.Is(err, session.ErrTooLarge):
		return problemOf("RELAY-SIZE", "the prompt is over 256 KiB and cannot be made smaller", "lower context.tokens, or have shorter messages", endpoint.ErrTooLarge)
	case errors.Is(err, session.ErrViolation):
		return problemOf("AGENT-PROTOCOL", "the other owner's device broke the protocol", "ask its owner which release of moot it runs", endpoint.ErrProtocol)
	}
	return &problem.Error{
		Code: "RELAY-UNREACHABLE", What: "the other owner's device cannot be reached", Err: err, Kind: endpoint.ErrUnreachable,
		Fix: "see that `moot share` runs there and both use the same relay",
	}
}

var errClosed = problemOf("AGENT-CLOSED", "the agent's endpoint has been closed", "restore the seat, which opens it anew", endpoint.ErrClosed)

// ended says why nobody waits for an answer any more.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return faultOf("timeout", "")
	}
	return fmt.Errorf("waiting for the remote agent: %w", context.Cause(ctx))
}
