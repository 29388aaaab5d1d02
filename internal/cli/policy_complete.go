package cli

import (
	"github.com/folkmoot/moot/internal/catalog"
	"github.com/spf13/cobra"
)

// completePolicy completes the name of a policy; the shell adds files.
func completePolicy(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return catalog.Names("."), cobra.ShellCompDirectiveDefault
}

// completePolicyFlag completes --policy, which cmd has.
func completePolicyFlag(cmd *cobra.Command) {
	err := cmd.RegisterFlagCompletionFunc("policy", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return catalog.Names("."), cobra.ShellCompDirectiveDefault
	})
	if err != nil {
		panic(err) // the flag is not there: a mistake that every test shows
	}
}
