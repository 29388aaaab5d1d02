// Package setupcmd holds the commands about moot itself: settings, schemas,
// checks, completion, the manual and help.
package setupcmd

import (
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/spf13/cobra"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Commands returns the commands about moot itself.
func Commands(a *app.App) []*cobra.Command {
	c := &commands{a}
	return []*cobra.Command{newConfigCmd(c), newSchemaCmd(c), newDoctorCmd(c), newBackupCmd(c), newRestoreCmd(c), newLogCmd(c), newCompletionCmd(c), newManCmd(c), newVersionCmd(c)}
}

// HelpCommand returns the command help.
func HelpCommand(a *app.App) *cobra.Command { return newHelpCmd(&commands{a}) }
