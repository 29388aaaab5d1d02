// Package servecmd holds the command that runs all rooms of a device.
package servecmd

import (
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/spf13/cobra"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Commands returns the commands of servers.
func Commands(a *app.App) []*cobra.Command {
	c := &commands{a}
	return []*cobra.Command{newServeCmd(c), newOpenCmd(c), newClusterCmd(c)}
}
