package subprocess_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/subprocess"
)

// TestSendWholeLines sends lines at once and checks that none is torn.
func TestSendWholeLines(t *testing.T) {
	ours, theirs := net.Pipe()
	w := subprocess.NewWriter(ours, nil)
	const senders, lines = 4, 50
	for i := range senders {
		line := []byte(strings.Repeat(string(rune('a'+i)), 5000) + "\n")
		go func() {
			for range lines {
				if sent, err := w.Send(t.Context(), line); !sent || err != nil {
					t.Errorf("%t, %v", sent, err)
				}
			}
		}()
	}
	in := bufio.NewReader(theirs)
	for range senders * lines {
		line, err := in.ReadString('\n')
		if err != nil || strings.Trim(line, line[:1]) != "\n" || len(line) != 5001 {
			t.Fatalf("%q, %v", line, err)
		}
	}
}

// TestSendEndsWithContext checks what is reported of a line whose context ends
// before and while it is written.
func TestSendEndsWithContext(t *testing.T) {
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer out.Close()
	done := make(chan struct{})
	w := subprocess.NewWriter(out, done)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if sent, err := w.Send(ended, []byte("a\n")); sent || !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %t, %v", sent, err)
	}
	if sent, err := w.Send(t.Context(), []byte("b\n")); !sent || err != nil {
		t.Errorf("the next line: %t, %v", sent, err)
	}
	ctx, expire := context.WithCancel(t.Context())
	go func() { // until a part of the line has come
		if _, err := io.ReadFull(r, make([]byte, 3)); err != nil {
			t.Error(err)
		}
		expire()
	}()
	if sent, err := w.Send(ctx, bytes.Repeat([]byte("c"), 4<<20)); !sent || !errors.Is(err, subprocess.ErrTorn) {
		t.Errorf("a line that is not read: %t, %v", sent, err)
	}
	next := make(chan error, 1)
	go func() {
		_, err := w.Send(t.Context(), []byte("d\n"))
		next <- err
	}()
	close(done)
	if err := <-next; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after a torn line: %v", err)
	}
}
