package app

import (
	"io"
	"os"
	"sync"

	"github.com/folkmoot/moot/internal/timeline"
)

// A Console is a standard stream that a screen can take over: while it is
// diverted, what is written to it goes elsewhere. It is safe for concurrent use.
type Console struct {
	file *os.File

	mu     sync.Mutex
	to     timeline.Diversion // nil is the file
	status bool               // the last line of the file is a status line
}

// NewConsole returns a console that writes to f.
func NewConsole(f *os.File) *Console { return &Console{file: f} }

// Write implements io.Writer.
func (c *Console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.to != nil {
		return c.to.Write(b)
	}
	c.clear()
	return c.file.Write(b)
}

// Status shows line as the last line of the terminal, in place of the status
// line before; "" removes it.
func (c *Console) Status(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.to != nil {
		c.to.Status(line)
		return
	}
	c.clear()
	if c.status = line != ""; c.status {
		_, _ = io.WriteString(c.file, line) // a terminal that has gone away has no reader
	}
}

// clear removes the status line from the terminal.
func (c *Console) clear() {
	if c.status {
		_, _ = io.WriteString(c.file, "\r\x1b[K") // a terminal that has gone away has no reader
	}
	c.status = false
}

// Fd returns the descriptor of the stream, also while it is diverted.
func (c *Console) Fd() uintptr { return c.file.Fd() }

// Divert sends what is written, and the status line, to d until restore is
// called.
func (c *Console) Divert(d timeline.Diversion) (restore func()) {
	c.set(d)
	return func() { c.set(nil) }
}

func (c *Console) set(d timeline.Diversion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	c.to = d
}

// File returns the stream's file, which a screen draws on.
func (c *Console) File() *os.File { return c.file }
