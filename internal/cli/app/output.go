package app

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"

	"github.com/folkmoot/moot/internal/term"
)

// Emit writes a command's result: v as JSON, its items as JSON lines when it
// is a list, or for people by calling human.
func (a *App) Emit(v any, human func(w io.Writer) error) error {
	switch a.Format {
	case FormatJSON:
		enc := json.NewEncoder(a.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	case FormatJSONL:
		return a.emitLines(v)
	}
	w := bufio.NewWriter(a.Stdout) // keeps the first error of human's writes
	return errors.Join(human(w), w.Flush())
}

// EmitText is Emit of a result that is a text for people.
func (a *App) EmitText(v any, format string, args ...any) error {
	return a.Emit(v, func(w io.Writer) error { _, err := fmt.Fprintf(w, format, args...); return err })
}

// EmitEach is Emit of a list; people read the text of each item.
func EmitEach[T any](a *App, list []T, text func(T) string) error {
	return a.Emit(list, func(w io.Writer) error {
		for _, item := range list {
			fmt.Fprint(w, text(item))
		}
		return nil
	})
}

func (a *App) emitLines(v any) error {
	enc := json.NewEncoder(a.Stdout)
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

// Note writes a line for people to stderr, unless --quiet.
func (a *App) Note(format string, args ...any) {
	if !a.Flags.Quiet {
		fmt.Fprintln(a.Stderr, term.Strip(fmt.Sprintf(format, args...)))
	}
}

// Rows makes the rows of a table, one of each item of a list.
func Rows[T any](list []T, row func(T) []string) [][]string {
	rows := make([][]string, len(list))
	for i, item := range list {
		rows[i] = row(item)
	}
	return rows
}

// Table writes rows in columns, each cell made safe to show.
func Table(w io.Writer, head []string, rows [][]string) error {
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

// A Style is how something stands out, as the parameter of an SGR sequence.
type Style string

const (
	StyleError Style = "1;31"
	StyleWarn  Style = "33"
	StyleGood  Style = "32"
	styleDim   Style = "2"
	styleBold  Style = "1"
)

// Paint colours s when w shows colours.
func (a *App) Paint(w io.Writer, st Style, s string) string {
	if !a.Colours(w) {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

// Colours reports whether w is a terminal that is to show colours; see
// no-color.org.
func (a *App) Colours(w io.Writer) bool {
	return !a.Flags.noColour && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(w)
}

// A progress counts things on stderr while a person waits. Without a terminal,
// or when the result is for a program, it shows nothing.
type progress struct{ bar *progressbar.ProgressBar }

// watched reports whether a person sees what is written to stderr.
func (a *App) watched() bool {
	return !a.Flags.Quiet && IsTerminal(a.Stderr) && os.Getenv("TERM") != "dumb"
}

// workingDelay is how long work takes before it is shown. Less needs no answer.
const workingDelay = 300 * time.Millisecond

// Working shows on stderr, or on the screen, what a person waits for, with a
// spinner, until done is called. It shows nothing if stderr is no terminal or
// --quiet is set. It is safe for concurrent use.
func (a *App) Working(what string) (done func()) {
	console, ok := a.Stderr.(*Console)
	if !ok || !a.watched() {
		return func() {}
	}
	ended := make(chan struct{})
	var spinner sync.WaitGroup
	spinner.Go(func() {
		t := time.NewTicker(workingDelay)
		defer t.Stop()
		for i := 0; ; i++ {
			select {
			case <-ended:
				if i > 0 {
					console.Status("")
				}
				return
			case <-t.C:
				console.Status(fmt.Sprintf("%c %s", `|/-\`[i%4], term.Line(what)))
			}
		}
	})
	return sync.OnceFunc(func() {
		close(ended)
		spinner.Wait()
	})
}

// Progress starts counting things of that name.
func (a *App) Progress(things string) *progress {
	if a.Format != FormatTable || !a.watched() {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(a.Stderr), progressbar.OptionSetDescription(things), progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionEnableColorCodes(false), progressbar.OptionThrottle(100_000_000),
	)}
}

// Percent starts something of which the part that is done is known.
func (a *App) Percent(what string) *progress {
	p := a.Progress(what)
	if p.bar != nil {
		p.bar.ChangeMax(100)
	}
	return p
}

// Part shows how much is done, from 0 to 1.
func (p *progress) Part(done float64) {
	if p.bar != nil {
		_ = p.bar.Set(int(100 * done))
	}
}

// Reach shows that so many things of an estimated total are done; a total of 0 is not
// known. The time that is left follows from both.
func (p *progress) Reach(done, total int) {
	if p.bar == nil {
		return
	}
	if total > 0 {
		p.bar.ChangeMax(max(total, done+1)) // at its maximum a bar ends
	}
	_ = p.bar.Set(done)
}

// Shown reports whether a person sees the progress.
func (p *progress) Shown() bool { return p.bar != nil }

func (p *progress) Add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // what cannot be shown is no reason to stop
	}
}

func (p *progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
