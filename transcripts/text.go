package transcripts

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room/log"
)

// WriteText writes the timeline of a room for a terminal, as readers at level
// see it: the last items, or all if last is 0.
func WriteText(w io.Writer, entries iter.Seq2[log.Entry, error], level Level, last int) error {
	s, err := buildTimeline(entries, level)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	items := s.Items
	if last > 0 && last < len(items) {
		fmt.Fprintf(out, "… %d earlier\n", len(items)-last)
		items = items[len(items)-last:]
	}
	for i := range items {
		items[i].text(out)
	}
	if s.Stats.Ending != "" {
		fmt.Fprintf(out, "\n%s\n", term.Line(s.Stats.Ending))
	}
	return out.Flush()
}

func (it *item) text(w io.Writer) {
	switch it.Kind {
	case itemMessage:
		fmt.Fprintf(w, "\n%s\n", term.Line(heading(it)))
		if why := it.reason(); why != "" {
			fmt.Fprintf(w, "    (%s)\n", term.Line(why))
		}
		it.writeBody(w)
	case itemHidden:
		fmt.Fprintf(w, "%7s  an internal message of %s is not shown\n", clock(it.Clock), term.Line(it.Actor))
	case itemDecline:
		fmt.Fprintf(w, "%7s  round declined by %s: %s\n", clock(it.Clock), term.Line(it.Actor), term.Line(it.Note))
	case itemNote:
		fmt.Fprintf(w, "%7s  %s\n", clock(it.Clock), term.Line(it.Note))
		it.writeBody(w)
	default:
		fmt.Fprintf(w, "%7s  %s: %s\n", clock(it.Clock), term.Line(it.Actor), term.Line(it.Note))
		it.writeBody(w)
	}
}

// writeBody writes the text, indented.
func (it *item) writeBody(w io.Writer) {
	if it.Text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(term.Strip(it.Text), "\n"), "\n") {
		fmt.Fprintf(w, "    %s\n", line)
	}
}
