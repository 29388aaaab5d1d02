package plugins

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"
)

// errOverdraft ends a call in which the host's work used up the fuel.
var errOverdraft = errors.New("out of fuel")

// failure gives the error of a run its code and its sentence. What the
// rewriter put in traps as unreachable, so the counters tell why.
func (in *instance) failure(where string, fuel uint64, err error) *Error {
	e := &Error{Code: CodeTrap, Where: where, Err: err, Fix: "report it to the policy's author, with the input"}
	var exit *sys.ExitError
	var long errLong
	switch {
	case int32(in.depth().Get()) < 0 || strings.HasSuffix(firstLine(err.Error()), "stack overflow"):
		e.Code, e.What = CodeDepth, fmt.Sprintf("the policy's calls nest deeper than %d", MaxDepth)
		e.Fix = "the policy's author has to bound its recursion"
	case errors.Is(in.pace.ended, errTime):
		e.Code, e.What = CodeFuel, "the policy is too slow: "+errTime.Error()
		e.Fix = "give it less history, or allow it more with --allow-fuel"
	case in.left() < 0:
		e.Code, e.What = CodeFuel, fmt.Sprintf("the policy used more than its %d units of fuel", fuel)
		e.Fix = "give it less history, or the policy's author has to make it cheaper"
	case errors.Is(err, errRefusedInput) || in.memory.denied:
		e.Code, e.What = CodeMemory, fmt.Sprintf("the policy's %d pages of memory did not suffice: %s", in.memory.most>>16, cause(err))
		e.Fix = "allow it more memory, or less history"
	case errors.Is(err, errPlace), errors.As(err, &long):
		e.Code, e.What = CodeOutput, "the policy's answer is refused: "+err.Error()
	case errors.As(err, &exit):
		e.What = fmt.Sprintf("the policy exited with code %d", exit.ExitCode())
	default:
		e.What = "the policy failed: " + cause(err)
	}
	if line := lastLine(in.world.logged()); line != "" && e.Code == CodeTrap {
		e.What += ": " + line
	}
	return e
}

// cause leaves the trace and the engine's own words out of a wasm error.
func cause(err error) string {
	s := firstLine(err.Error())
	if _, after, ok := strings.Cut(s, "wasm error: "); ok {
		return after
	}
	return s
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return clip(s)
}

// lastLine returns the first line that a failing guest logged last: Go prints
// a panic and then its stack.
func lastLine(log string) string {
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "error: ") {
			return clip(line)
		}
	}
	return ""
}
