// Package cli holds the commands of moot.
package cli

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/config"
	"golang.org/x/term"
)

// Main runs the command line of this process and exits with its code.
func Main() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(a.run(os.Args[1:]))
}

// An app is one invocation of moot. A subcommand is made by a function
//
//	func newXCmd(a *app) *cobra.Command
//
// in a file of its own, listed in root.go. When its RunE is called the global
// flags are in effect: the working folder has been changed, format, settings
// and log are set. It writes its result with emit or to stdout, everything
// else to stderr with note, and returns an error: a *problem.Error where a
// user can do something about it, exitWith for another exit code.
type app struct {
	stdin  io.Reader
	stdout io.Writer // the result, nothing else
	stderr io.Writer // notes, prompts, progress, log, errors

	flags    globals
	format   string           // of the result: one that the command declares
	settings config.Settings  // in force
	origins  []config.Setting // where each comes from
	log      *slog.Logger     // to stderr
	started  bool             // a command's own code was reached

	allowFuel bool // --allow-fuel, of commands that have it
}

// globals are the flags that every command has.
type globals struct {
	output   string
	dir      string
	noColour bool
	noInput  bool
	quiet    bool
}

// run executes the command line and returns the exit code.
func (a *app) run(args []string) int {
	ctx, stop := a.interruptible(context.Background())
	defer stop()
	root := newRootCmd(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if !a.started {
		err = a.usage(root, args, err)
	}
	code := exitCode(ctx, err)
	a.printError(err, args)
	return code
}

// wiring constructs what the settings describe.
func (a *app) wiring() moot.Wiring {
	w := moot.Wiring{Settings: a.settings, Log: a.log, Output: a.stderr, Note: a.note, AllowFuel: a.allowFuel}
	if a.interactive() {
		w.Passphrase = a.askPassphrase
	}
	return w
}

// interactive reports whether a person can be asked on stdin.
func (a *app) interactive() bool { return !a.flags.noInput && isTerminal(a.stdin) }

// isTerminal reports whether v is an open terminal.
func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
