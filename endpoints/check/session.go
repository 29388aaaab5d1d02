package check

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// An Endpoint is the endpoint under test.
type Endpoint interface {
	Speak(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)
	Close() error
}

// A session is one agent under test, and its floor.
type session struct {
	Endpoint
	timeout time.Duration
	bid     time.Duration // time-out of a bid
	exit    time.Duration // in which the agent must end
	turn    int

	mu         sync.Mutex
	violations []endpoint.Signal

	once sync.Once
	took time.Duration
	err  error
}

// Raise records violations. It allows messages and refuses all else.
func (s *session) Raise(_ context.Context, sig endpoint.Signal) (endpoint.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch sig.Kind {
	case endpoint.SignalViolation:
		s.violations = append(s.violations, sig)
	case endpoint.SignalMessage:
		return endpoint.Answer{Allowed: true}, nil
	}
	return endpoint.Answer{Reason: "this is only a check"}, nil
}

// Show drops live text.
func (s *session) Show(string) {}

// ShowTool drops tool calls.
func (s *session) ShowTool(endpoint.ToolCall) {}

// close ends the agent once and records the time that it takes.
func (s *session) close() {
	s.once.Do(func() {
		start := time.Now()
		s.err = s.Close()
		s.took = time.Since(start)
	})
}

// prompt returns a prompt as of a room of two.
func (s *session) prompt(kind, text string) endpoint.Prompt {
	return s.promptWithin(12_000, kind, text)
}

// promptWithin returns a prompt with a limit of the answer.
func (s *session) promptWithin(chars int, kind, text string) endpoint.Prompt {
	s.turn++
	you := endpoint.Seat{ID: "agent", Name: "Agent under check", Kind: "local", SameOwner: true}
	return endpoint.Rendered(endpoint.Prompt{
		Kind: kind, Request: "req_" + rand.Text(), Room: "check", Session: "check", Profile: "check", Turn: s.turn, Mode: "full_auto",
		You: you, Seats: []endpoint.Seat{you, {ID: "moot", Name: "The check", Kind: "human", SameOwner: true}},
		Boundary: rand.Text(), Objective: "Check that this agent answers. Any short answer will do.",
		CatchUp:        []endpoint.Line{{Seq: int64(s.turn), From: "moot", Kind: "request", Text: text}},
		MaxOutputChars: chars, MaxHistoryTurns: 6, MaxHistoryChars: 24_000, Timeout: s.timeout,
	})
}

// ask sends a turn and checks the form of the reply.
func (s *session) ask(ctx context.Context, p endpoint.Prompt) (string, error) {
	r, err := s.Speak(ctx, p, s)
	if err != nil {
		return "", err
	}
	n := utf8.RuneCountInString(r.Text)
	switch {
	case r.Outcome != endpoint.Said && r.Outcome != endpoint.Passed && r.Outcome != endpoint.Refused:
		return "", fmt.Errorf("the outcome is %q", r.Outcome)
	case r.Outcome == endpoint.Said && strings.TrimSpace(r.Text) == "":
		return "", errors.New("it said an empty text")
	case r.Outcome != endpoint.Said && r.Text != "":
		return "", fmt.Errorf("a turn that %s has a text", r.Outcome)
	case n > p.MaxOutputChars:
		return "", fmt.Errorf("%d characters came through, and the limit was %d", n, p.MaxOutputChars)
	}
	return fmt.Sprintf("%s, %d characters", r.Outcome, n), nil
}
