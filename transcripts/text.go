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

// WriteText writes the timeline of the room that entries are of for a
// terminal, as a reader at that level sees it: its last items, or with 0 all.
func WriteText(w io.Writer, entries iter.Seq2[log.Entry, error], level Level, last int) error {
	s, err := tell(entries, level)
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
	case isMessage:
		fmt.Fprintf(w, "\n%s\n", term.Line(heading(it)))
		if why := it.why(); why != "" {
			fmt.Fprintf(w, "    (%s)\n", term.Line(why))
		}
		it.said(w)
	case isHidden:
		fmt.Fprintf(w, "%7s  an internal message of %s is not shown\n", clock(it.Clock), term.Line(it.Who))
	case isDecline:
		fmt.Fprintf(w, "%7s  round declined by %s: %s\n", clock(it.Clock), term.Line(it.Who), term.Line(it.Note))
	case isNote:
		fmt.Fprintf(w, "%7s  %s\n", clock(it.Clock), term.Line(it.Note))
		it.said(w)
	default:
		fmt.Fprintf(w, "%7s  %s: %s\n", clock(it.Clock), term.Line(it.Who), term.Line(it.Note))
		it.said(w)
	}
}

// said writes the text, set in.
func (it *item) said(w io.Writer) {
	if it.Text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(term.Strip(it.Text), "\n"), "\n") {
		fmt.Fprintf(w, "    %s\n", line)
	}
}
