//go:build unix

package ndjson_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/endpointtest"
	"github.com/folkmoot/moot/endpoints/ndjson"
	"github.com/folkmoot/moot/problem"
)

// A listener is a floor that passes signals to the test.
type listener chan endpoint.Signal

// Raise allows everything.
func (l listener) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	select {
	case l <- s:
		return endpoint.Answer{Allowed: true}, nil
	case <-ctx.Done():
		return endpoint.Answer{}, ctx.Err()
	}
}

// Show drops live text.
func (listener) Show(string) {}

func (listener) ShowTool(endpoint.ToolCall) {}

func turn(id string) endpoint.Prompt {
	return endpoint.Prompt{Kind: endpoint.Turn, Request: id, CatchUp: []endpoint.Line{{From: "you", Text: "hello"}}, Timeout: time.Minute}
}

// TestCloseKillsGroup closes an endpoint whose agent ignores SIGTERM, as does its
// child, which holds the agent's pipes. Both must end.
func TestCloseKillsGroup(t *testing.T) {
	e, floor := fixed(t, endpointtest.Stubborn), make(listener)
	result := make(chan error, 1)
	go func() {
		_, err := e.Speak(t.Context(), turn("q"), floor)
		result <- err
	}()
	pids := strings.Fields((<-floor).Detail)
	if len(pids) != 2 {
		t.Fatalf("the agent says its pids are %q", pids)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := <-result; !errors.Is(err, endpoint.ErrClosed) {
		t.Errorf("the turn: %v", err)
	}
	for _, pid := range pids {
		if n, err := strconv.Atoi(pid); err != nil || !ends(n) {
			t.Errorf("process %s still runs (%v)", pid, err)
		}
	}
}

// ends waits for the end of a process that was killed, and reports whether it has
// ended.
func ends(pid int) bool {
	for range 60_000 {
		if !alive(pid) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// alive reports whether a process runs. A zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// TestCancelledTurnRestarts checks that an agent which was killed because its turn
// was cancelled is replaced without a restart being configured. The room is told
// that the new process knows nothing.
func TestCancelledTurnRestarts(t *testing.T) {
	e, floor := fixed(t, endpointtest.Hang), make(listener)
	defer e.Close()
	for _, id := range []string{"first", "second"} {
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := e.Speak(ctx, turn(id), floor)
			result <- err
		}()
		if id == "second" {
			if s := <-floor; s.Kind != endpoint.SignalForgot {
				t.Errorf("before the second: got %+v", s)
			}
			if s := <-floor; s.Kind != endpoint.SignalExited || s.Code != endpoint.ExitedRestarts {
				t.Errorf("before the second: got %+v", s)
			}
		}
		if s := <-floor; s.Detail != "working" {
			t.Errorf("%s: got %+v", id, s)
		}
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestCommandProblems checks the errors of wrong commands, and that the same
// endpoint works once the command is fixed.
func TestCommandProblems(t *testing.T) {
	dir := t.TempDir()
	e := ndjson.New(ndjson.Config{Command: []string{"./agent"}, Dir: dir})
	defer e.Close()
	wants := func(code string) {
		t.Helper()
		_, err := e.Speak(t.Context(), turn("q"), nil)
		var pe *problem.Error
		if !errors.As(err, &pe) || pe.Code != code || pe.Fix == "" {
			t.Fatalf("got %v, want %s", err, code)
		}
	}
	wants("AGENT-NOTFOUND")
	script := `#!/bin/sh
read -r line
echo '{"type":"desktop.local_prompt.response","request_id":"q","status":"ok","draft_message":"here"}'
read -r line
`
	if err := os.WriteFile(dir+"/agent", []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	wants("AGENT-NOTEXEC")
	if err := os.Chmod(dir+"/agent", 0o755); err != nil {
		t.Fatal(err)
	}
	if r, err := e.Speak(t.Context(), turn("q"), nil); err != nil || r.Text != "here" {
		t.Errorf("got %+v and %v", r, err)
	}
}

// TestUnsentPrompt checks that a prompt which was never sent does not affect the
// agent.
func TestUnsentPrompt(t *testing.T) {
	e := fixed(t, endpointtest.Restarts) // ends at its first request
	defer e.Close()
	if err := e.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Speak(done, turn("unsent"), nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	floor := make(listener, 4)
	if _, err := e.Speak(t.Context(), turn("sent"), floor); !errors.Is(err, endpoint.ErrExited) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v, want its own exit", err)
	}
}
