package cli

import (
	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/plugins"
)

// catalog returns the policies that can be found here.
func (a *app) catalog() *catalog.Catalog { return a.wiring().Catalog() }

// sandbox starts a sandbox that saves the inputs of decisions that fail. The
// caller closes it.
func (a *app) sandbox() (*plugins.Host, error) {
	w := a.wiring()
	return w.Sandbox(plugins.Config{FailDir: w.FailDir(), Tiered: true})
}

// fuelFlag gives a command the flag that a policy with a large appetite needs.
func (a *app) fuelFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.allowFuel, "allow-fuel", false, "let a policy that is not built in have as much fuel as its manifest asks for, so that a decision may take longer than 100 ms")
}
