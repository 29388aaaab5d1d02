package transcriptcmd

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/transcripts"
)

func newTranscriptExportCmd(a *commands) *cobra.Command {
	var level levelFlag
	var from source.Single
	var out string
	cmd := &cobra.Command{
		Use:   "export ROOM|FILE",
		Short: "Write a transcript as JSONL, Markdown, HTML, CSV, chat messages, spans or neutral",
		Long: "export writes the portable format, JSON lines, which loses nothing and can be\n" +
			"imported again; or Markdown, or one self-contained file of HTML; or csv, a row a\n" +
			"turn, in which no cell starts a formula; or openai, chat messages as JSON; or\n" +
			"otel, gen_ai spans of OpenTelemetry as OTLP JSON; or neutral, the conversation\n" +
			"without the events of a room. --level chooses the visibility: by default jsonl\n" +
			"holds everything, and the others what is visible to all.",
		Example: "  moot transcript export r_01 > r_01.jsonl\n" +
			"  moot transcript export r_01 -o html --out r_01.html\n" +
			"  moot transcript export r_01 -o md --level internal\n" +
			"  moot transcript export r_01 -o csv > turns.csv",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: source.CompleteRooms(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			standard := transcripts.UserVisible
			if a.Format == app.FormatJSONL {
				standard = transcripts.All
			}
			l, err := level.level(cmd, standard)
			if err != nil {
				return err
			}
			return from.Open(a.App, cmd, args[0], func(o source.Origin) error { return a.export(o, l, out) })
		},
	}
	level.add(cmd, "all for jsonl, user_visible for the others")
	from.Add(cmd)
	cmd.Flags().BoolVar(&from.UntilDamage, "until-damage", false, "of a damaged transcript, write the events before the damage")
	cmd.Flags().StringVar(&out, "out", "", "file to write, which must not exist yet; default stdout")
	app.Formats(cmd, app.FormatJSONL, app.FormatMD, app.FormatHTML, formatCSV, formatOpenAI, formatOTel, formatNeutral)
	return cmd
}

// Forms of exports that nothing else has.
const (
	formatCSV    = "csv"
	formatOpenAI = "openai"
	formatOTel   = "otel"
	// formatNeutral is the neutral format, which replay, waste and policy learn read too.
	formatNeutral = "neutral"
)

// export writes o to stdout, or to a new file.
func (a *commands) export(o source.Origin, level transcripts.Level, out string) error {
	write := func(w io.Writer) error { return writeTranscript(w, a.Format, o, level) }
	if out == "" {
		return write(a.Stdout)
	}
	return a.newFile(out, write)
}

// newFile writes a file that must not be there yet and that only its owner
// can read.
func (a *commands) newFile(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return &problem.Error{Code: "TRANSCRIPT-WRITE", What: "the file cannot be made", Where: name, Err: err, Fix: "name a file that does not exist in a folder that can be written"}
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(name) // half an export helps nobody
		return err
	}
	a.Note("wrote %s", name)
	return nil
}

func writeTranscript(w io.Writer, format string, o source.Origin, level transcripts.Level) error {
	level = o.Most(level)
	switch format {
	case app.FormatMD:
		return transcripts.WriteMarkdown(w, o.Entries, level)
	case app.FormatHTML:
		return transcripts.WriteHTML(w, o.Entries, level)
	case formatCSV:
		return transcripts.WriteCSV(w, o.Entries, level)
	case formatOpenAI:
		return transcripts.WriteChat(w, o.Entries, level)
	case formatOTel:
		return transcripts.WriteSpans(w, o.Entries, level)
	case formatNeutral:
		if o.Talk != nil { // with all that its source has
			return o.Talk.At(level).Write(w)
		}
		return transcripts.WriteNeutral(w, o.Entries, level)
	}
	h := transcripts.Header{Room: o.Room, Level: level, Events: o.Events, Chain: o.Chain && level == transcripts.All}
	return transcripts.Write(w, h, o.Entries)
}
