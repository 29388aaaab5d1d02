package source

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/transcripts/foreign"
)

// Reading is what commands that read transcripts have in common.
type Reading struct {
	format string
	strict bool
	fields string
}

func (r *Reading) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.format, "format", "", "read files as this form instead of looking at what they hold")
	cmd.Flags().BoolVar(&r.strict, "strict", false, "refuse a file of which a piece breaks its form; without, such pieces are left out and named")
	cmd.Flags().StringVar(&r.fields, "map", "", "read JSON, JSON lines or CSV of any form; says where the messages are, such as 'speaker=$.from,text=$.body,time=$.ts'")
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var all []cobra.Completion
		for _, k := range foreign.Kinds() {
			all = append(all, cobra.CompletionWithDesc(string(k.Format), k.What))
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}) // fails only for a flag that is not there
}

// Sources returns where the transcripts are that args name.
func (r *Reading) Sources(a *app.App, cmd *cobra.Command, args []string) (*Sources, error) {
	f := foreign.Format(r.format)
	if f != "" && !f.Valid() {
		return nil, app.Usagef(cmd, "there is no form %s; `moot transcript import --help` lists them", r.format)
	}
	how := foreign.Options{Format: f, Strict: r.strict}
	if r.fields != "" {
		var err error
		if how.Map, err = foreign.ParseMap(r.fields); err != nil {
			return nil, app.Usagef(cmd, "--map: %v", err)
		}
		if f != "" {
			return nil, app.Usagef(cmd, "--map and --format are not used together")
		}
	}
	return &Sources{Dir: a.Settings.Data, OpenLog: a.ReadLog, Args: args, stdin: a.Stdin, how: how, Note: a.Note, warn: a.Note}, nil
}

// Single is what commands that read one transcript have in common.
type Single struct {
	Reading
	conversation string
	// UntilDamage reads a damaged transcript up to the damage, and tells the
	// user where that is.
	UntilDamage bool
}

func (s *Single) Add(cmd *cobra.Command) {
	s.Reading.Add(cmd)
	cmd.Flags().StringVar(&s.conversation, "conversation", "", "which one, of a file that holds several")
}

// Open uses the transcript that name and --conversation mean.
func (s *Single) Open(a *app.App, cmd *cobra.Command, name string, use func(Origin) error) error {
	src, err := s.Sources(a, cmd, nil)
	if err != nil {
		return err
	}
	defer src.Close()
	src.untilDamage = s.UntilDamage
	return src.One(cmd.Context(), name, s.conversation, use)
}

// Collect returns what read makes of each transcript that args name.
func Collect[T any](a *app.App, cmd *cobra.Command, r *Reading, args []string, read func(Origin) (T, error)) ([]T, error) {
	src, err := r.Sources(a, cmd, args)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	all := []T{}
	err = src.Each(cmd.Context(), func(o Origin) error {
		t, err := read(o)
		all = append(all, t)
		return err
	})
	return all, err
}

// One returns the only transcript that is meant.
func One(ctx context.Context, a *app.App, name, conversation string, use func(Origin) error) error {
	src := Sources{Dir: a.Settings.Data, OpenLog: a.ReadLog, stdin: a.Stdin, Note: a.Note}
	defer src.Close()
	return src.One(ctx, name, conversation, use)
}

// CompleteRooms completes rooms of the data folder, and files.
func CompleteRooms(a *app.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		settings, _, err := config.LoadSettings(cmd.Flags())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		a.Settings = settings
		src := Sources{Dir: settings.Data, OpenLog: a.ReadLog}
		defer src.Close()
		rooms, err := src.Rooms(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var all []cobra.Completion
		for _, r := range rooms {
			all = append(all, cobra.CompletionWithDesc(r.Room, fmt.Sprintf("%d events", r.Last)))
		}
		return all, cobra.ShellCompDirectiveDefault
	}
}
