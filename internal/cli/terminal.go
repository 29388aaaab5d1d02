package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// width is the number of columns of w, 0 when it is no terminal.
func width(w io.Writer) int {
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

// interruptSelf does what Ctrl-C does where the terminal does not do it.
func interruptSelf() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Signal(os.Interrupt) // where it cannot be sent, q leaves too
	}
}
