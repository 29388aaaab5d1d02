package timeline

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// A Terminal is where the person sees the screen and types.
type Terminal struct {
	In, Out *os.File
	Color   bool // SGR colours; false where NO_COLOR is set
	// Divert sends to w what other parts of the process write to the terminal
	// while the screen is shown, until restore is called. It may be nil.
	Divert func(w io.Writer) (restore func())
}

// FindTerminal returns the terminal of in and out. It returns nil if they are
// not terminals or the terminal cannot move its cursor: then the timeline is
// written line by line and commands are read line by line.
func FindTerminal(in, out *os.File) *Terminal {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil
	}
	if kind := os.Getenv("TERM"); kind == "" || kind == "dumb" {
		return nil
	}
	return &Terminal{In: in, Out: out}
}

// shows reports whether w is a terminal. Text written there would be shown twice,
// or destroy the screen.
func shows(w io.Writer) bool {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		return term.IsTerminal(int(f.Fd()))
	}
	return false
}

// notes collects what the rest of the process writes while the screen is shown.
// Writers are never blocked: the screen itself may be what they wait for.
type notes struct {
	mu   sync.Mutex
	text []byte
	more chan struct{} // holds one token if there is text
}

// maxNotes bounds the text that is kept until the screen takes it, in bytes.
const maxNotes = 1 << 20

func newNotes() *notes { return &notes{more: make(chan struct{}, 1)} }

func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	n.text = append(n.text, b...)
	n.text = n.text[max(0, len(n.text)-maxNotes):]
	n.mu.Unlock()
	select {
	case n.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (n *notes) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := string(n.text)
	n.text = nil
	return text
}
