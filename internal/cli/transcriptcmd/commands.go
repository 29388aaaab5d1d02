// Package transcriptcmd holds the commands below `moot transcript`: list, show,
// follow, export, import, fork, redact, count and verify transcripts.
package transcriptcmd

import (
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/spf13/cobra"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Command returns the command transcript.
func Command(a *app.App) *cobra.Command { return newTranscriptCmd(&commands{a}) }
