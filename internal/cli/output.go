package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/term"
)

// emit writes a command's result: v as JSON, its items as JSON lines when it
// is a list, or for people by calling human.
func (a *app) emit(v any, human func(w io.Writer) error) error {
	switch a.format {
	case formatJSON:
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	case formatJSONL:
		return a.emitLines(v)
	}
	return human(a.stdout)
}

func (a *app) emitLines(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice {
		return enc.Encode(v)
	}
	for i := range list.Len() {
		if err := enc.Encode(list.Index(i).Interface()); err != nil {
			return err
		}
	}
	return nil
}

// note writes a line for people to stderr, unless --quiet.
func (a *app) note(format string, args ...any) {
	if !a.flags.quiet {
		fmt.Fprintln(a.stderr, term.Strip(fmt.Sprintf(format, args...)))
	}
}

// table writes rows in columns, each cell made safe to show.
func table(w io.Writer, head []string, rows [][]string) error {
	all := append([][]string{head}, rows...)
	width := make([]int, len(head))
	for r, row := range all {
		safe := make([]string, len(row))
		for c, cell := range row {
			safe[c] = term.Line(cell)
			width[c] = max(width[c], utf8.RuneCountInString(safe[c]))
		}
		all[r] = safe
	}
	var b strings.Builder
	for _, row := range all {
		line := ""
		for c, cell := range row {
			line += cell + strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A style is how something stands out, as the parameter of an SGR sequence.
type style string

const (
	styleError style = "1;31"
	styleWarn  style = "33"
	styleGood  style = "32"
	styleDim   style = "2"
	styleBold  style = "1"
)

// paint colours s when w shows colours.
func (a *app) paint(w io.Writer, st style, s string) string {
	if !a.colours(w) {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

// colours reports whether w is a terminal that is to show colours; see
// no-color.org.
func (a *app) colours(w io.Writer) bool {
	return !a.flags.noColour && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}
