package guest

import "strings"

// Codes of the errors of the sandbox. Codes of load refuse a module; codes of
// run end one decision.
const (
	CodeLimits    = "load.limits"       // a structural limit is exceeded
	CodeMalformed = "load.malformed"    // not a module, or not a valid one
	CodeFeatures  = "load.features"     // it uses instructions that the sandbox does not run
	CodeImports   = "load.imports"      // it imports a function that the sandbox does not have
	CodeSignature = "load.signature"    // an export has another type than the ABI says
	CodeABI       = "load.abi"          // not a room policy, or another ABI
	CodeDigest    = "load.digest"       // other bytes than the approved ones
	CodeUntrusted = "load.untrusted"    // third-party modules cannot be loaded here
	CodeInit      = "load.init"         // the module failed while it was set up
	CodeConfigure = "load.configure"    // the module refused its settings
	CodeCompile   = "load.compile"      // it could not be compiled within the limits
	CodeCache     = "load.cache"        // the cache cannot be used
	CodeClosed    = "load.closed"       // the host, or the policy, is closed
	CodeTrap      = "run.trap"          // the module failed
	CodeFuel      = "run.out_of_fuel"   // it used too much fuel or processor time
	CodeDepth     = "run.stack_depth"   // its calls nest too deep
	CodeMemory    = "run.memory"        // its memory cannot hold the input
	CodeOutput    = "run.bad_output"    // its answer is not a decision
	CodeChoice    = "run.bad_choice"    // it chose an agent that cannot be chosen
	CodeState     = "run.state_too_big" // the state that it returned is too large
	CodeRefused   = "run.refused"       // the policy says that it cannot decide
	CodeAudit     = "run.audit"         // a reused instance and a new one answered differently
)

// An Error is an error of the sandbox for people and scripts: a stable code,
// a sentence, a place and a fix.
type Error struct {
	Code  string // one of the codes above
	What  string // one sentence, without a full stop; it includes the cause
	Where string // the policy, and the place in its module
	Fix   string // what to do
	Err   error  // the cause, for errors.Is; not printed
}

// ErrorFix returns what a person can do about the error.
func (e *Error) ErrorFix() string { return e.Fix }

// Error returns place, sentence and code on one line.
func (e *Error) Error() string {
	s := e.What + " [" + e.Code + "]"
	if e.Where != "" {
		s = e.Where + ": " + s
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the stable code.
func (e *Error) ErrorCode() string { return e.Code }

// Clip shortens text that a module chose, and makes it valid UTF-8.
func Clip(s string) string {
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// FirstLine returns the first line of s, clipped.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return Clip(s)
}

// Cause returns the reason of an engine's error without its stack trace and
// its prefix.
func Cause(err error) string {
	s := FirstLine(err.Error())
	if _, after, ok := strings.Cut(s, "wasm error: "); ok {
		return after
	}
	return s
}
