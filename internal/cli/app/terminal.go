package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/folkmoot/moot/internal/timeline"
	"github.com/folkmoot/moot/problem"
)

// Width is the number of columns of w, 0 when it is no terminal.
func Width(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// InterruptSelf does what Ctrl-C does where the terminal does not do it.
func InterruptSelf() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Signal(os.Interrupt) // where it cannot be sent, q leaves too
	}
}

// Terminal is the terminal on which a screen can be shown, nil when there is
// none or when something else is to be shown there.
func (a *App) Terminal() *timeline.Terminal {
	in, ok := a.Stdin.(*os.File)
	console, ok2 := a.Stderr.(*Console)
	if !ok || !ok2 || !a.Interactive() || a.Format != FormatTable && IsTerminal(a.Stdout) {
		return nil
	}
	t := timeline.FindTerminal(in, console.File())
	if t != nil {
		t.Color, t.Divert = a.Colours(a.Stderr), console.Divert
	}
	return t
}

// Printer shows events in this terminal's colours and width.
func (a *App) Printer() *timeline.Printer {
	return &timeline.Printer{Style: timeline.Style{Color: a.Colours(a.Stdout), Width: Width(a.Stdout)}, Below: a.callsBelow}
}

// maxPassphrase bounds what is read from something that is no terminal.
const maxPassphrase = 1024

// AskPassphrase asks a person without showing what is typed, or takes the
// first line of stdin where that is no terminal.
func (a *App) AskPassphrase(prompt string) ([]byte, error) {
	none := &problem.Error{Code: "POL-KEY", What: "no passphrase was given", Fix: "type it in a terminal, or let it be the first line of stdin"}
	if f, ok := a.Stdin.(*os.File); ok && a.Interactive() {
		fmt.Fprint(a.Stderr, prompt)
		phrase, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.Stderr)
		if err != nil || len(phrase) == 0 {
			none.Err = err
			return nil, none
		}
		return phrase, nil
	}
	line, err := bufio.NewReaderSize(a.Stdin, maxPassphrase).ReadSlice('\n')
	phrase := strings.TrimRight(string(line), "\r\n")
	if phrase == "" || err != nil && len(line) >= maxPassphrase {
		return nil, none
	}
	return []byte(phrase), nil
}

// ErrInterrupted is the cause of a context that a signal has cancelled.
var ErrInterrupted = errors.New("interrupted")

// OnHangup makes SIGHUP call f, until the process ends, for servers that read
// their files again. Without it SIGHUP is an interrupt.
func (a *App) OnHangup(f func()) { a.hangup.Store(&f) }

// Interruptible returns a context that the first interrupt cancels, so that
// what runs can end gracefully: SIGINT, SIGTERM, or SIGHUP when the terminal
// goes away. A second SIGINT or SIGTERM ends moot at once. A second SIGHUP does
// not, because a shell passes on the one that the system sends too. stop waits
// for the goroutine that listens.
func (a *App) Interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case s := <-signals:
				a.signalled(ctx, s, cancel)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(quit)
		<-done
		cancel(nil)
	}
}

// signalled handles a signal.
func (a *App) signalled(ctx context.Context, s os.Signal, cancel context.CancelCauseFunc) {
	reload := a.hangup.Load()
	switch {
	case s == syscall.SIGHUP && reload != nil:
		(*reload)()
	case ctx.Err() == nil:
		fmt.Fprintf(a.Stderr, "\n%s: shutting down; press Ctrl-C again to quit now\n", s)
		cancel(ErrInterrupted)
	case s != syscall.SIGHUP:
		os.Exit(ExitInterrupted)
	}
}

func SleepFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
