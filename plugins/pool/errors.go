package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/tetratelabs/wazero/sys"
)

var (
	errSettingsRefused = errors.New("the policy refused its settings")
	errInputRefused    = errors.New("roompolicy_alloc had no room for the input")
	errNoAnswer        = errors.New("roompolicy_decide returned 0")
	errAnswerOutside   = errors.New("the answer lies outside the memory")
)

// answerTooLong is the error of an answer over the limit, in bytes.
type answerTooLong uint32

func (n answerTooLong) Error() string {
	return fmt.Sprintf("an answer of %d bytes; at most %d", uint32(n), guest.MaxOutput)
}

// runError gives the error of a run its code and its sentence. The code that
// the rewriter added traps as unreachable; the counters tell the reason.
func (in *instance) runError(where string, fuel uint64, err error) *guest.Error {
	e := &guest.Error{Code: guest.CodeTrap, Where: where, Err: err, Fix: "report it to the policy's author, with the input"}
	var exit *sys.ExitError
	var long answerTooLong
	switch {
	case int32(in.depth().Get()) < 0 || strings.HasSuffix(guest.FirstLine(err.Error()), "stack overflow"):
		e.Code, e.What = guest.CodeDepth, fmt.Sprintf("the policy's calls nest deeper than %d", guest.MaxDepth)
		e.Fix = "the policy's author has to bound its recursion"
	case errors.Is(in.preemption.ended, errTime):
		e.Code, e.What, e.Err = guest.CodeFuel, "the policy is too slow: "+errTime.Error(), errTime
		e.Fix = "give it less history, or allow it more with --allow-fuel"
	case in.left() < 0:
		e.Code, e.What = guest.CodeFuel, fmt.Sprintf("the policy used all of its %d units of fuel: a loop without end, or too much work", fuel)
		e.Fix = "give it less history, or the policy's author has to make it cheaper"
	case errors.Is(err, errInputRefused) || in.memory.denied:
		e.Code, e.What = guest.CodeMemory, fmt.Sprintf("the policy's %d pages of memory did not suffice: %s", in.memory.maxBytes>>16, guest.Cause(err))
		e.Fix = "allow it more memory, or less history"
	case errors.Is(err, errAnswerOutside), errors.As(err, &long):
		e.Code, e.What = guest.CodeOutput, "the policy's answer is refused: "+err.Error()
	case errors.As(err, &exit):
		e.What = fmt.Sprintf("the policy exited with code %d", exit.ExitCode())
	default:
		e.What = "the policy failed: " + guest.Cause(err)
	}
	if line := panicLine(in.env.Logged()); line != "" && e.Code == guest.CodeTrap {
		e.What += ": " + line
	}
	return e
}

// setupError is the error of an instance that could not be set up.
func (in *instance) setupError(where string, fuel uint64, err error) *guest.Error {
	e := in.runError(where, fuel, err)
	switch {
	case errors.Is(err, errSettingsRefused):
		e.Code, e.What, e.Fix = guest.CodeConfigure, errSettingsRefused.Error(), "fix the settings"
		if line := panicLine(in.env.Logged()); line != "" {
			e.What += ": " + line
		}
	default:
		switch e.Code { // it was given no history yet
		case guest.CodeFuel:
			e.Fix = "the policy's author has to make its set-up cheaper"
		case guest.CodeMemory:
			e.Fix = "allow it more memory"
		}
		e.Code, e.What = guest.CodeInit, "it could not be set up: "+e.What
	}
	return e
}

// startError is the error of a module that cannot be instantiated, because its
// segments do not fit.
func startError(where string, err error) *guest.Error {
	return &guest.Error{
		Code: guest.CodeInit, Where: where, What: "it could not be started: " + guest.Cause(err),
		Fix: "the policy's author has to fix it", Err: err,
	}
}

// instantiationError is the error of a decision for which no instance could be
// made. It is the caller's when the caller is gone.
func instantiationError(where string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &guest.Error{Code: guest.CodeMemory, Where: where, What: "no instance could be made: " + guest.Cause(err), Fix: "free memory of this machine", Err: err}
	if own, ok := errors.AsType[*guest.Error](err); ok {
		e.Code, e.What, e.Fix = guest.CodeTrap, own.What, own.Fix
	}
	if errors.Is(err, errTime) {
		e.Code = guest.CodeFuel
	}
	return e
}

// panicLine returns the line of a log that says why a module failed: Go prints
// a panic before its stack.
func panicLine(log string) string {
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "error: ") {
			return guest.Clip(line)
		}
	}
	return ""
}
