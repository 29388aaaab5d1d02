package endpointtest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/check"
	"github.com/folkmoot/moot/endpoints/endpoint"
)

var cases = []testCase{
	{"check", Echo, checked},
	{"sequence", Echo, func(h *harness) { h.answers("one"); h.answers("two"); h.answers("three") }},
	{"long lines", Echo, func(h *harness) { h.answers(strings.Repeat("x", 900)); longPrompt(h) }},
	{"one in flight", Hang, oneInFlight},
	{"empty is a pass", Empty, outcome(endpoint.Passed, "")},
	{"pass", Passes, outcome(endpoint.Passed, "nothing to add")},
	{"refusal", Refuses, outcome(endpoint.Refused, "not mine")},
	{"error of the agent", Errors, failsWith(endpoint.ErrAgent, "out of order")},
	{"usage and confidence", Stated, stated},
	{"unknown usage is not zero", Echo, unknownUsage},
	{"bid", Bids, bid},
	{"side message", SideMessage, sideMessage},
	{"messages", Messages, messages},
	{"messages without mail", Messages, withoutMail},
	{"refused message", Messages, refused(endpoint.SignalMessage)},
	{"hand-off", HandsOff, handOff},
	{"call", Calls, call},
	{"refused call", Calls, refused(endpoint.SignalCall)},
	{"deadline", Hang, deadline},
	{"deadline of the context", Hang, contextDeadline},
	{"cancel", Hang, cancel},
	{"cancelled before", Echo, cancelledBefore},
	{"hangs", Hang, afterHang},
	{"late", Late, late},
	{"duplicate", Duplicate, violates("dup")},
	{"foreign", Foreign, violates("unknown")},
	{"noise", Noisy, func(h *harness) { h.answers("one"); h.answers("two") }},
	{"flood", Flooding, failsThenWorks(endpoint.ErrProtocol)},
	{"torn frame", Torn, failsThenWorks(endpoint.ErrProtocol)},
	{"oversize", Oversize, failsThenWorks(endpoint.ErrTooLarge)},
	{"overlong", Overlong, failsThenWorks(endpoint.ErrTooLarge)},
	{"negative numbers", Negative, failsThenWorks(endpoint.ErrProtocol)},
	{"tools not allowed", WrongTools, failsWith(endpoint.ErrProtocol, "")},
	{"deaf", Deaf, deaf},
	{"complaining", Complaining, func(h *harness) { h.answers("one"); h.answers("two") }},
	{"exit", Exits, exits},
	{"exit in a frame", ExitsHalf, exits},
	{"exit after the answer", ExitsAfter, exitsAfter},
	{"restart", Restarts, restarts},
	{"restarts", Mortal, func(h *harness) { h.answers("one"); eventually(h, "two"); eventually(h, "three") }},
	{"close", Echo, closes},
	{"close unused", Echo, closesUnused},
	{"close during a turn", Hang, closesDuring},
	{"close a stubborn agent", Stubborn, closesDuring},
}

func checked(h *harness) {
	err := check.Run(h.Context(), check.Config{
		Open:   func() (check.Endpoint, error) { return h.Endpoint, nil },
		Report: func(r check.Result) { h.Logf("%s: %t %s", r.Name, r.OK, r.Detail) },
	})
	if err != nil {
		h.Error(err)
	}
}

func longPrompt(h *harness) {
	p := h.prompt("short")
	for range 50 {
		p.History = append(p.History, endpoint.Line{From: "you", Text: strings.Repeat("y", 70_000)})
	}
	r, err := h.Speak(h.Context(), p, h.floor)
	if err != nil || r.Text != Answer("short") {
		h.Errorf("a prompt of 3.5 MB: %q and %v", r.Text, err)
	}
}

func oneInFlight(h *harness) {
	ctx, stop := context.WithCancel(h.Context())
	first := during(h, ctx, h.prompt("first"))
	if _, err := h.say("second"); !errors.Is(err, endpoint.ErrBusy) {
		h.Errorf("a second prompt: %v, want ErrBusy", err)
	}
	stop()
	<-first
}

func outcome(want, reason string) func(*harness) {
	return func(h *harness) {
		r, err := h.say("hello")
		if err != nil || r.Outcome != want || r.Text != "" || r.Reason != reason {
			h.Errorf("got %+v and %v, want it to have %s because %q", r, err, want, reason)
		}
	}
}

