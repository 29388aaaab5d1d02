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

// Speak renders the text of p, as a host does, and sends p.
func (h *harness) Speak(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	return h.Endpoint.Speak(ctx, endpoint.Rendered(p), f)
}

func (h *harness) prompt(text string) endpoint.Prompt {
	h.turn++
	return endpoint.Prompt{
		Kind: endpoint.Turn, Request: fmt.Sprintf("req_%s_%d", strings.ReplaceAll(h.Name(), "/", "_"), h.turn),
		Room: "r", Session: "s", Profile: "p", Turn: h.turn, Mode: "full_auto",
		You: endpoint.Seat{ID: "me"}, Seats: []endpoint.Seat{{ID: "me"}, {ID: "you"}}, Boundary: "0123456789abcdef",
		Objective: "Test.", CatchUp: []endpoint.Line{{Seq: int64(h.turn), From: "you", Text: text}},
		MaxOutputChars: 1000, Timeout: h.limit,
	}
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

// A floor records the signals and the live text, and lets a test wait for them.
type floor struct {
	mu    sync.Mutex
	news  chan struct{} // closed and replaced at each signal and live text
	got   []endpoint.Signal
	shown string
	hold  chan struct{} // when not nil, messages are taken once it is closed

	refuse string // signals of this kind are refused; a message only if it has an envelope
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
	switch {
	case s.Kind == f.refuse && (s.Kind != endpoint.SignalMessage || s.Post != nil):
		return endpoint.Answer{Reason: "not in this room"}, nil
	case s.Kind == endpoint.SignalAck:
		return endpoint.Answer{Allowed: true, Reasons: make([]string, len(s.Of))}, nil
	case s.Kind == endpoint.SignalCall:
		return endpoint.Answer{Allowed: true, Body: []byte(`{"agent_name":"dba","success":true,"output":"checked","state":"completed"}`)}, nil
	}
	return endpoint.Answer{Allowed: true}, nil
}

// Show records live text.
func (f *floor) Show(delta string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shown += delta
	close(f.news)
	f.news = make(chan struct{})
}

// ShowTool drops tool calls.
func (*floor) ShowTool(endpoint.ToolCall) {}

// first returns the first signal of a kind. The caller holds f.mu.
func (f *floor) first(kind string) (endpoint.Signal, bool) {
	for _, s := range f.got {
		if s.Kind == kind {
			return s, true
		}
	}
	return endpoint.Signal{}, false
}

// wait returns the first signal of a kind, or fails the test.
func (f *floor) wait(t testing.TB, kind string) (s endpoint.Signal) {
	t.Helper()
	f.until(t, "signal of kind "+kind, func() (ok bool) {
		s, ok = f.first(kind)
		return ok
	})
	return s
}

// waitWorking waits until the agent shows that it works on a prompt: by a message,
// or by live text if its protocol has no messages.
func (f *floor) waitWorking(t testing.TB) {
	t.Helper()
	f.until(t, "message or live text", func() bool {
		_, ok := f.first(endpoint.SignalMessage)
		return ok || strings.Contains(f.shown, "working")
	})
}

// until waits until done reports true, or fails the test.
func (f *floor) until(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(2 * time.Minute) // what is awaited never comes
	defer deadline.Stop()
	for {
		f.mu.Lock()
		ok, news, all := done(), f.news, f.got
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-news:
		case <-deadline.C:
			t.Fatalf("no %s; got %+v", what, all)
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
	h.floor.waitWorking(h)
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
