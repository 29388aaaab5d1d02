package app

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// A questionLog is a standard error that passes each question to the test.
type questionLog chan string

func (p questionLog) Write(b []byte) (int, error) {
	if s := strings.TrimSpace(string(b)); s != "" {
		p <- s
	}
	return len(b), nil
}

// TestAgreeAfterVoidQuestion: the answer to a question, which arrives key by key,
// is not lost to an earlier question that is void.
func TestAgreeAfterVoidQuestion(t *testing.T) {
	in, keys := io.Pipe()
	defer keys.Close()
	asked := make(questionLog)
	a := &App{Stdin: in, Stderr: asked}
	ask := func(ctx context.Context, what string) <-chan bool {
		answer := make(chan bool, 1)
		go func() { answer <- a.Agree(ctx, what) }()
		if got := <-asked; got != what {
			t.Fatalf("asked %q, want %q", got, what)
		}
		return answer
	}
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		first := ask(ctx, "first?")
		cancel()
		if <-first {
			t.Error("a void question was answered yes")
		}
	}
	second := ask(t.Context(), "second?")
	for _, key := range "yes\n" {
		if _, err := keys.Write([]byte(string(key))); err != nil {
			t.Fatal(err)
		}
	}
	if !<-second {
		t.Error("the answer did not arrive")
	}
	third := ask(t.Context(), "third?")
	if _, err := keys.Write([]byte("n\n")); err != nil {
		t.Fatal(err)
	}
	if <-third {
		t.Error("no was taken for yes")
	}
	fourth := ask(t.Context(), "fourth?")
	keys.Close()
	if <-fourth {
		t.Error("the end of stdin was taken for yes")
	}
}

// TestAgreeDropsLateLine: a line that was typed for a question which is void does
// not answer the next one.
func TestAgreeDropsLateLine(t *testing.T) {
	in, keys := io.Pipe()
	defer keys.Close()
	asked := make(questionLog, 2)
	a := &App{Stdin: in, Stderr: asked}
	void, cancel := context.WithCancel(t.Context())
	cancel()
	a.Agree(void, "first?")
	if _, err := keys.Write([]byte("y\n")); err != nil {
		t.Fatal(err)
	}
	for idle := false; !idle; time.Sleep(time.Millisecond) { // until the line is read
		a.answers.mu.Lock()
		idle = !a.answers.reading
		a.answers.mu.Unlock()
	}
	second := make(chan bool, 1)
	go func() { second <- a.Agree(t.Context(), "second?") }()
	if _, err := keys.Write([]byte("n\n")); err != nil {
		t.Fatal(err)
	}
	if <-second {
		t.Error("the line for the first question has answered the second")
	}
}
