//go:build unix

package subprocess_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/subprocess"
	"github.com/folkmoot/moot/internal/spawn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines is a connection whose protocol is lines of text in both directions.
type lines struct {
	out   *subprocess.Writer
	got   chan string
	done  chan struct{}
	once  sync.Once
	cause error
}

func connect(l subprocess.Link) *lines {
	done := make(chan struct{})
	return &lines{out: subprocess.NewWriter(l.Stdin, done), got: make(chan string, 8), done: done}
}

func (c *lines) Read(stdout io.Reader) error {
	in := spawn.NewLines(stdout, 1000)
	for {
		b, err := in.Next()
		if err != nil {
			return err
		}
		c.got <- string(spawn.TrimLine(b))
	}
}

func (c *lines) End(err error) {
	c.once.Do(func() {
		c.cause = err
		close(c.done)
	})
}

func (c *lines) Done() <-chan struct{} { return c.done }

func (c *lines) Cause() error {
	select {
	case <-c.done:
		return c.cause
	default:
		return nil
	}
}

// A listener is a floor that passes signals to the test.
type listener chan endpoint.Signal

func (l listener) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	l <- s
	return endpoint.Answer{Allowed: true}, nil
}

func (listener) Show(string) {}

func (listener) ShowTool(endpoint.ToolCall) {}

// supervise returns a supervisor of a shell script, whose signals go to floor.
func supervise(t *testing.T, cfg subprocess.Config, script string) (s *subprocess.Supervisor[*lines], floor listener) {
	cfg.Spawn.Command = []string{"sh", "-c", script}
	s, floor = subprocess.New(cfg, connect), make(listener, 8)
	s.SetFloor(floor)
	t.Cleanup(func() { s.Close() })
	return s, floor
}

// exchange sends a line to a ready process and returns the answer.
func exchange(t *testing.T, s *subprocess.Supervisor[*lines], line string) (*subprocess.Process[*lines], string) {
	t.Helper()
	p, err := s.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.MarkAsked()
	if _, err := p.Conn.out.Send(t.Context(), []byte(line+"\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-p.Conn.got:
		return p, got
	case <-p.Conn.done:
		return p, ""
	}
}

const echoing = `while read -r line; do [ "$line" = exit ] && exit 3; echo "$$ $line"; done`

// TestReplace ends a process twice. The first is replaced, the second is not.
func TestReplace(t *testing.T) {
	s, floor := supervise(t, subprocess.Config{Restart: 1}, echoing)
	p, first := exchange(t, s, "one")
	if q, again := exchange(t, s, "one"); q != p || again != first {
		t.Errorf("%q and then %q: not the same process", first, again)
	}
	exchange(t, s, "exit")
	if err := s.MarkRestart(p, p.Conn.Cause()); !errors.Is(err, endpoint.ErrInterrupted) || !errors.Is(err, endpoint.ErrExited) {
		t.Errorf("the first end: %v", err)
	}
	p, next := exchange(t, s, "one")
	if next == first || !strings.HasSuffix(next, " one") {
		t.Errorf("%q and then %q: the same process", first, next)
	}
	exchange(t, s, "exit")
	if err := s.MarkRestart(p, p.Conn.Cause()); errors.Is(err, endpoint.ErrInterrupted) {
		t.Errorf("the second end: %v", err)
	}
	if _, err := s.Ready(t.Context()); !errors.Is(err, endpoint.ErrExited) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("after the second end: %v", err)
	}
	wantSignals(t, floor, endpoint.SignalForgot, "exited: interrupted", "exited: exited")
}

func wantSignals(t *testing.T, floor listener, want ...string) {
	t.Helper()
	for _, w := range want {
		s := <-floor
		got := s.Kind
		if s.Code != "" {
			got += ": " + s.Code
		}
		if got != w {
			t.Errorf("got the signal %s, want %s", got, w)
		}
	}
}

// TestResumes checks that an endpoint which resumes sessions reports itself what
// was forgotten.
func TestResumes(t *testing.T) {
	s, floor := supervise(t, subprocess.Config{Restart: 1, Resumes: true}, echoing)
	exchange(t, s, "exit")
	wantSignals(t, floor, "exited: interrupted")
}

// TestAwaitLate checks that a process without a late answer is ended, and whether
// that counts as a restart.
func TestAwaitLate(t *testing.T) {
	for _, counts := range []bool{false, true} {
		s, _ := supervise(t, subprocess.Config{Grace: time.Millisecond}, echoing)
		p, _ := exchange(t, s, "one")
		answered := make(chan struct{})
		close(answered)
		p.AwaitLate(answered, counts)
		if q, _ := exchange(t, s, "two"); q != p {
			t.Error("a process was replaced although it has answered")
		}
		p.AwaitLate(nil, counts)
		q, err := s.Ready(t.Context())
		if replaced := err == nil && q != p; replaced == counts {
			t.Errorf("counts %t: replaced is %t, %v", counts, replaced, err)
		}
	}
}

// TestSlot checks that there is one request at a time.
func TestSlot(t *testing.T) {
	s, _ := supervise(t, subprocess.Config{}, echoing)
	release, err := s.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(); !errors.Is(err, endpoint.ErrBusy) {
		t.Errorf("a second request: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.AcquireWait(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	release()
	if release, err := s.AcquireWait(t.Context()); err != nil {
		t.Error(err)
	} else {
		release()
	}
}

// TestClose checks that Close ends a process that ignores its input and SIGTERM,
// without a signal, and for good.
func TestClose(t *testing.T) {
	s, floor := supervise(t, subprocess.Config{Close: time.Millisecond}, `trap "" TERM; echo up; while :; do sleep 0.1; done`)
	p, err := s.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-p.Conn.got
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Conn.Cause(); !errors.Is(err, endpoint.ErrClosed) {
		t.Errorf("the connection: %v", err)
	}
	if _, err := s.Ready(t.Context()); !errors.Is(err, endpoint.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if len(floor) > 0 {
		t.Errorf("got the signal %+v", <-floor)
	}
}
