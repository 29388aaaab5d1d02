package endpointtest

import (
	"errors"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// deaf checks that a prompt which does not fit into the pipe does not delay the
// deadline.
func deaf(h *harness) {
	h.limit = 200 * time.Millisecond
	if _, err := h.say(strings.Repeat("x", 4<<20)); !errors.Is(err, endpoint.ErrTimeout) && !errors.Is(err, endpoint.ErrExited) {
		h.Errorf("got %v, want ErrTimeout or ErrExited", err)
	}
}

func exits(h *harness) {
	_, err := h.say("hello")
	if !errors.Is(err, endpoint.ErrExited) {
		h.Fatalf("got %v, want ErrExited", err)
	}
	for _, want := range []string{"3", "goodbye"} {
		if !strings.Contains(err.Error(), want) {
			h.Errorf("%q does not have %q", err, want)
		}
	}
	if _, err := h.say("again"); !errors.Is(err, endpoint.ErrExited) {
		h.Errorf("the next turn: %v, want ErrExited", err)
	}
}

func exitsAfter(h *harness) {
	h.answers("hello")
	if _, err := h.say("again"); !errors.Is(err, endpoint.ErrExited) {
		h.Errorf("the next turn: %v, want ErrExited", err)
	}
}

// restarts checks that a failed turn is not repeated, that the next turn has a new
// process, and that there is one restart only. The first error announces the
// restart, and a signal tells that the agent has lost what it was told.
func restarts(h *harness) {
	for i := range 2 {
		_, err := h.say("hello")
		if again := errors.Is(err, endpoint.ErrInterrupted); !errors.Is(err, endpoint.ErrExited) || again != (i == 0) {
			h.Fatalf("process %d: got %v (is ErrInterrupted: %v), want ErrExited, and ErrInterrupted of the first", i+1, err, again)
		}
		if s := h.floor.wait(h, endpoint.SignalMessage); !strings.HasPrefix(s.Detail, "pid ") {
			h.Fatalf("got %+v, want its process id", s)
		}
	}
	h.floor.wait(h, endpoint.SignalForgot)
	if _, err := h.say("again"); !errors.Is(err, endpoint.ErrExited) {
		h.Fatalf("got %v, want ErrExited", err)
	}
	h.floor.mu.Lock()
	defer h.floor.mu.Unlock()
	started, forgot, others := map[string]bool{}, 0, 0
	for _, s := range h.floor.got {
		switch s.Kind {
		case endpoint.SignalForgot:
			forgot++
		case endpoint.SignalMessage:
			started[s.Detail] = true
		case endpoint.SignalExited:
		default:
			others++
		}
	}
	if len(started) != 2 || others != 0 || forgot != 1 {
		h.Errorf("%d processes were started, want 2, and %d signals that one forgot: %+v", len(started), forgot, h.floor.got)
	}
}

// eventually repeats a prompt if the process ended before it read the prompt.
func eventually(h *harness, text string) {
	h.Helper()
	for range 20 {
		r, err := h.say(text)
		if err == nil && r.Text == Answer(text) {
			return
		}
		if !errors.Is(err, endpoint.ErrExited) {
			h.Fatalf("got %+v and %v", r, err)
		}
	}
	h.Fatal("the agent is not restarted")
}

func closes(h *harness) {
	h.answers("hello")
	for range 2 {
		if err := h.Close(); err != nil {
			h.Error(err)
		}
	}
	if _, err := h.say("again"); !errors.Is(err, endpoint.ErrClosed) {
		h.Errorf("after Close: %v, want ErrClosed", err)
	}
}

func closesUnused(h *harness) {
	if err := h.Close(); err != nil {
		h.Error(err)
	}
	if _, err := h.say("hello"); !errors.Is(err, endpoint.ErrClosed) {
		h.Errorf("after Close: %v, want ErrClosed", err)
	}
}

func closesDuring(h *harness) {
	result := during(h, h.Context(), h.prompt("hello"))
	if err := h.Close(); err != nil {
		h.Error(err)
	}
	if err := <-result; !errors.Is(err, endpoint.ErrClosed) {
		h.Errorf("got %v, want ErrClosed", err)
	}
}
