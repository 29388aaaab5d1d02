package transcriptcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/internal/fork"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts/foreign"
)

// newTranscriptImportCmd brings transcripts in.
func newTranscriptImportCmd(a *commands) *cobra.Command {
	var from source.Reading
	var out string
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Put transcripts, also those of other programs, into the data folder as rooms",
		Long: "import reads files that `moot transcript export` wrote, conversations in the\n" +
			"neutral format, and transcripts of other programs; - is stdin. The format of a\n" +
			"file is found by its content, not by its name; --format names it instead:\n\n" +
			kindsOfFiles() +
			"\nOf another program's transcript it is reported how much of it became turns, and\n" +
			"what was left out and why. A file with a chain is stored as it stands, so that\n" +
			"exporting the room again gives the same bytes. A room that exists is left alone.\n" +
			"With --out nothing is stored: the conversations are written in the neutral format.",
		Example: "  moot transcript import slack-export.zip\n" +
			"  moot transcript import session.jsonl --out talks.jsonl\n" +
			"  opencode export ses_1 | moot transcript import -",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := from.Sources(a.App, cmd, args)
			if err != nil {
				return err
			}
			src.Note = nil // the report has all of it
			if out != "" {
				return a.convertFiles(cmd.Context(), src, out)
			}
			return a.importFiles(cmd.Context(), src)
		},
	}
	from.Add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "write the neutral format to this new file, or to stdout if it is -, and store nothing")
	return cmd
}

// kindsOfFiles lists the forms that are read.
func kindsOfFiles() string {
	text := ""
	for _, k := range foreign.Kinds() {
		text += fmt.Sprintf("  %-14s %s\n", k.Format, k.What)
	}
	return text
}

// An imported room.
type imported struct {
	Room   string          `json:"room"`
	Events int             `json:"events"`
	Chain  bool            `json:"chain"` // the one of the file
	File   string          `json:"file"`
	Report *foreign.Report `json:"report,omitempty"` // of another program's transcript
}

// importFiles stores the contents of files as rooms. Rooms that were stored
// before an error stay, and are reported.
func (a *commands) importFiles(ctx context.Context, src *source.Sources) error {
	db, err := a.Wiring().OpenLog(false)
	if err != nil {
		return err
	}
	defer db.Close()
	defer src.Close()
	all := []imported{}
	err = src.Each(ctx, func(o source.Origin) error {
		i, err := a.importOne(ctx, db, o)
		if err == nil {
			all = append(all, i)
		}
		return err
	})
	if eerr := app.EmitEach(a.App, all, imported.text); err == nil {
		err = eerr
	}
	return err
}

func (i imported) text() string {
	return fmt.Sprintf("imported %s: %s", term.Line(i.Room), app.Count(i.Events, "event")) + account(i.Report)
}

// account ends a line with what was taken of a source and what was not, in
// full. A transcript of moot has no report.
func account(r *foreign.Report) string {
	if r == nil {
		return "\n"
	}
	text := fmt.Sprintf(", read as %s\n  %s\n", r.Format, source.Accounted(*r))
	for _, c := range r.Left {
		text += fmt.Sprintf("  %6d left out: %s\n", c.N, term.Line(c.Why))
	}
	for _, c := range r.Changed {
		text += fmt.Sprintf("  %6d changed: %s\n", c.N, term.Line(c.Why))
	}
	for _, f := range r.Faults {
		text += fmt.Sprintf("         fault at %s: %s\n", term.Line(f.Where), term.Line(f.What))
	}
	if r.Order != "" {
		text += "  order: " + r.Order + "\n"
	}
	return text
}

// A converted conversation is a line of a new file.
type converted struct {
	Conversation string          `json:"conversation"`
	Turns        int             `json:"turns"`
	File         string          `json:"file"`
	Report       *foreign.Report `json:"report,omitempty"`
}

