package setupcmd

import (
	"io"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/spf13/cobra"
)

// shells are those that a completion script can be made for.
var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
}

// newCompletionCmd prints a script that completes moot's command line.
func newCompletionCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:       "completion {bash | zsh | fish | powershell}",
		Short:     "Print a script that completes moot's command line",
		Example:   "  source <(moot completion bash)\n  moot completion fish > ~/.config/fish/completions/moot.fish",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return app.Usagef(cmd, "completion takes one of bash, zsh, fish, powershell")
			}
			return shells[args[0]](cmd.Root(), a.Stdout)
		},
	}
	app.Formats(cmd, app.FormatTable)
	return cmd
}
