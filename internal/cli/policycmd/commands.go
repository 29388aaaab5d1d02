// Package policycmd holds the commands below `moot policy`: write, build, test,
// measure, pack, install and inspect policies.
package policycmd

import (
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/spf13/cobra"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Command returns the command policy.
func Command(a *app.App) *cobra.Command { return newPolicyCmd(&commands{a}) }
