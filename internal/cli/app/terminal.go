package app

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/folkmoot/moot/internal/timeline"
	"golang.org/x/term"
)

// Width is the number of columns of w, 0 when it is no terminal.
func Width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
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

// Printer shows events in this terminal's colours and width.
func (a *App) Printer() *timeline.Printer {
	return &timeline.Printer{Style: timeline.Style{Color: a.Colours(a.Stdout), Width: Width(a.Stdout)}}
}

// Agree asks the person in front of moot; an end of stdin is a no.
func (a *App) Agree(what string) bool {
	fmt.Fprint(a.Stderr, what)
	line, _ := bufio.NewReader(a.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}
