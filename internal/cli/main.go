// Package cli is the command line of moot: the root of the command tree. The
// commands are in the packages below it, by topic.
package cli

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/accesscmd"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/controlcmd"
	"github.com/folkmoot/moot/internal/cli/mcpcmd"
	"github.com/folkmoot/moot/internal/cli/policycmd"
	"github.com/folkmoot/moot/internal/cli/relaycmd"
	"github.com/folkmoot/moot/internal/cli/replaycmd"
	"github.com/folkmoot/moot/internal/cli/roomcmd"
	"github.com/folkmoot/moot/internal/cli/seatcmd"
	"github.com/folkmoot/moot/internal/cli/servecmd"
	"github.com/folkmoot/moot/internal/cli/setupcmd"
	"github.com/folkmoot/moot/internal/cli/simcmd"
	"github.com/folkmoot/moot/internal/cli/transcriptcmd"
	"github.com/folkmoot/moot/internal/cli/wastecmd"
)

// Main runs the command line of this process and exits with its code.
func Main() {
	a := &app.App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: app.NewConsole(os.Stderr)}
	os.Exit(run(a, os.Args[1:]))
}

// run executes the command line and returns the exit code.
func run(a *app.App, args []string) int {
	ctx, stop := a.Interruptible(context.Background())
	defer stop()
	root := newRootCmd(a)
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	err := cmp.Or(root.ExecuteContext(ctx), a.HelpError)
	if err == nil {
		return app.ExitOK
	}
	if !a.Started {
		err = a.Usage(root, args, err)
	}
	code := app.ExitCode(ctx, err)
	a.PrintError(err, args)
	return code
}

// Groups of commands in the help.
const (
	groupRooms    = "rooms"
	groupPolicies = "policies"
	groupSetup    = "setup"
)

// newRootCmd makes the whole command tree.
func newRootCmd(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "moot",
		Short: "Host rooms in which agents of several owners, and people, work on one objective",
		Long: "moot hosts rooms in which agents of several owners, and people, work on one\n" +
			"objective. A small sandboxed program, the policy, decides who speaks next. It\n" +
			"may also decide that nobody should. Anyone can write one.",
		Example:           "  moot demo\n  moot init myroom && moot run myroom/room.yaml",
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		PersistentPreRunE: a.Begin,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              cobra.ArbitraryArgs,
		RunE:              a.Subcommand,
	}
	a.GlobalFlags(root)
	root.AddGroup(
		&cobra.Group{ID: groupRooms, Title: "Rooms:"},
		&cobra.Group{ID: groupPolicies, Title: "Policies and replay:"},
		&cobra.Group{ID: groupSetup, Title: "Set-up and help:"},
	)
	for group, cmds := range commands(a) {
		for _, cmd := range cmds {
			cmd.GroupID = group
			root.AddCommand(cmd)
		}
	}
	help := setupcmd.HelpCommand(a)
	help.GroupID = groupSetup
	root.SetHelpCommand(help)
	root.SetHelpFunc(a.Help(root.HelpFunc()))
	root.SetFlagErrorFunc(app.FlagError)
	return root
}

// commands lists every subcommand by its group.
func commands(a *app.App) map[string][]*cobra.Command {
	rooms := roomcmd.Commands(a)
	rooms = append(rooms, controlcmd.Commands(a)...)
	rooms = append(rooms, seatcmd.Commands(a)...)
	rooms = append(rooms, transcriptcmd.Command(a))
	rooms = append(rooms, servecmd.Commands(a)...)
	rooms = append(rooms, relaycmd.Commands(a)...)
	rooms = append(rooms, accesscmd.Commands(a)...)
	rooms = append(rooms, mcpcmd.Commands(a)...)
	return map[string][]*cobra.Command{
		groupRooms:    rooms,
		groupPolicies: {policycmd.Command(a), replaycmd.Command(a), wastecmd.Command(a), simcmd.Command(a)},
		groupSetup:    setupcmd.Commands(a),
	}
}
