// Package transcriptcmd holds the commands below `moot transcript`: list, show,
// follow, export, import, fork, redact, count and verify transcripts.
package transcriptcmd

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/transcripts"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Command returns the command transcript, which reads, writes and checks
// transcripts.
func Command(of *app.App) *cobra.Command {
	a := &commands{of}
	return a.Group(&cobra.Command{
		Use:   "transcript",
		Short: "List, show, follow, export, import, fork, redact, count and verify transcripts",
		Long: "transcript works on rooms of the data folder and on files alike: files that\n" +
			"`moot transcript export` wrote, conversations in the neutral format, one a line, and\n" +
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
		return "", app.Usagef(cmd, "--level is one of %v", transcripts.Levels())
	}
	return level, nil
}

func newTranscriptLsCmd(a *commands) *cobra.Command {
	var from source.Reading
	cmd := &cobra.Command{
		Use:   "ls [FILE...]",
		Short: "List the rooms of the data folder, or the transcripts in files",
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := from.Sources(a.App, cmd, args)
			if err != nil {
				return err
			}
			list, err := listTranscripts(cmd.Context(), src)
			if err != nil {
				return err
			}
			return a.Emit(list, func(w io.Writer) error {
				rows := app.Rows(list, func(l listed) []string { return []string{l.Room, strconv.FormatInt(l.Events, 10), l.when(), l.Form} })
				return app.Table(w, []string{"TRANSCRIPT", "EVENTS", "UPDATED", "FORM"}, rows)
			})
		},
	}
	from.Add(cmd)
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

func listTranscripts(ctx context.Context, src *source.Sources) ([]listed, error) {
	defer src.Close()
	list := []listed{}
	if len(src.Args) == 0 {
		rooms, err := src.Rooms(ctx)
		for _, r := range rooms {
			list = append(list, listed{Room: r.Room, Events: int64(r.Last), Updated: r.Updated, Bytes: r.Bytes, Form: "room"})
		}
		return list, err
	}
	err := src.Each(ctx, func(o source.Origin) error {
		l := listed{Room: o.Room, Form: o.Form, File: o.File}
		for _, err := range o.Entries {
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

func newTranscriptShowCmd(a *commands) *cobra.Command {
	var level levelFlag
	var from source.Single
	var last int
	cmd := &cobra.Command{
		Use:               "show ROOM|FILE",
		Short:             "Show a transcript in the terminal",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: source.CompleteRooms(a.App),
		Example:           "  moot transcript show r_01 --last 20\n  moot transcript show talks.jsonl.gz --conversation talk/7",
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := level.level(cmd, transcripts.Internal)
			if err != nil {
				return err
			}
			return from.Open(a.App, cmd, args[0], func(o source.Origin) error {
				return transcripts.WriteText(a.Stdout, o.Entries, o.Most(l), last)
			})
		},
	}
	level.add(cmd, "internal")
	from.Add(cmd)
	cmd.Flags().IntVar(&last, "last", 0, "only so many items from the end")
	app.Formats(cmd, app.FormatTable)
	return cmd
}

func newTranscriptStatsCmd(a *commands) *cobra.Command {
	var from source.Reading
	cmd := &cobra.Command{
		Use:               "stats ROOM|FILE...",
		Short:             "Count turns, airtime, latency, declines, failures and tokens",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: source.CompleteRooms(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := source.Collect(a.App, cmd, &from, args, func(o source.Origin) (*transcripts.Stats, error) { return transcripts.Collect(o.Entries) })
			if err != nil {
				return err
			}
			return a.Emit(all, func(w io.Writer) error { return printStats(w, app.Width(a.Stdout), all) })
		},
	}
	from.Add(cmd)
	return cmd
}

func printStats(w io.Writer, width int, all []*transcripts.Stats) error {
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := s.WriteText(w); err != nil {
			return err
		}
		if err := s.WriteBars(w, width); err != nil {
			return err
		}
	}
	return nil
}
