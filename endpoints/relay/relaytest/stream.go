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
	reading, writing deadline

	mu          sync.Mutex
	data        []byte
	blackholed  bool // written data is lost
	writeClosed bool // the reader gets EOF after data
	readClosed  bool
	change      chan struct{} // closed and replaced when a field above changes
}

func newStream() *stream {
	s := &stream{change: make(chan struct{})}
	s.reading.change, s.writing.change = make(chan struct{}), make(chan struct{})
	return s
}

// notify wakes all waiting calls; the caller holds mu.
func (s *stream) notify() {
	close(s.change)
	s.change = make(chan struct{})
}

func (s *stream) read(p []byte) (int, error) {
	for {
		s.mu.Lock()
		change := s.change
		switch {
		case s.readClosed:
			s.mu.Unlock()
			return 0, net.ErrClosed
		case len(s.data) > 0:
			n := copy(p, s.data)
			s.data = s.data[n:]
			s.notify()
			s.mu.Unlock()
			return n, nil
		case s.writeClosed:
			s.mu.Unlock()
			return 0, io.EOF
		}
		s.mu.Unlock()
		if err := s.reading.wait(change); err != nil {
			return 0, err
		}
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	for {
		s.mu.Lock()
		change := s.change
		switch room := streamBuffer - len(s.data); {
		case s.writeClosed:
			s.mu.Unlock()
			return n, net.ErrClosed
		case s.readClosed:
			s.mu.Unlock()
			return n, io.ErrClosedPipe
		case s.blackholed:
			s.mu.Unlock()
			return n + len(p), nil
		case room > 0:
			part := min(room, len(p))
			s.data = append(s.data, p[:part]...)
			n, p = n+part, p[part:]
			s.notify()
		}
		s.mu.Unlock()
		if len(p) == 0 {
			return n, nil
		}
		if err := s.writing.wait(change); err != nil {
			return n, err
		}
	}
}

// closeWrite ends the stream. During an outage the reader does not notice.
func (s *stream) closeWrite() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.blackholed {
		s.writeClosed = true
	}
	s.notify()
}

// closeRead makes later writes fail.
func (s *stream) closeRead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readClosed = true
	s.notify()
}

// blackhole drops all data from now on.
func (s *stream) blackhole() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blackholed, s.data = true, nil
	s.notify()
}

// A deadline of reads or writes. Setting it wakes waiting calls.
type deadline struct {
	mu     sync.Mutex
	at     time.Time
	change chan struct{}
}

func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = t
	close(d.change)
	d.change = make(chan struct{})
}

// wait returns nil after a change, or an error when the deadline has passed.
func (d *deadline) wait(happened <-chan struct{}) error {
	d.mu.Lock()
	at, moved := d.at, d.change
	d.mu.Unlock()
	var passed <-chan time.Time
	if !at.IsZero() {
		left := time.Until(at)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		t := time.NewTimer(left)
		defer t.Stop()
		passed = t.C
	}
	select {
	case <-happened:
	case <-moved:
	case <-passed:
		return os.ErrDeadlineExceeded
	}
	return nil
}
