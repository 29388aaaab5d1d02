package app

import (
	"io"
	"os"
	"sync"
)

// A Console is a standard stream that a screen can take over: while it is
// diverted, what is written to it goes elsewhere. It is safe for concurrent use.
type Console struct {
	file *os.File

	mu sync.Mutex
	to io.Writer // nil is the file
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
	return c.file.Write(b)
}

// Fd returns the descriptor of the stream, also while it is diverted.
func (c *Console) Fd() uintptr { return c.file.Fd() }

// Divert sends what is written to w until restore is called.
func (c *Console) Divert(w io.Writer) (restore func()) {
	c.set(w)
	return func() { c.set(nil) }
}

func (c *Console) diverted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to != nil
}

func (c *Console) set(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = w
}

// File returns the stream's file, which a screen draws on.
func (c *Console) File() *os.File { return c.file }
