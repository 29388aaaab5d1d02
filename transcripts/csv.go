package transcripts

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// csvColumns are the columns of WriteCSV. Their order is stable; new columns are
// appended.
var csvColumns = []string{
	"seq", "turn", "clock_s", "at", "speaker", "name", "kind", "to", "message_kind", "visibility", "shown", "text", "input_tokens", "output_tokens", "reason",
	"cached_input_tokens", "reasoning_tokens", "cost_usd", "message_id", "correlation_id",
}

// WriteCSV writes a header and one row for each message of a room, as readers at
// level see it. The column shown is whole, summary, hidden or redacted.
//
// No cell starts a formula. A cell that begins with =, +, -, @, a tab or a
// carriage return, even after white space, gets an apostrophe in front, so that
// spreadsheets show it as text. Control characters other than line breaks and
// tabs are removed.
func WriteCSV(w io.Writer, entries iter.Seq2[log.Entry, error], level Level) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvColumns); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	var h recordReader
	for s, err := range h.records(entries, level) {
		if err != nil {
			return err
		}
		if s.isSilence() {
			continue
		}
		if err := out.Write(s.row()); err != nil {
			return fmt.Errorf("writing CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

func (s *record) row() []string {
	row := []string{
		strconv.FormatInt(s.seq, 10), emptyIfZero(int64(s.posted.Turn)), seconds(s.clock), "", s.message.From, s.sender.Name, s.sender.Kind,
		strings.Join(s.receivers(), " "), s.message.Kind, string(s.message.Visibility), s.shown, s.message.Text, "", "", "", "", "", "", "", "",
	}
	if s.message.Kind != room.KindUtterance && (s.shown == shownWhole || s.shown == shownSummary) {
		row[18], row[19] = s.message.ID, cmp.Or(s.message.Correlation, s.message.Parent)
	}
	if !s.at.IsZero() {
		row[3] = s.at.UTC().Format(time.RFC3339Nano)
	}
	if u := s.posted.Usage; u.Known {
		row[12], row[13] = strconv.FormatInt(u.Input, 10), strconv.FormatInt(u.Output, 10)
		row[15], row[16] = emptyIfZero(u.CachedInput), emptyIfZero(u.Reasoning)
	}
	if s.posted.Usage.CostKnown {
		row[17] = dollars(s.posted.Usage)
	}
	if s.granted != nil {
		row[14] = s.granted.Why()
	}
	for i := range row {
		row[i] = escapeFormula(row[i])
	}
	return row
}

// escapeFormula keeps a spreadsheet from running a cell as a formula.
func escapeFormula(cell string) string {
	cell = term.Strip(cell)
	first := strings.TrimLeft(cell, " \n\u00a0\ufeff")
	if cell != "" && strings.ContainsRune("\t\r", rune(cell[0])) || first != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(first)[0]) {
		return "'" + cell
	}
	return cell
}

// dollars returns the stated cost of a turn in US dollars.
func dollars(u room.Usage) string { return strconv.FormatFloat(float64(u.Cost)/1e6, 'f', -1, 64) }

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

func emptyIfZero(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
