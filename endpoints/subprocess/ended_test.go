//go:build unix

package subprocess

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/spawn"
)

// A slowReader is a connection that goes on reading until the test says so.
type slowReader struct {
	read, done chan struct{}
	cause      error
}

func (c *slowReader) Read(io.Reader) error  { <-c.read; return io.EOF }
func (c *slowReader) End(err error)         { c.cause = err; close(c.done) }
func (c *slowReader) Done() <-chan struct{} { return c.done }
func (c *slowReader) Cause() error          { return c.cause }

// TestNoEndedProcess checks that a process which has ended is not ready while its
// last output is still being read.
func TestNoEndedProcess(t *testing.T) {
	s := New(Config{Spawn: spawn.Config{Command: []string{"sh", "-c", "exit 3"}}}, func(Link) *slowReader {
		return &slowReader{read: make(chan struct{}), done: make(chan struct{})}
	})
	p, err := s.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-p.proc.Done()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Ready(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("while its output is read: %v", err)
	}
	close(p.Conn.read)
	if _, err := s.Ready(t.Context()); !errors.Is(err, endpoint.ErrExited) {
		t.Errorf("afterwards: %v", err)
	}
}
