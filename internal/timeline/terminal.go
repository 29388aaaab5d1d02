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
	// Divert sends to d what other parts of the process write to the terminal
	// while the screen is shown, until restore is called. It may be nil.
	Divert func(d Diversion) (restore func())
}

// A Diversion takes what other parts of the process write to the terminal, and the
// line that says what a person waits for, "" for nothing.
type Diversion interface {
	io.Writer
	Status(line string)
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

// notes is the Diversion of a screen. Writers are never blocked: the screen itself
// may be what they wait for.
type notes struct {
	mu     sync.Mutex
	text   []byte
	status string
	more   chan struct{} // holds one token if there is something new
}

// maxNotes bounds the text that is kept until the screen takes it, in bytes.
const maxNotes = 1 << 20

func newNotes() *notes { return &notes{more: make(chan struct{}, 1)} }

func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	n.text = append(n.text, b...)
	n.text = n.text[max(0, len(n.text)-maxNotes):]
	n.mu.Unlock()
	n.wake()
	return len(b), nil
}

// Status implements Diversion.
func (n *notes) Status(line string) {
	n.mu.Lock()
	n.status = line
	n.mu.Unlock()
	n.wake()
}

func (n *notes) wake() {
	select {
	case n.more <- struct{}{}:
	default:
	}
}

// take returns the text since the last call, and the status.
func (n *notes) take() (text, status string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text = string(n.text)
	n.text = nil
	return text, n.status
}
