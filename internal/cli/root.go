package cli

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
)

// Groups of commands in the help.
const (
	groupRooms    = "rooms"
	groupPolicies = "policies"
	groupSetup    = "setup"
)

// newRootCmd makes the whole command tree.
func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "moot",
		Short: "Rooms in which agents of several owners, and people, work on one objective",
		Long: "moot hosts rooms in which agents of several owners, and people, work on one\n" +
			"objective. A policy, which anybody can write and nobody has to trust, decides\n" +
			"who speaks next, or that nobody should.",
		Example:           "  moot demo\n  moot init myroom && moot run myroom/room.yaml",
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		PersistentPreRunE: a.begin,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              cobra.ArbitraryArgs,
		RunE:              a.subcommand,
	}
	a.globalFlags(root)
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
	help := newHelpCmd(a)
	help.GroupID = groupSetup
	root.SetHelpCommand(help)
	return root
}

// commands lists every subcommand by its group.
func commands(a *app) map[string][]*cobra.Command {
	return map[string][]*cobra.Command{
		groupRooms: {
			newDemoCmd(a),
			newDemoAgentCmd(a),
			newInitCmd(a),
			newRunCmd(a),
			newLsCmd(a),
			newShowCmd(a),
			newRmCmd(a),
			newTranscriptCmd(a),
			newEndpointCmd(a),
			newRelayCmd(a),
			newShareCmd(a),
			newWatchCmd(a),
			newInviteCmd(a),
			newJoinCmd(a),
			newPeersCmd(a),
			newValidateCmd(a),
		},
		groupPolicies: {
			newPolicyCmd(a),
			newReplayCmd(a),
		},
		groupSetup: {
			newConfigCmd(a),
			newSchemaCmd(a),
			newDoctorCmd(a),
			newCompletionCmd(a),
			newManCmd(a),
			newVersionCmd(a),
		},
	}
}

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVarP(&a.flags.output, "output", "o", "", "form of the result: table, json, jsonl, md or html, as the command has it")
	f.StringVarP(&a.flags.dir, "chdir", "C", "", "change to this folder first")
	f.BoolVar(&a.flags.noColour, "no-color", false, "no colours; also NO_COLOR")
	f.BoolVar(&a.flags.noInput, "no-input", false, "never ask; fail instead")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "results and errors only")
	f.String("data", "", "folder of the rooms; also MOOT_DATA")
	f.String("log-level", "", "debug, info, warn or error; also MOOT_LOG_LEVEL")
	f.String("log-format", "", "text or json; also MOOT_LOG_FORMAT")
}

// begin puts the global flags into effect.
func (a *app) begin(cmd *cobra.Command, _ []string) error {
	if err := a.chooseFormat(cmd); err != nil {
		return err
	}
	if a.flags.dir != "" {
		if err := os.Chdir(a.flags.dir); err != nil {
			return &problem.Error{Code: "CLI-DIR", What: "cannot change to the folder", Where: a.flags.dir, Fix: "-C names a folder that exists", Err: err}
		}
	}
	a.started = true
	settings, origins, err := config.LoadSettings(cmd.Flags())
	if err != nil {
		return err
	}
	a.settings, a.origins = settings, origins
	a.log = a.newLog()
	return nil
}

func (a *app) newLog() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.settings.LogLevel)); err != nil {
		level = slog.LevelWarn // LoadSettings has checked it
	}
	o := &slog.HandlerOptions{Level: level}
	if a.settings.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(a.stderr, o))
	}
	return slog.New(slog.NewTextHandler(a.stderr, o))
}

// Formats of results.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatJSONL = "jsonl"
	formatMD    = "md"
	formatHTML  = "html"
)

const formatsKey = "formats"

// formats declares which forms a command's result has; the first is the
// default. Without it a command has table, json and jsonl.
func formats(cmd *cobra.Command, names ...string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[formatsKey] = strings.Join(names, " ")
}

// chooseFormat checks -o against what the command declares.
func (a *app) chooseFormat(cmd *cobra.Command) error {
	names := []string{formatTable, formatJSON, formatJSONL}
	if s, ok := cmd.Annotations[formatsKey]; ok {
		names = strings.Fields(s)
	}
	a.format = names[0]
	if a.flags.output == "" {
		return nil
	}
	if !slices.Contains(names, a.flags.output) {
		return usagef(cmd, "%s has no output format %q; it has %s", cmd.CommandPath(), a.flags.output, strings.Join(names, ", "))
	}
	a.format = a.flags.output
	return nil
}

// group makes cmd a command that only holds others.
func (a *app) group(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = cobra.ArbitraryArgs, a.subcommand
	cmd.AddCommand(subs...)
	return cmd
}

// subcommand runs when a command was named that does not exist, or none.
func (a *app) subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	what := fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		what += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef(cmd, "%s", what)
}
