package subprocess

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// ErrTorn means that a line was written in part only, because its context ended
// while the process did not read. Nothing can be written after it.
var ErrTorn = errors.New("subprocess: the process stopped reading in the middle of a line")

// A Writer writes whole lines, one at a time. Its methods may be called
// concurrently.
type Writer struct {
	out   io.Writer
	token chan struct{} // held while a line is written; never given back after a torn line
	done  <-chan struct{}
}

// NewWriter returns a writer to the standard input of a process. If out has the
// method SetWriteDeadline, as pipes have, the end of a context ends a write. Send
// fails once done is closed.
func NewWriter(out io.Writer, done <-chan struct{}) *Writer {
	return &Writer{out: out, token: make(chan struct{}, 1), done: done}
}

// Send writes line, which ends with its newline. sent reports whether any of it
// was written to a process that may still read it. The error is that of ctx if
// nothing was written, ErrTorn if a part was, io.ErrClosedPipe once the writer is
// done, and the pipe's if the process has closed its input. After ErrTorn the
// caller ends the process.
func (w *Writer) Send(ctx context.Context, line []byte) (sent bool, err error) {
	select {
	case w.token <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	case <-w.done:
		return false, io.ErrClosedPipe
	}
	if err := w.ended(ctx); err != nil {
		<-w.token
		return false, err
	}
	stop := w.limit(ctx)
	n, err := w.out.Write(line)
	stop()
	late := errors.Is(err, os.ErrDeadlineExceeded)
	if late && n > 0 {
		return true, ErrTorn
	}
	<-w.token
	switch {
	case late:
		return false, ctx.Err()
	case err != nil:
		return false, err // the process has closed its input, which tells less than its exit status
	}
	return true, nil
}

// ended returns why nothing can be written any more, or nil. A select takes the
// token even so.
func (w *Writer) ended(ctx context.Context) error {
	select {
	case <-w.done:
		return io.ErrClosedPipe
	default:
		return ctx.Err()
	}
}

// limit makes a write fail when ctx ends. The caller calls stop.
func (w *Writer) limit(ctx context.Context) (stop func()) {
	d, ok := w.out.(interface{ SetWriteDeadline(time.Time) error })
	if !ok {
		return func() {}
	}
	_ = d.SetWriteDeadline(time.Time{})
	fired := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(fired)
		_ = d.SetWriteDeadline(time.Unix(1, 0))
	})
	return func() {
		if !cancel() {
			<-fired // otherwise it could hit the next write
		}
	}
}
