// Package roomcmd holds the commands that make, run, list, show and remove rooms.
package roomcmd

import (
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/spf13/cobra"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Commands returns the commands that make, run and show rooms.
func Commands(a *app.App) []*cobra.Command {
	c := &commands{a}
	return []*cobra.Command{
		newDemoCmd(c), newDemoAgentCmd(c), newInitCmd(c), newRunCmd(c), newLsCmd(c), newShowCmd(c), newMessagesCmd(c), newCallsCmd(c), newRmCmd(c), newBudgetCmd(c), newEndpointCmd(c), newValidateCmd(c),
	}
}
