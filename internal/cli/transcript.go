package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/transcripts"
	"github.com/folkmoot/moot/transcripts/foreign"
)

// newTranscriptCmd reads, writes and checks transcripts.
func newTranscriptCmd(a *app) *cobra.Command {
	return a.group(&cobra.Command{
		Use:   "transcript",
		Short: "List, show, follow, export, import, fork, redact, count and verify transcripts",
		Long: "transcript works on rooms of the data folder and on files alike: files that\n" +
			"`moot transcript export` wrote, conversations in the neutral form, one a line, and\n" +
			"what other programs wrote, which `moot transcript import --help` lists. gzip is\n" +
			"seen through, - is stdin. Reading takes no lock.",
	}, newTranscriptLsCmd(a), newTranscriptShowCmd(a), newTranscriptTailCmd(a), newTranscriptExportCmd(a),
		newTranscriptImportCmd(a), newTranscriptForkCmd(a), newTranscriptRedactCmd(a), newTranscriptStatsCmd(a),
		newTranscriptVerifyCmd(a))
}

// levelFlag is --level, checked.
type levelFlag struct{ value string }

func (l *levelFlag) add(cmd *cobra.Command, standard string) {
	cmd.Flags().StringVar(&l.value, "level", "", "for whose eyes: user_visible, user_redacted, internal or all (default "+standard+")")
}

func (l *levelFlag) level(cmd *cobra.Command, standard transcripts.Level) (transcripts.Level, error) {
	if l.value == "" {
		return standard, nil
	}
	level := transcripts.Level(l.value)
	if !level.Valid() {
		return "", usagef(cmd, "--level is one of %v", transcripts.Levels())
	}
	return level, nil
}

// reading is what commands that read transcripts have in common.
type reading struct{ format string }

func (r *reading) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.format, "format", "", "read files as this form instead of looking at what they hold")
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var all []cobra.Completion
		for _, k := range foreign.Kinds() {
			all = append(all, cobra.CompletionWithDesc(string(k.Format), k.What))
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}) // fails only for a flag that is not there
}

// sources returns where the transcripts are that args name.
func (r *reading) sources(a *app, cmd *cobra.Command, args []string) (*sources, error) {
	f := foreign.Format(r.format)
	if f != "" && !f.Valid() {
		return nil, usagef(cmd, "there is no form %s; `moot transcript import --help` lists them", r.format)
	}
	return &sources{dir: a.settings.Data, openLog: a.readLog, args: args, stdin: a.stdin, format: f, note: a.note}, nil
}

// one returns the only transcript that is meant.
func (a *app) one(ctx context.Context, name, conversation string, use func(origin) error) error {
	src := sources{dir: a.settings.Data, openLog: a.readLog, stdin: a.stdin, note: a.note}
	defer src.close()
	return src.one(ctx, name, conversation, use)
}

// completeRooms completes rooms of the data folder, and files.
func (a *app) completeRooms(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	settings, _, err := config.LoadSettings(cmd.Flags())
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	a.settings = settings
	src := sources{dir: settings.Data, openLog: a.readLog}
	defer src.close()
	rooms, err := src.rooms(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var all []cobra.Completion
	for _, r := range rooms {
		all = append(all, cobra.CompletionWithDesc(r.Room, fmt.Sprintf("%d events", r.Last)))
	}
	return all, cobra.ShellCompDirectiveDefault
}

func newTranscriptLsCmd(a *app) *cobra.Command {
	var from reading
	cmd := &cobra.Command{
		Use:   "ls [FILE...]",
		Short: "List the rooms of the data folder, or the transcripts in files",
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := from.sources(a, cmd, args)
			if err != nil {
				return err
			}
			list, err := listTranscripts(cmd.Context(), src)
			if err != nil {
				return err
			}
			return a.emit(list, func(w io.Writer) error {
				var rows [][]string
				for _, l := range list {
					rows = append(rows, []string{l.Room, strconv.FormatInt(l.Events, 10), l.when(), l.Form})
				}
				return table(w, []string{"TRANSCRIPT", "EVENTS", "UPDATED", "FORM"}, rows)
			})
		},
	}
	from.add(cmd)
	return cmd
}

// A listed transcript.
type listed struct {
	Room    string    `json:"room"`
	Events  int64     `json:"events"`
	Updated time.Time `json:"updated,omitzero"`
	Bytes   int64     `json:"bytes,omitempty"`
	Form    string    `json:"form"` // room, portable, neutral or the form of another program
	File    string    `json:"file,omitempty"`
}

func (l listed) when() string {
	if l.Updated.IsZero() {
		return "-"
	}
	return l.Updated.Local().Format("2006-01-02 15:04:05")
}

func listTranscripts(ctx context.Context, src *sources) ([]listed, error) {
	defer src.close()
	list := []listed{}
	if len(src.args) == 0 {
		rooms, err := src.rooms(ctx)
		for _, r := range rooms {
			list = append(list, listed{Room: r.Room, Events: int64(r.Last), Updated: r.Updated, Bytes: r.Bytes, Form: "room"})
		}
		return list, err
	}
	err := src.each(ctx, func(o origin) error {
		l := listed{Room: o.room, Form: o.form, File: o.file}
		for _, err := range o.entries {
			if err != nil {
				return err
			}
			l.Events++
		}
		list = append(list, l)
		return nil
	})
	return list, err
}

func newTranscriptShowCmd(a *app) *cobra.Command {
	var level levelFlag
	var from reading
	var conversation string
	var last int
	cmd := &cobra.Command{
		Use:               "show ROOM|FILE",
		Short:             "Show a transcript in the terminal",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRooms,
		Example:           "  moot transcript show r_01 --last 20\n  moot transcript show talks.jsonl.gz --conversation talk/7",
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := level.level(cmd, transcripts.Internal)
			if err != nil {
				return err
			}
			src, err := from.sources(a, cmd, nil)
			if err != nil {
				return err
			}
			defer src.close()
			return src.one(cmd.Context(), args[0], conversation, func(o origin) error {
				return transcripts.WriteText(a.stdout, o.entries, o.most(l), last)
			})
		},
	}
	level.add(cmd, "internal")
	from.add(cmd)
	cmd.Flags().StringVar(&conversation, "conversation", "", "which one, of a file that holds several")
	cmd.Flags().IntVar(&last, "last", 0, "only so many items from the end")
	formats(cmd, formatTable)
	return cmd
}

// levelsUpTo returns whether a transcript of level has may be shown at want.
func levelsUpTo(has, want transcripts.Level) transcripts.Level {
	all := transcripts.Levels()
	return all[min(slices.Index(all, has), slices.Index(all, want))]
}
