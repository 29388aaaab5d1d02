package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/problem"
)

// Exit codes. They are frozen: scripts branch on them.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInput       = 3
	exitAuth        = 4
	exitLimit       = 5
	exitGate        = 6
	exitPolicy      = 7
	exitInterrupted = 130
)

// An ending is an exit code with what it means.
type ending struct {
	Code  int    `json:"code"`
	Means string `json:"means"`
}

// exitCodes is what `moot help exit-codes` prints.
var exitCodes = []ending{
	{exitOK, "ended as designed: the policy finished, the room settled, a person stopped it"},
	{exitFailure, "failure: the log, the network, the machine"},
	{exitUsage, "usage: a wrong flag or argument"},
	{exitInput, "an input file is invalid: room.yaml, a policy, a transcript"},
	{exitAuth, "not authorised"},
	{exitLimit, "a limit or a loop guard ended the room"},
	{exitGate, "a gate failed: --fail-if, --max"},
	{exitPolicy, "a policy failed and the room paused"},
	{exitInterrupted, "interrupted: the room paused"},
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

// exitWith returns an error that ends moot with that code. err is printed; it
// may be nil, when everything has been said.
func exitWith(code int, err error) error { return &exitError{code, err} }

// usagef reports a wrong command line.
func usagef(cmd *cobra.Command, format string, args ...any) error {
	return &problem.Error{
		Code: "CLI-USAGE", What: fmt.Sprintf(format, args...),
		Fix: "`" + cmd.CommandPath() + " --help` shows what there is",
	}
}

// usage turns what cobra says about a command line into a problem.
func (a *app) usage(root *cobra.Command, args []string, err error) error {
	var coded problem.Coded
	if errors.As(err, &coded) {
		return err
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil {
		cmd = root
	}
	return usagef(cmd, "%s", err)
}

// exitCode returns the code that an error ends moot with.
func exitCode(ctx context.Context, err error) int {
	var exit *exitError
	var coded problem.Coded
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	case errors.Is(context.Cause(ctx), errInterrupted):
		return exitInterrupted
	case errors.As(err, &coded):
		if m, ok := problem.Lookup(coded.ErrorCode()); ok && m.Exit != 0 {
			return m.Exit
		}
	}
	return exitFailure
}
