// Package relaycmd holds the commands about devices of other owners: the relay,
// pairing, sharing agents and watching rooms.
package relaycmd

import (
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/spf13/cobra"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Commands returns the commands about devices of other owners.
func Commands(a *app.App) []*cobra.Command {
	c := &commands{a}
	return []*cobra.Command{newRelayCmd(c), newShareCmd(c), newWatchCmd(c), newInviteCmd(c), newJoinCmd(c), newPeersCmd(c), newDeviceCmd(c)}
}
