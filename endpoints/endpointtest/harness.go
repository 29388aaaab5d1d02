package endpointtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/check"
	"github.com/folkmoot/moot/endpoints/endpoint"
)

// An Endpoint is the endpoint under test.
type Endpoint = check.Endpoint

// A testCase is one test with an agent of one scenario.
type testCase struct {
	name  string
	agent Scenario
	run   func(*harness)
}

// A harness is one endpoint under test.
type harness struct {
	*testing.T
	Endpoint
	floor *floor
	turn  int
	limit time.Duration
}

func (h *harness) prompt(text string) endpoint.Prompt {
	h.turn++
	return endpoint.Rendered(endpoint.Prompt{
		Kind: endpoint.Turn, Request: fmt.Sprintf("req_%s_%d", strings.ReplaceAll(h.Name(), "/", "_"), h.turn),
		Room: "r", Session: "s", Profile: "p", Turn: h.turn, Mode: "full_auto",
		You: endpoint.Seat{ID: "me"}, Seats: []endpoint.Seat{{ID: "me"}, {ID: "you"}}, Boundary: "0123456789abcdef",
		Objective: "Test.", CatchUp: []endpoint.Line{{Seq: int64(h.turn), From: "you", Text: text}},
		MaxOutputChars: 1000, Timeout: h.limit,
	})
}

func (h *harness) say(text string) (endpoint.Reply, error) {
	return h.Speak(h.Context(), h.prompt(text), h.floor)
}

// answers fails the test unless the next prompt gets its own answer.
func (h *harness) answers(text string) {
	h.Helper()
	r, err := h.say(text)
	if err != nil {
		h.Fatalf("asked %q: %v", text, err)
	}
	if r.Outcome != endpoint.Said || r.Text != Answer(text) {
		h.Fatalf("asked %q, and it %s %q", text, r.Outcome, r.Text)
	}
}

// A floor records the signals, and lets a test wait for one.
type floor struct {
	mu   sync.Mutex
	news chan struct{} // closed and replaced at each signal
	got  []endpoint.Signal
	hold chan struct{} // when not nil, messages are taken once it is closed
}

func newFloor() *floor { return &floor{news: make(chan struct{})} }

// Raise records s and allows it.
func (f *floor) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	f.mu.Lock()
	f.got = append(f.got, s)
	close(f.news)
	f.news = make(chan struct{})
	hold := f.hold
	f.mu.Unlock()
	if hold != nil && s.Kind == endpoint.SignalMessage {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	return endpoint.Answer{Allowed: true}, nil
}

// Show drops live text.
func (f *floor) Show(string) {}

// wait returns the first signal of a kind, or fails the test.
func (f *floor) wait(t testing.TB, kind string) endpoint.Signal {
	t.Helper()
	deadline := time.NewTimer(2 * time.Minute) // a signal that never comes
	defer deadline.Stop()
	for {
		f.mu.Lock()
		news, all := f.news, f.got
		f.mu.Unlock()
		for _, s := range all {
			if s.Kind == kind {
				return s
			}
		}
		select {
		case <-news:
		case <-deadline.C:
			t.Fatalf("no signal of kind %s; got %+v", kind, all)
		}
	}
}

// during starts a turn that the agent does not answer, and returns once the agent
// works on it.
func during(h *harness, ctx context.Context, p endpoint.Prompt) (result <-chan error) {
	c := make(chan error, 1)
	go func() {
		_, err := h.Speak(ctx, p, h.floor)
		c <- err
	}()
	h.floor.wait(h, endpoint.SignalMessage)
	return c
}

// An expiringContext is a context whose deadline passes when the test says so.
type expiringContext struct {
	context.Context
	done chan struct{}
}

// expiring returns a context whose deadline passes when expire is called.
func expiring(parent context.Context) (ctx context.Context, expire func()) {
	c := expiringContext{parent, make(chan struct{})}
	return c, func() { close(c.done) }
}

// Done is closed when the deadline passes.
func (c expiringContext) Done() <-chan struct{} { return c.done }

// Err is context.DeadlineExceeded once the deadline has passed.
func (c expiringContext) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
