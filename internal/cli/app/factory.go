package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *App) GlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVarP(&a.Flags.output, "output", "o", "", "form of the result: table, json, jsonl, md or html, as the command has it")
	f.StringVarP(&a.Flags.dir, "chdir", "C", "", "change to this folder first")
	f.BoolVar(&a.Flags.noColour, "no-color", false, "no colours; also NO_COLOR")
	f.BoolVar(&a.Flags.NoInput, "no-input", false, "never ask; fail instead")
	f.BoolVarP(&a.Flags.Quiet, "quiet", "q", false, "results and errors only")
	f.StringVar(&a.Flags.server, "server", "", "URL of a moot serve that runs the rooms, instead of this device; the token is MOOT_TOKEN")
	f.StringVar(&a.Flags.token, "token-file", "", "file with the token for a server, instead of MOOT_TOKEN")
	f.String("data", "", "folder of the rooms; also MOOT_DATA")
	f.String("log", "", "URL of the server that keeps the rooms, such as postgres://host/db; also MOOT_LOG")
	f.String("log-level", "", "debug, info, warn or error; also MOOT_LOG_LEVEL")
	f.String("log-format", "", "text or json; also MOOT_LOG_FORMAT")
}

// Begin puts the global flags into effect.
func (a *App) Begin(cmd *cobra.Command, _ []string) error {
	if err := a.chooseFormat(cmd); err != nil {
		return err
	}
	if a.Remote() && cmd.Annotations[remoteKey] == "" {
		return Usagef(cmd, "%s works on this device only, without --server", cmd.CommandPath())
	}
	if a.Flags.dir != "" {
		if err := os.Chdir(a.Flags.dir); err != nil {
			return &problem.Error{Code: "CLI-DIR", What: "cannot change to the folder", Where: a.Flags.dir, Fix: "-C names a folder that exists", Err: err}
		}
	}
	a.Started = true
	settings, origins, err := config.LoadSettings(cmd.Flags())
	if err != nil {
		return err
	}
	a.Settings, a.Origins = settings, origins
	a.Log = a.newLog()
	if settings.Warning != "" {
		a.Note("%s", settings.Warning)
	}
	return nil
}

func (a *App) newLog() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.Settings.LogLevel)); err != nil {
		level = slog.LevelWarn // LoadSettings has checked it
	}
	o := &slog.HandlerOptions{Level: level}
	if a.Settings.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(a.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(a.Stderr, o))
}

// Formats of results.
const (
	FormatTable = "table"
	FormatJSON  = "json"
	FormatJSONL = "jsonl"
	FormatMD    = "md"
	FormatHTML  = "html"
)

const formatsKey = "formats"

// Formats declares which forms a command's result has; the first is the
// default. Without it a command has table, json and jsonl.
func Formats(cmd *cobra.Command, names ...string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[formatsKey] = strings.Join(names, " ")
}

// chooseFormat checks -o against what the command declares.
func (a *App) chooseFormat(cmd *cobra.Command) error {
	names := []string{FormatTable, FormatJSON, FormatJSONL}
	if s, ok := cmd.Annotations[formatsKey]; ok {
		names = strings.Fields(s)
	}
	a.Format = names[0]
	if a.Flags.output == "" {
		return nil
	}
	if !slices.Contains(names, a.Flags.output) {
		return Usagef(cmd, "%s has no output format %q; it has %s", cmd.CommandPath(), a.Flags.output, strings.Join(names, ", "))
	}
	a.Format = a.Flags.output
	return nil
}

// Group makes cmd a command that only holds others.
func (a *App) Group(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = cobra.ArbitraryArgs, a.Subcommand
	cmd.AddCommand(subs...)
	return cmd
}

// FlagError reports a wrong flag, with the flag that was probably meant.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	typed := unknown.GetSpecifiedName()
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if hint := config.Suggest(typed, known); hint != "" && len(typed) > 1 {
		return Usagef(cmd, "%s; %s", err, strings.Replace(hint, `"`, `"--`, 1))
	}
	return err
}

// Help returns the help function of the commands. It shows no help for a command
// that does not exist; HelpError has that.
func (a *App) Help(show func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
			a.HelpError = a.Subcommand(cmd, words)
			return
		}
		show(cmd, args)
	}
}

// Subcommand runs when a command was named that does not exist, or none.
func (a *App) Subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	what := fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		what += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return Usagef(cmd, "%s", what)
}
