package source

import (
	"io"
	"os"
	"sync"
)

// A progress is how much of the transcripts has been read. It is safe for concurrent
// use.
type progress struct {
	mu       sync.Mutex
	at, of   int     // arguments that have been read, and all
	bytes    float64 // of the current file
	fileSize float64 // 0 for a room, or when it is not known
}

// begin notes that the argument with that index is next.
func (p *progress) begin(i, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.of, p.bytes, p.fileSize = i, of, 0, 0
}

// file returns a reader of f that counts.
func (p *progress) file(f *os.File) io.Reader {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fileSize = float64(info.Size())
	return &counter{f, p}
}

// A counter counts the bytes that are read from a file.
type counter struct {
	file *os.File
	of   *progress
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.file.Read(b)
	c.of.mu.Lock()
	c.of.bytes += float64(n)
	c.of.mu.Unlock()
	return n, err
}

// Quiet ends telling the user what is left out, until the function that it returns is
// called.
func (s *Sources) Quiet() (end func()) {
	note, warn := s.Note, s.warn
	s.Note, s.warn = nil, nil
	return func() { s.Note, s.warn = note, warn }
}

// Files returns the arguments that are files.
func (s *Sources) Files() []string {
	var files []string
	for _, name := range s.Args {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files
}

// Share returns which share of the transcripts has been read, from 0 to 1. Each
// argument counts alike, and a file by its bytes.
func (s *Sources) Share() float64 {
	p := &s.read
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == 0 {
		return 0
	}
	part := float64(p.at)
	if p.fileSize > 0 {
		part += min(1, p.bytes/p.fileSize)
	}
	return part / float64(p.of)
}
