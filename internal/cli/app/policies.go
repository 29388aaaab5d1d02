package app

import (
	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/plugins"
)

// Catalog returns the policies that can be found here.
func (a *App) Catalog() *catalog.Catalog { return a.Wiring().Catalog() }

// Sandbox starts a sandbox that saves the inputs of decisions that fail. The
// caller closes it.
func (a *App) Sandbox() (*plugins.Host, error) {
	w := a.Wiring()
	return w.Sandbox(plugins.Config{FailDir: w.FailDir(), Tiered: true})
}

// FuelFlag gives a command the flag that a policy with a large appetite needs.
func (a *App) FuelFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.AllowFuel, "allow-fuel", false, "let a policy that is not built in have as much fuel as its manifest asks for, so that a decision may take longer than 100 ms")
}

// CompletePolicy completes the name of a policy; the shell adds files.
func CompletePolicy(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return catalog.Names("."), cobra.ShellCompDirectiveDefault
}

// CompletePolicyFlag completes --policy, which cmd has.
func CompletePolicyFlag(cmd *cobra.Command) {
	err := cmd.RegisterFlagCompletionFunc("policy", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return catalog.Names("."), cobra.ShellCompDirectiveDefault
	})
	if err != nil {
		panic(err) // the flag is not there: a mistake that every test shows
	}
}
