//go:build unix

package ndjson_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/endpointtest"
	"github.com/folkmoot/moot/endpoints/ndjson"
)

// answering is an agent in shell that answers each request with "hello".
const answering = `while read -r line; do
id=${line#*'"request_id":"'}; id=${id%%'"'*}
printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"hello"}\n' "$id"
done`

// TestStartAwaitsReady checks that an agent which says when it is ready is not
// ready before.
func TestStartAwaitsReady(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	e := ndjson.New(ndjson.Config{
		Command:    []string{"sh", "-c", `read -r _ <"$GATE"; echo '{"type":"desktop.ready"}'; ` + answering},
		Env:        []string{"GATE=" + gate},
		AwaitReady: true,
	})
	defer e.Close()
	ready := make(chan error, 1)
	go func() { ready <- e.Start(t.Context(), nil) }()
	open, err := os.OpenFile(gate, os.O_WRONLY, 0) // returns once the agent waits at the gate
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ready:
		t.Fatalf("ready before the agent said so: %v", err)
	default:
	}
	if _, err := open.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	open.Close()
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	if r, err := e.Speak(t.Context(), turn("q"), nil); err != nil || r.Text != "hello" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestSpeakAwaitsReady checks that a process that a prompt has started, because
// the one before has ended, gets the prompt only when it is ready.
func TestSpeakAwaitsReady(t *testing.T) {
	e := ndjson.New(ndjson.Config{Command: []string{"sh", "-c", answering}, AwaitReady: true})
	defer e.Close()
	p := turn("q")
	p.Timeout = 300 * time.Millisecond // the answer would come at once
	if r, err := e.Speak(t.Context(), p, nil); err == nil {
		t.Errorf("an agent that is not ready was asked and said %q", r.Text)
	}
}

// A startLog is an agent that never gets ready and tells the test of its start.
type startLog struct{ path string }

