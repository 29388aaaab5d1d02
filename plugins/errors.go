package plugins

import "strings"

// Codes of the errors of this package. Those of load refuse a module; those
// of run end one decision.
const (
	CodeLimits    = "load.limits"       // a structural limit is exceeded
	CodeMalformed = "load.malformed"    // not a module, or not a valid one
	CodeFeatures  = "load.features"     // it uses instructions that the sandbox does not run
	CodeImports   = "load.imports"      // asks for something that the sandbox does not give
	CodeSignature = "load.signature"    // an export has another type than the ABI says
	CodeABI       = "load.abi"          // not a room policy, or another ABI
	CodeDigest    = "load.digest"       // other bytes than the ones that were approved
	CodeUntrusted = "load.untrusted"    // third-party modules cannot be loaded here
	CodeInit      = "load.init"         // the module failed while it was set up
	CodeConfigure = "load.configure"    // the module refused its settings
	CodeCompile   = "load.compile"      // it could not be compiled within the limits
	CodeCache     = "load.cache"        // the cache cannot be used
	CodeClosed    = "load.closed"       // the host, or the policy, is closed
	CodeTrap      = "run.trap"          // the module failed
	CodeFuel      = "run.out_of_fuel"   // it took too long
	CodeDepth     = "run.stack_depth"   // it called too deep
	CodeMemory    = "run.memory"        // it could not hold its input
	CodeOutput    = "run.bad_output"    // its answer is not a decision
	CodeChoice    = "run.bad_choice"    // it chose somebody who cannot be chosen
	CodeState     = "run.state_too_big" // the state it returned
	CodeRefused   = "run.refused"       // the policy says that it cannot decide
	CodeAudit     = "run.audit"         // a reused instance and a new one answered differently
)

// An Error is what the sandbox tells a person: a stable code, what happened,
// where, and what to do about it.
type Error struct {
	Code  string // one of the codes above
	What  string // one sentence, without a full stop
	Where string // the policy, and the place in its module
	Fix   string // what to do
	Err   error  // the cause, for errors.Is; What says it too
}

// ErrorFix returns what a person can do about it.
func (e *Error) ErrorFix() string { return e.Fix }

// Error returns what happened, where, and the code, on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Where != "" {
		b.WriteString(e.Where)
		b.WriteString(": ")
	}
	b.WriteString(e.What)
	b.WriteString(" [")
	b.WriteString(e.Code)
	b.WriteString("]")
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the stable code.
func (e *Error) ErrorCode() string { return e.Code }
