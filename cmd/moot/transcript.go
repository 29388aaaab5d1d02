package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/problem"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts"
)

// newTranscriptCmd reads, writes and checks transcripts.
func newTranscriptCmd(a *app) *cobra.Command {
	return a.group(&cobra.Command{
		Use:   "transcript",
		Short: "List, show, export, import, count and verify transcripts",
		Long: "transcript works on rooms of the data folder and on files alike: files that\n" +
			"`moot transcript export` wrote, and conversations in the neutral form, one a\n" +
			"line. gzip is seen through. Reading takes no lock.",
	}, newTranscriptLsCmd(a), newTranscriptShowCmd(a), newTranscriptExportCmd(a), newTranscriptImportCmd(a),
		newTranscriptStatsCmd(a), newTranscriptVerifyCmd(a))
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

// one returns the only transcript that is meant.
func (a *app) one(ctx context.Context, name, conversation string, use func(origin) error) error {
	src := sources{dir: a.settings.Data}
	defer src.close()
	return src.one(ctx, name, conversation, use)
}

func newTranscriptLsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ls [FILE...]",
		Short: "List the rooms of the data folder, or the transcripts in files",
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.listTranscripts(cmd.Context(), args)
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
}

// A listed transcript.
type listed struct {
	Room    string    `json:"room"`
	Events  int64     `json:"events"`
	Updated time.Time `json:"updated,omitzero"`
	Bytes   int64     `json:"bytes,omitempty"`
	Form    string    `json:"form"` // room, portable or neutral
	File    string    `json:"file,omitempty"`
}

func (l listed) when() string {
	if l.Updated.IsZero() {
		return "-"
	}
	return l.Updated.Local().Format("2006-01-02 15:04:05")
}

func (a *app) listTranscripts(ctx context.Context, files []string) ([]listed, error) {
	src := sources{dir: a.settings.Data, args: files}
	defer src.close()
	list := []listed{}
	if len(files) == 0 {
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
	var conversation string
	var last int
	cmd := &cobra.Command{
		Use:     "show ROOM|FILE",
		Short:   "Show a transcript in the terminal",
		Args:    cobra.ExactArgs(1),
		Example: "  moot transcript show r_01 --last 20\n  moot transcript show talks.jsonl.gz --conversation talk/7",
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := level.level(cmd, transcripts.Internal)
			if err != nil {
				return err
			}
			return a.one(cmd.Context(), args[0], conversation, func(o origin) error {
				return transcripts.WriteText(a.stdout, o.entries, o.most(l), last)
			})
		},
	}
	level.add(cmd, "internal")
	cmd.Flags().StringVar(&conversation, "conversation", "", "which one, of a file that holds several")
	cmd.Flags().IntVar(&last, "last", 0, "only so many items from the end")
	formats(cmd, formatTable)
	return cmd
}

func newTranscriptExportCmd(a *app) *cobra.Command {
	var level levelFlag
	var conversation, out string
	cmd := &cobra.Command{
		Use:   "export ROOM|FILE",
		Short: "Write a transcript as JSONL, Markdown or HTML",
		Long: "export writes the portable form, JSON lines, which loses nothing and can be\n" +
			"imported again; or Markdown, or one self-contained file of HTML. What a reader\n" +
			"sees depends on --level: JSON lines hold all unless said otherwise, Markdown and\n" +
			"HTML what is visible to everybody.",
		Example: "  moot transcript export r_01 > r_01.jsonl\n" +
			"  moot transcript export r_01 -o html --out r_01.html\n" +
			"  moot transcript export r_01 -o md --level internal",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			standard := transcripts.UserVisible
			if a.format == formatJSONL {
				standard = transcripts.All
			}
			l, err := level.level(cmd, standard)
			if err != nil {
				return err
			}
			return a.one(cmd.Context(), args[0], conversation, func(o origin) error { return a.export(o, l, out) })
		},
	}
	level.add(cmd, "all for jsonl, user_visible for md and html")
	cmd.Flags().StringVar(&conversation, "conversation", "", "which one, of a file that holds several")
	cmd.Flags().StringVar(&out, "out", "", "file to write, which must not exist yet; default stdout")
	formats(cmd, formatJSONL, formatMD, formatHTML)
	return cmd
}