func newStartLog(t *testing.T) startLog {
	l := startLog{filepath.Join(t.TempDir(), "started")}
	if err := syscall.Mkfifo(l.path, 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

// config returns the endpoint of the agent, which runs rest after its start.
func (l startLog) config(rest string) ndjson.Config {
	return ndjson.Config{Command: []string{"sh", "-c", `echo yes >"$STARTED"; ` + rest}, Env: []string{"STARTED=" + l.path}, AwaitReady: true, Grace: time.Minute}
}

// await waits for the start of a process.
func (l startLog) await(t *testing.T) {
	t.Helper()
	if b, err := os.ReadFile(l.path); err != nil || string(b) != "yes\n" {
		t.Fatalf("%q, %v", b, err)
	}
}

// A deadline is a context whose deadline passes when the test closes it.
type deadline struct {
	context.Context
	passed chan struct{}
}

func (d deadline) Done() <-chan struct{} { return d.passed }

func (d deadline) Err() error {
	select {
	case <-d.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestStartTimeout checks that an agent that is not ready in time is ended, and
// replaced as often as its restarts allow.
func TestStartTimeout(t *testing.T) {
	agent := newStartLog(t)
	c := agent.config("exec sleep 600")
	c.Restart = 1
	e := ndjson.New(c)
	defer e.Close()
	check := func(err error, again bool) {
		t.Helper()
		if !errors.Is(err, endpoint.ErrExited) || errors.Is(err, endpoint.ErrInterrupted) != again || !strings.Contains(err.Error(), "not ready in time") {
			t.Errorf("%v, restarted %t", err, again)
		}
	}
	for _, again := range []bool{true, false} {
		ctx, result := deadline{t.Context(), make(chan struct{})}, make(chan error, 1)
		go func() { result <- e.Start(ctx, nil) }()
		agent.await(t)
		close(ctx.passed)
		check(<-result, again)
	}
	check(e.Start(t.Context(), nil), false) // no process is left
}

// TestStartCancelled checks that a cancelled start leaves the process running, and
// that the next start waits for it.
func TestStartCancelled(t *testing.T) {
	agent, gate := newStartLog(t), newStartLog(t)
	c := agent.config(`read -r _ <"$GATE"; echo '{"type":"desktop.ready"}'; ` + answering)
	c.Env = append(c.Env, "GATE="+gate.path)
	e := ndjson.New(c)
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- e.Start(ctx, nil) }()
	agent.await(t)
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	go func() { result <- e.Start(t.Context(), nil) }()
	if err := os.WriteFile(gate.path, []byte("go\n"), 0); err != nil { // returns once the agent reads; a second process would wait for another
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Errorf("the next start: %v", err)
	}
	if r, err := e.Speak(t.Context(), turn("q"), nil); err != nil || r.Text != "hello" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestLastWords checks that the error of an agent which ends at its first turn has
// its exit status and its last words, however much of the prompt it has read.
func TestLastWords(t *testing.T) {
	for name, script := range map[string]string{
		"before it reads":      `echo no memory >&2; exit 3`,
		"while it reads":       `read -r -n 5 x; echo no memory >&2; exit 3`,
		"after it stops to":    `exec <&-; echo no memory >&2; exit 3`,
		"after the whole line": `read -r x; echo no memory >&2; exit 3`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{10, 1 << 20} { // within and beyond what a pipe holds
				e := ndjson.New(ndjson.Config{Command: []string{"bash", "-c", script}})
				q := turn("q")
				q.Text = strings.Repeat("x", size)
				_, err := e.Speak(t.Context(), q, nil)
				if !errors.Is(err, endpoint.ErrExited) || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no memory") {
					t.Errorf("%d bytes: %v", size, err)
				}
				e.Close()
			}
		})
	}
}

// TestStartAfterTimeout checks that a start after a turn without an answer waits
// for the end of the process, and reports it without a turn.
func TestStartAfterTimeout(t *testing.T) {
	e, floor := fixed(t, endpointtest.Hang), make(listener, 8)
	defer e.Close()
	ctx, result := deadline{t.Context(), make(chan struct{})}, make(chan error, 1)
	go func() {
		_, err := e.Speak(ctx, turn("q"), floor)
		result <- err
	}()
	if s := <-floor; s.Detail != "working" {
		t.Fatalf("got %+v", s)
	}
	close(ctx.passed)
	if err := <-result; !errors.Is(err, endpoint.ErrTimeout) {
		t.Fatalf("the turn: %v", err)
	}
	if err := e.Start(t.Context(), floor); !errors.Is(err, endpoint.ErrExited) || !strings.Contains(err.Error(), "no answer within") {
		t.Errorf("the start: %v", err)
	}
	for {
		if s := <-floor; s.Kind == endpoint.SignalExited {
			if s.Code != endpoint.ExitedForGood {
				t.Errorf("got %+v", s)
			}
			return
		}
	}
}

// TestExitBetweenTurns checks that the end of a process between its turns is
// reported at once.
func TestExitBetweenTurns(t *testing.T) {
	e, floor := ndjson.New(ndjson.Config{Command: []string{"sh", "-c", "exit 3"}}), make(listener)
	defer e.Close()
	if err := e.Start(t.Context(), floor); err != nil && !errors.Is(err, endpoint.ErrExited) {
		t.Fatal(err)
	}
	if s := <-floor; s.Kind != endpoint.SignalExited || s.Code != endpoint.ExitedForGood || !strings.Contains(s.Detail, "exit status 3") {
		t.Errorf("got %+v", s)
	}
}

// TestClosedOutput checks that an agent which closes its output and runs on is
// ended, and that its error has the last words that it writes then.
func TestClosedOutput(t *testing.T) {
	e := ndjson.New(ndjson.Config{Command: []string{"sh", "-c", `trap 'echo no output >&2; exit 4' TERM; exec >&-; while :; do sleep 0.01; done`}})
	defer e.Close()
	_, err := e.Speak(t.Context(), turn("q"), nil)
	for _, want := range []string{"closed its output", "exit status 4", "no output"} {
		if !errors.Is(err, endpoint.ErrExited) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestExitKnownLate checks that the error of an agent that ends by itself says so, also
// when its end is known late: here because its parent, the keeper of its processes, is
// stopped for two seconds.
func TestExitKnownLate(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("agents have no keeper here")
	}
	e := ndjson.New(ndjson.Config{Command: []string{"sh", "-c", `kill -STOP $PPID; (sleep 2; kill -CONT $PPID) >/dev/null 2>&1 & exit 3`}})
	defer e.Close()
	_, err := e.Speak(t.Context(), turn("q"), nil)
	if !errors.Is(err, endpoint.ErrExited) || !strings.Contains(err.Error(), "the agent's process has ended: exit status 3") {
		t.Errorf("got %v", err)
	}
}
