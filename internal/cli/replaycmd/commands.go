// Package replaycmd holds the commands below `moot replay`: what policies would
// have decided, over rooms and transcripts.
package replaycmd

import (
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/spf13/cobra"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Command returns the command replay.
func Command(a *app.App) *cobra.Command { return newReplayCmd(&commands{a}) }
