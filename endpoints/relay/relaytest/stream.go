package relaytest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// streamBuffer is the capacity of a stream in bytes, like a socket's buffers. A
// writer blocks when it is full.
const streamBuffer = 64 << 10

// A stream is one direction of a connection.
type stream struct {
	mu                sync.Mutex
	data              []byte
	blackholed        bool // written data is lost
	writeClosed       bool // the reader gets EOF after data
	readClosed        bool
	readEnd, writeEnd time.Time     // deadlines; zero: none
	change            chan struct{} // closed and replaced when a field above changes
}

func newStream() *stream { return &stream{change: make(chan struct{})} }

// update changes fields and wakes all waiting calls.
func (s *stream) update(edit func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit()
	s.notify()
}

// notify wakes all waiting calls; the caller holds mu.
func (s *stream) notify() {
	close(s.change)
	s.change = make(chan struct{})
}

// wait unlocks mu until a change or the deadline, whose passing is an error.
func (s *stream) wait(deadline time.Time) error {
	change := s.change
	s.mu.Unlock()
	defer s.mu.Lock()
	var passed <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		passed = t.C
	}
	select {
	case <-change:
		return nil
	case <-passed:
		return os.ErrDeadlineExceeded
	}
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readClosed:
			return 0, net.ErrClosed
		case len(s.data) > 0:
			n := copy(p, s.data)
			s.data = s.data[n:]
			s.notify()
			return n, nil
		case s.writeClosed:
			return 0, io.EOF
		}
		if err := s.wait(s.readEnd); err != nil {
			return 0, err
		}
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.writeClosed:
			return n, net.ErrClosed
		case s.readClosed:
			return n, io.ErrClosedPipe
		case s.blackholed:
			return n + len(p), nil
		}
		if part := min(streamBuffer-len(s.data), len(p)); part > 0 {
			s.data = append(s.data, p[:part]...)
			n, p = n+part, p[part:]
			s.notify()
		}
		if len(p) == 0 {
			return n, nil
		}
		if err := s.wait(s.writeEnd); err != nil {
			return n, err
		}
	}
}
