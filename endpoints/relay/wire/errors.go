package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/problem"
)

// Codes of errors in a Response.
const (
	CodeDenied      = "denied"
	CodeLimit       = "limit"
	CodeInterrupted = "interrupted"
	CodeForgot      = "forgot"   // the request builds on an agent session that has ended
	CodeRestarts    = "restarts" // the agent has ended and is restarted for its next turn
	CodeTimeout     = "timeout"
	CodeExited      = "exited"
	CodeTooLarge    = "too_large"
	CodeProtocol    = "protocol"
	CodeAgent       = "agent"
	CodeCancelled   = "cancelled"
	CodeStale       = "stale" // a newer process speaks for the room
	CodeFailed      = "failed"
)

// errorsByCode says what each code means to the device that asked. The order
// matters to CodeOf: it takes the first kind that matches.
var errorsByCode = []struct {
	code string
	kind error
	name string // code of the problem
	what string
	fix  string
}{
	{CodeDenied, endpoint.ErrDenied, "RELAY-DENIED", "the other owner's device refuses", "ask its owner to allow this device for that profile"},
	{CodeLimit, endpoint.ErrLimited, "RELAY-BUSY", "the other owner's device has reached a limit", "wait, or ask its owner to raise it"},
	{CodeInterrupted, endpoint.ErrInterrupted, "RELAY-INTERRUPTED", "the other owner's device was interrupted while its agent worked", "give the agent the floor again: it never gets the same request twice"},
	{CodeForgot, endpoint.ErrInterrupted, "RELAY-FORGOT", "the remote agent was restarted and has lost what it was told", "nothing: its next turn sends the whole context"},
	{CodeTimeout, endpoint.ErrTimeout, "RELAY-TIMEOUT", "the remote agent gave no answer in time", "give the seat a longer time-out"},
	{CodeRestarts, endpoint.ErrInterrupted, "RELAY-RESTARTS", "the remote agent's process has ended and is restarted for its next turn", "give it the floor again; its last words are in its owner's log"},
	{CodeExited, endpoint.ErrExited, "RELAY-EXITED", "the remote agent's process has ended", "ask its owner, whose log has its last words, to start the share again; then restore the seat"},
	{CodeTooLarge, endpoint.ErrTooLarge, "AGENT-TOOLARGE", "the remote agent's answer is too large", "raise maxOutputChars"},
	{CodeProtocol, endpoint.ErrProtocol, "AGENT-PROTOCOL", "the remote agent broke its protocol", "ask its owner to fix it"},
	{CodeAgent, endpoint.ErrAgent, "AGENT-ERROR", "the remote agent reports an error", "ask its owner to fix it"},
}

// ErrClosed is the error of an endpoint that has been closed.
var ErrClosed = Problem("AGENT-CLOSED", "the agent's endpoint has been closed", "restore the seat, which opens it again", endpoint.ErrClosed)

// CodeOf returns the code for an error of an agent or of a device's own rules.
func CodeOf(err error) string {
	if errors.Is(err, endpoint.ErrExited) && errors.Is(err, endpoint.ErrInterrupted) {
		return CodeRestarts
	}
	for _, e := range errorsByCode {
		if errors.Is(err, e.kind) {
			return e.code
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return CodeCancelled
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	}
	return CodeFailed
}

// ErrorOf returns the error for a code and a reason of another device. Neither
// is trusted.
func ErrorOf(code, reason string) error {
	reason = endpoint.CleanLine(reason, maxReason)
	for _, e := range errorsByCode {
		if e.code != code {
			continue
		}
		what := e.what
		if reason != "" {
			what += ": " + reason
		}
		return Problem(e.name, what, e.fix, e.kind)
	}
	return Problem("AGENT-ERROR", "the remote agent failed: "+endpoint.CleanLine(code+" "+reason, maxReason), "ask its owner what happened", endpoint.ErrAgent)
}

// Problem returns a coded error of a kind of endpoint's.
func Problem(code, what, fix string, kind error) error {
	return &problem.Error{Code: code, What: what, Fix: fix, Kind: kind}
}

// Undeliverable returns the error for a message that a Link could not deliver.
func Undeliverable(err error) error {
	switch {
	case errors.Is(err, session.ErrSuspended):
		return Problem("RELAY-KEYS", "the other owner's device has other keys than before", "compare the digits with its owner, then accept them with `moot peers verify`, and restore the seat", endpoint.ErrUntrusted)
	case errors.Is(err, session.ErrUnknownPeer):
		return Problem("RELAY-PEER", "the device of this seat is not paired with this one any more", "pair it again with `moot invite`", endpoint.ErrUntrusted)
	case errors.Is(err, session.ErrTooLarge):
		return Problem("RELAY-SIZE", "the prompt is over 256 KiB and cannot be made smaller", "lower context.tokens, or have shorter messages", endpoint.ErrTooLarge)
	case errors.Is(err, session.ErrViolation):
		return Problem("AGENT-PROTOCOL", "the other owner's device broke the protocol", "ask its owner which release of moot it runs", endpoint.ErrProtocol)
	}
	return &problem.Error{
		Code: "RELAY-UNREACHABLE", What: "the other owner's device cannot be reached", Err: err, Kind: endpoint.ErrUnreachable,
		Fix: "see that `moot share` runs there and both use the same relay",
	}
}

// Ended returns the error of a request whose context has ended.
func Ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrorOf(CodeTimeout, "")
	}
	return fmt.Errorf("waiting for the remote agent: %w", context.Cause(ctx))
}