// export writes o to stdout, or to a new file that only its owner can read.
func (a *app) export(o origin, level transcripts.Level, out string) error {
	if out == "" {
		return writeTranscript(a.stdout, a.format, o, level)
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return &problem.Error{Code: "TRANSCRIPT-WRITE", What: "the file cannot be made", Where: out, Err: err, Fix: "name a file that does not exist in a folder that can be written"}
	}
	err = writeTranscript(f, a.format, o, level)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(out) // half an export helps nobody
		return err
	}
	a.note("wrote %s", out)
	return nil
}

func writeTranscript(w io.Writer, format string, o origin, level transcripts.Level) error {
	level = o.most(level)
	switch format {
	case formatMD:
		return transcripts.WriteMarkdown(w, o.entries, level)
	case formatHTML:
		return transcripts.WriteHTML(w, o.entries, level)
	}
	h := transcripts.Header{Room: o.room, Level: level, Events: o.events, Chain: o.chain && level == transcripts.All}
	return transcripts.Write(w, h, o.entries)
}

func newTranscriptImportCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE...",
		Short: "Put transcripts into the data folder as rooms",
		Long: "import reads files that `moot transcript export` wrote, or conversations in the\n" +
			"neutral form. A file with a chain is stored as it stands, so that exporting the\n" +
			"room again gives the same bytes. A room that exists is left alone.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.importFiles(cmd.Context(), args) },
	}
}

func newTranscriptStatsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "stats ROOM|FILE...",
		Short: "Count turns, airtime, latency, declines, failures and tokens",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src := sources{dir: a.settings.Data, args: args}
			defer src.close()
			all := []*transcripts.Stats{}
			err := src.each(cmd.Context(), func(o origin) error {
				s, err := transcripts.Collect(o.entries)
				all = append(all, s)
				return err
			})
			if err != nil {
				return err
			}
			return a.emit(all, func(w io.Writer) error { return printStats(w, all) })
		},
	}
}

func newTranscriptVerifyCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify ROOM|FILE...",
		Short: "Check that transcripts are whole and unchanged",
		Long: "verify reads every event and checks its place and, where there is one, the hash\n" +
			"chain. A changed, missing or moved event is named, and moot ends with 3.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src := sources{dir: a.settings.Data, args: args}
			defer src.close()
			all := []verified{}
			err := src.each(cmd.Context(), func(o origin) error {
				v, err := verify(o)
				all = append(all, v)
				return err
			})
			if err != nil {
				return err
			}
			return a.emit(all, func(w io.Writer) error {
				for _, v := range all {
					if _, err := fmt.Fprintln(w, v); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// verified is what was found intact.
type verified struct {
	Room     string `json:"room"`
	Events   int64  `json:"events"`
	Redacted int64  `json:"redacted"`
	Chain    bool   `json:"chain"`
	Hash     string `json:"hash,omitempty"` // of the chain at its end
}

func (v verified) String() string {
	s := fmt.Sprintf("%s: %s intact", v.Room, count(int(v.Events), "event"))
	if v.Redacted > 0 {
		s += fmt.Sprintf(", %d redacted", v.Redacted)
	}
	if !v.Chain {
		return s + "; there is no chain, so only order and number are checked"
	}
	return s + ", chain ends in " + v.Hash
}

// verify reads all of o, whose reader checks what there is to check.
func verify(o origin) (verified, error) {
	v := verified{Room: o.room, Chain: o.chain}
	var last log.Entry
	for e, err := range o.entries {
		if err != nil {
			return v, err
		}
		v.Events++
		if e.Redacted {
			v.Redacted++
		}
		last = e
	}
	if o.chain {
		v.Hash = fmt.Sprintf("%x", last.Hash)
	}
	return v, nil
}

func printStats(w io.Writer, all []*transcripts.Stats) error {
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := s.WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

// levelsUpTo returns whether a transcript of level has may be shown at want.
func levelsUpTo(has, want transcripts.Level) transcripts.Level {
	all := transcripts.Levels()
	return all[min(slices.Index(all, has), slices.Index(all, want))]
}