// convertFiles writes what files contain in the neutral format, one conversation a
// line, as they come. The report goes to stdout, or where the conversations
// do to stderr.
func (a *commands) convertFiles(ctx context.Context, src *source.Sources, out string) error {
	defer src.Close()
	all := []converted{}
	write := func(w io.Writer) error {
		return src.Each(ctx, func(o source.Origin) error {
			if o.Talk == nil {
				return &problem.Error{
					Code: "CLI-USAGE", What: o.Room + " is a room; import --out converts conversations only", Where: o.File,
					Fix: "`moot transcript export -o neutral` writes rooms",
				}
			}
			all = append(all, converted{o.Room, len(o.Talk.Turns), o.File, o.Report})
			return o.Talk.Write(w)
		})
	}
	if out == "-" {
		err := write(a.Stdout)
		for _, c := range all {
			a.Note("%s", strings.TrimSuffix(c.text(), "\n"))
		}
		return err
	}
	if err := a.newFile(out, write); err != nil {
		return err
	}
	return app.EmitEach(a.App, all, converted.text)
}

func (c converted) text() string {
	return fmt.Sprintf("converted %s: %s", term.Line(c.Conversation), app.Count(c.Turns, "turn")) + account(c.Report)
}

// importOne stores a transcript as a room, all of it or nothing.
func (a *commands) importOne(ctx context.Context, db app.RoomLog, o source.Origin) (imported, error) {
	i := imported{Room: o.Room, Chain: o.Chain, File: o.File, Report: o.Report}
	if o.File == "" {
		return i, &problem.Error{Code: "TRANSCRIPT-READ", What: o.Room + " is a room and no file", Fix: "import takes files; `moot transcript export` writes them"}
	}
	var entries []log.Entry
	for e, err := range o.Entries {
		if err != nil {
			return i, err
		}
		entries = append(entries, e)
	}
	i.Events = len(entries)
	if i.Events == 0 {
		return i, &problem.Error{Code: "TRANSCRIPT-READ", What: "the transcript has no events", Where: o.File, Fix: "export it again"}
	}
	err := store(ctx, db, o, entries)
	if errors.Is(err, log.ErrConflict) {
		err = &problem.Error{
			Code: "ROOM-EXISTS", What: "there is a room " + o.Room, Where: a.Place(), Kind: log.ErrConflict,
			Fix: "remove it with `moot rm " + o.Room + "`, or import into another folder with --data",
		}
	}
	if err == nil {
		a.warnOfCommands(o.Room, entries)
	}
	return i, err
}

// store puts a room into the log as one that was imported: a file without a
// chain is no less a stranger's than one with.
func store(ctx context.Context, db app.RoomLog, o source.Origin, entries []log.Entry) error {
	if o.Chain {
		return db.Restore(ctx, o.Room, entries)
	}
	events := make([]room.Event, len(entries))
	for i, e := range entries {
		if e.Event.Body == nil {
			return &problem.Error{Code: "TRANSCRIPT-READ", What: fmt.Sprintf("of event %d nothing is left", e.Seq), Where: o.File, Fix: "export the room with --level all"}
		}
		raw, err := room.MarshalEvent(e.Event)
		if err != nil {
			return err
		}
		if e.Raw != nil && !bytes.Equal(raw, e.Raw) {
			return &problem.Error{
				Code: "TRANSCRIPT-NEWER", What: fmt.Sprintf("event %d says what this moot does not know", e.Seq), Where: o.File,
				Fix: "import it with the release that wrote it, or a newer one",
			}
		}
		events[i] = e.Event
	}
	sealed, err := fork.Chain(events)
	if err != nil {
		return err
	}
	return db.Restore(ctx, o.Room, sealed)
}

// warnOfCommands tells what running the room would start: its log may be a
// stranger's.
func (a *commands) warnOfCommands(name string, entries []log.Entry) {
	for _, e := range entries {
		b, ok := e.Event.Body.(room.Joined)
		if ok && b.Participant.Kind == policy.Local && b.Participant.Endpoint != nil {
			a.Note("%s: `moot run --room` would start for %s: %s", name, b.Participant.ID, b.Participant.Endpoint)
		}
	}
}
