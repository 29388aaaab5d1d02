package ndjson_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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

// TestStartTimeout checks that an agent that is not ready in time is ended, and
// replaced as often as its restarts allow. A cancelled start leaves it running.
func TestStartTimeout(t *testing.T) {
	e := ndjson.New(ndjson.Config{Command: []string{"sleep", "600"}, AwaitReady: true, Restart: 1, Grace: 100 * time.Millisecond})
	defer e.Close()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Start(cancelled, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for i, again := range []bool{true, false, false} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := e.Start(ctx, nil)
		cancel()
		if i == 2 { // the process of the second start has to end first
			err = e.Start(t.Context(), nil)
		}
		if !errors.Is(err, endpoint.ErrExited) || errors.Is(err, endpoint.ErrInterrupted) != again || !strings.Contains(err.Error(), "not ready in time") {
			t.Errorf("start %d: %v, restarted %t", i+1, err, again)
		}
	}
}

// TestStartAfterTimeout checks that a start after a turn without an answer waits
// for the end of the process, and reports it without a turn.
func TestStartAfterTimeout(t *testing.T) {
	e, floor := fixed(t, endpointtest.Hang), make(listener, 8)
	defer e.Close()
	p := turn("q")
	p.Timeout = 100 * time.Millisecond
	if _, err := e.Speak(t.Context(), p, floor); !errors.Is(err, endpoint.ErrTimeout) {
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
