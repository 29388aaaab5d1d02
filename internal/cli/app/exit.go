package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/problem"
)

// Exit codes. They are frozen: scripts branch on them.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitInput       = 3
	ExitAuth        = 4
	ExitLimit       = 5
	ExitGate        = 6
	ExitPolicy      = 7
	ExitInterrupted = 130
)

// An ending is an exit code with what it means.
type Ending struct {
	Code  int    `json:"code"`
	Means string `json:"means"`
}

// ExitCodes is what `moot help exit-codes` prints.
var ExitCodes = []Ending{
	{ExitOK, "ended as designed: the policy finished, the room settled, a person stopped it"},
	{ExitFailure, "failure: the log, the network, the machine"},
	{ExitUsage, "usage: a wrong flag or argument"},
	{ExitInput, "an input file is invalid: room.yaml, a policy, a transcript"},
	{ExitAuth, "not authorised"},
	{ExitLimit, "a limit or a loop guard ended the room"},
	{ExitGate, "a gate failed: --fail-if, --max"},
	{ExitPolicy, "a policy failed and the room paused"},
	{ExitInterrupted, "interrupted: the room paused"},
}

// An exitError ends moot with a code of its own. A nil err prints nothing.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// ExitWith returns an error that ends moot with that code. err is printed; it
// may be nil, when everything has been said.
func ExitWith(code int, err error) error { return &exitError{code, err} }

// Usagef reports a wrong command line.
func Usagef(cmd *cobra.Command, format string, args ...any) error {
	return &problem.Error{
		Code: "CLI-USAGE", What: fmt.Sprintf(format, args...),
		Fix: "`" + cmd.CommandPath() + " --help` shows what there is",
	}
}

// Usage turns what cobra says about a command line into a problem.
func (a *App) Usage(root *cobra.Command, args []string, err error) error {
	var coded problem.Coded
	if errors.As(err, &coded) {
		return err
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil {
		cmd = root
	}
	return Usagef(cmd, "%s", err)
}

// ExitCode returns the code that an error ends moot with.
func ExitCode(ctx context.Context, err error) int {
	var exit *exitError
	var coded problem.Coded
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.code
	case errors.Is(context.Cause(ctx), ErrInterrupted):
		return ExitInterrupted
	case errors.As(err, &coded):
		if m, ok := problem.Lookup(coded.ErrorCode()); ok && m.Exit != 0 {
			return m.Exit
		}
	}
	return ExitFailure
}

func FlagProblem(flag, value, fix string) error {
	return &problem.Error{Code: "CLI-USAGE", What: fmt.Sprintf("%s %q is not allowed", flag, value), Fix: fix}
}
