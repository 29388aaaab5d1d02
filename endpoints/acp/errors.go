package acp

import (
	"errors"
	"fmt"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// A fault is the reason why a turn ends without a reply. rule names the rule that
// the agent broke, for the log. It is empty for an error that the agent reported
// itself.
type fault struct {
	rule string
	kind error // one of endpoint's
	text string
}

func faultf(rule string, kind error, format string, args ...any) *fault {
	return &fault{rule, kind, fmt.Sprintf(format, args...)}
}

// problem returns the fault as the error that the room sees.
func (f *fault) problem() error {
	switch {
	case errors.Is(f.kind, endpoint.ErrTooLarge):
		return codedError("AGENT-TOOLARGE", "the agent's answer is too large: "+f.text, "raise limits.maxOutputChars, or tell the agent to be brief", f.kind)
	case errors.Is(f.kind, endpoint.ErrAgent):
		return codedError("AGENT-ERROR", "the agent reports an error: "+f.text, "fix what the agent reports", f.kind)
	}
	return codedError("AGENT-PROTOCOL", "the agent broke the protocol: "+f.text, "run `moot endpoint check --kind acp -- COMMAND` to see what the agent must do", f.kind)
}

func codedError(code, what, fix string, kind error) error {
	return &problem.Error{Code: code, What: what, Fix: fix, Kind: kind}
}