func failsWith(want error, text string) func(*harness) {
	return func(h *harness) {
		if _, err := h.say("hello"); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			h.Errorf("got %v, want %v with %q", err, want, text)
		}
	}
}

// failsThenWorks checks that the first turn fails and the agent goes on.
func failsThenWorks(want error) func(*harness) {
	return func(h *harness) {
		if _, err := h.say("first"); !errors.Is(err, want) {
			h.Fatalf("got %v, want %v", err, want)
		}
		h.floor.wait(h, endpoint.SignalViolation)
		h.answers("second")
	}
}

func stated(h *harness) {
	r, err := h.say("hello")
	if err != nil {
		h.Fatal(err)
	}
	if r.Usage != (endpoint.Usage{Known: true, Input: 120, Output: 30}) {
		h.Errorf("usage %+v", r.Usage)
	}
	if r.Confidence == nil || *r.Confidence != 0.75 {
		h.Errorf("confidence %v", r.Confidence)
	}
}

func unknownUsage(h *harness) {
	if r, err := h.say("hello"); err != nil || r.Usage.Known || r.Confidence != nil {
		h.Errorf("got %+v and %v; the agent stated none", r, err)
	}
}

func bid(h *harness) {
	p := h.prompt("how much?")
	p.Kind = endpoint.Bid
	r, err := h.Speak(h.Context(), p, h.floor)
	if err != nil || r.Bid == nil || *r.Bid != 0.25 || r.Text != "" {
		h.Errorf("got %+v and %v, want a bid of 0.25", r, err)
	}
	h.answers("then speak")
}

func sideMessage(h *harness) {
	h.answers("hello")
	if s := h.floor.wait(h, endpoint.SignalMessage); s.To != "dba" || s.Detail != "psst" {
		h.Errorf("got %+v", s)
	}
}

// soon is the time-out of a turn that hangs.
const soon = 30 * time.Millisecond

func deadline(h *harness) {
	h.limit = soon
	if _, err := h.say("hello"); !errors.Is(err, endpoint.ErrTimeout) {
		h.Errorf("got %v, want ErrTimeout", err)
	}
}

func contextDeadline(h *harness) {
	ctx, stop := context.WithTimeout(h.Context(), soon)
	defer stop()
	if _, err := h.Speak(ctx, h.prompt("hello"), h.floor); !errors.Is(err, endpoint.ErrTimeout) {
		h.Errorf("got %v, want ErrTimeout", err)
	}
}

func cancel(h *harness) {
	ctx, stop := context.WithCancel(h.Context())
	result := during(h, ctx, h.prompt("hello"))
	stop()
	if err := <-result; !errors.Is(err, context.Canceled) {
		h.Errorf("got %v, want context.Canceled", err)
	}
}

func cancelledBefore(h *harness) {
	ctx, stop := context.WithCancel(h.Context())
	stop()
	if _, err := h.Speak(ctx, h.prompt("hello"), h.floor); !errors.Is(err, context.Canceled) {
		h.Errorf("got %v, want context.Canceled", err)
	}
}

// afterHang checks that an agent which does not answer within its grace period is
// killed, and that the next turn reports it. The deadline passes once the agent
// works: one that has got no prompt is not killed.
func afterHang(h *harness) {
	ctx, expire := expiring(h.Context())
	result := during(h, ctx, h.prompt("hello"))
	expire()
	if err := <-result; !errors.Is(err, endpoint.ErrTimeout) {
		h.Errorf("got %v, want ErrTimeout", err)
	}
	if _, err := h.say("again"); !errors.Is(err, endpoint.ErrExited) {
		h.Errorf("got %v, want ErrExited", err)
	}
}

func late(h *harness) {
	ctx, stop := context.WithCancel(h.Context())
	p := h.prompt("first")
	h.floor.hold = make(chan struct{})
	result := during(h, ctx, p)
	stop()
	<-result
	close(h.floor.hold) // the agent answers from here on
	s := h.floor.wait(h, endpoint.SignalLate)
	if s.Code != p.Request || s.Detail != Answer("first") {
		h.Errorf("got %+v, want the answer to %s", s, p.Request)
	}
	h.answers("second")
}

func violates(code string) func(*harness) {
	return func(h *harness) {
		h.answers("one")
		if s := h.floor.wait(h, endpoint.SignalViolation); !strings.Contains(s.Code, code) {
			h.Errorf("got the violation %+v, want one of %s", s, code)
		}
		h.answers("two")
	}
}
