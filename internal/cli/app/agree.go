package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Agree asks the person in front of moot; an end of stdin is a no. The question is
// void when ctx ends, which is a no too. One question is asked at a time.
func (a *App) Agree(ctx context.Context, what string) bool {
	line, _ := a.Ask(ctx, what)
	switch strings.ToLower(line) {
	case "y", "yes":
		return true
	}
	return false
}

// Ask asks the person in front of moot for one line, and returns it without
// spaces at its ends. It is not answered if stdin or ctx ends. One question is
// asked at a time.
func (a *App) Ask(ctx context.Context, what string) (line string, answered bool) {
	answer := a.answers.next(a.Stdin)
	fmt.Fprint(a.Stderr, what)
	select {
	case line = <-answer:
		return strings.TrimSpace(line), strings.HasSuffix(line, "\n")
	case <-ctx.Done():
		a.answers.skip()
		fmt.Fprintln(a.Stderr)
	}
	return "", false
}

// An answerReader reads the answers to questions, one line each. Reading cannot be
// interrupted, so a read for a void question goes on and is used for the next
// question. A line that ends while no question is open answers none. The zero
// answerReader is ready for use; its goroutine may stay until the process ends.
type answerReader struct {
	mu      sync.Mutex
	in      *bufio.Reader
	reading bool
	open    chan string // of the open question; nil without one
}

// next opens a question and returns the channel of its answer.
func (r *answerReader) next(stdin io.Reader) <-chan string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.in == nil {
		r.in = bufio.NewReader(stdin)
	}
	answer := make(chan string, 1)
	r.open = answer
	if !r.reading {
		r.reading = true
		go r.read()
	}
	return answer
}

// skip closes the open question.
func (r *answerReader) skip() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = nil
}

// read reads one line and gives it to the open question.
func (r *answerReader) read() {
	line, _ := r.in.ReadString('\n')
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading = false
	if r.open != nil {
		r.open <- line
		r.open = nil
	}
}
