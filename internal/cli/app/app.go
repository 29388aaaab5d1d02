// Package app is what the commands of moot share: one invocation with its
// flags and settings, output in several formats, errors, exit codes, and what
// the commands need of package moot.
package app

import (
	"io"
	"log/slog"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/config"
)

// An App is one invocation of moot. A package of commands embeds it:
//
//	type commands struct{ *app.App }
//
//	func newXCmd(a *commands) *cobra.Command
//
// When a command's RunE is called the global flags are in effect: the working
// folder has been changed; Format, Settings and Log are set. The command writes
// its result with Emit or to Stdout, and everything else to Stderr with Note.
// It returns a *problem.Error when the user can do something about it, and
// ExitWith for another exit code.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer // the result, nothing else
	Stderr io.Writer // notes, prompts, progress, log, errors

	Flags    globals
	Format   string           // of the result: one that the command declares
	Settings config.Settings  // in force
	Origins  []config.Setting // where each comes from
	Log      *slog.Logger     // to stderr
	Started  bool             // a command's own code was reached

	HelpError error // --help was given with a command that does not exist

	AllowFuel bool // --allow-fuel, of commands that have it

	answers answerReader // of Agree

	tools atomic.Pointer[toolOffer] // nil before this process listens

	hangup atomic.Pointer[func()] // called at SIGHUP; nil is an interrupt
}

// globals are the flags that every command has.
type globals struct {
	output   string
	dir      string
	noColour bool
	server   string
	token    string // a file
	NoInput  bool
	Quiet    bool
}

// Wiring constructs what the settings describe.
func (a *App) Wiring() moot.Wiring {
	w := moot.Wiring{Settings: a.Settings, Log: a.Log, Output: a.Stderr, Note: a.Note, AllowFuel: a.AllowFuel, Tools: a.toolServer}
	if a.Interactive() {
		w.Passphrase = a.AskPassphrase
	}
	w.Working = a.Working
	return w
}

// Interactive reports whether a person can be asked on stdin.
func (a *App) Interactive() bool { return !a.Flags.NoInput && IsTerminal(a.Stdin) }

// IsTerminal reports whether v is an open terminal.
func IsTerminal(v any) bool {
	f, ok := v.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
