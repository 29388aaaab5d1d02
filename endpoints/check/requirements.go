package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/human"
)

const (
	greeting = "Hello. Please answer with one sentence."
	oddText  = "\"quoted\" \\ back\nslash\r\n\t<b>&amp;</b> $(echo no) `no` 'it''s' %s üñí 漢字 🙂 \u2028 end"
)

// answers returns the test that the agent answers a text.
func answers(text string) func(context.Context, *session) (string, error) {
	return func(ctx context.Context, s *session) (string, error) {
		return s.ask(ctx, s.prompt(endpoint.Turn, text))
	}
}

func limit(ctx context.Context, s *session) (string, error) {
	return s.ask(ctx, s.promptWithin(200, endpoint.Turn, "Please answer in a few words."))
}

// cancelled cancels a prompt and sends another, which must get its own answer.
// Otherwise the room would be one turn behind from then on.
func cancelled(ctx context.Context, s *session) (string, error) {
	brief, cancel := context.WithTimeout(ctx, time.Millisecond)
	_, err := s.Speak(brief, s.prompt(endpoint.Turn, "This one is cancelled."), s)
	cancel()
	switch {
	case err == nil:
		return "it answers within a millisecond, so nothing was cancelled", nil
	case !errors.Is(err, endpoint.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded):
		return "", err
	}
	return s.ask(ctx, s.prompt(endpoint.Turn, "And this one is not."))
}

// defaultBid is the room's default for a bid.
const defaultBid = 10 * time.Second

func bids(ctx context.Context, s *session) (string, error) {
	p := s.prompt(endpoint.Bid, "How much do you want the floor?")
	p.Timeout = min(s.bid, s.timeout)
	r, err := s.Speak(ctx, p, s)
	switch {
	case err != nil:
		return "", err
	case r.Bid == nil:
		return "", errors.New("it states no bid")
	case !(*r.Bid >= 0 && *r.Bid <= 1):
		return "", fmt.Errorf("the bid is %v, not 0 to 1", *r.Bid)
	}
	return fmt.Sprintf("bids %.2f", *r.Bid), nil
}

// cleanOutput fails for an endpoint that has counted noise.
func cleanOutput(_ context.Context, s *session) (string, error) {
	e, ok := s.Endpoint.(interface{ Noise() int })
	if !ok {
		return "this kind of endpoint has no standard output", nil
	}
	if n := e.Noise(); n > 0 {
		return "", fmt.Errorf("%d lines are no frames", n)
	}
	return "", nil
}

func noViolations(_ context.Context, s *session) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.violations); n > 0 {
		return "", fmt.Errorf("%d, the first: %s: %s", n, s.violations[0].Code, s.violations[0].Detail)
	}
	return "", nil
}

// defaultExit is the time in which an agent must end by itself.
const defaultExit = 1500 * time.Millisecond

func closes(_ context.Context, s *session) (string, error) {
	s.close()
	if s.err != nil {
		return "", s.err
	}
	if s.took > s.exit {
		return "", fmt.Errorf("it had to be ended after %s", human.Duration(s.took))
	}
	return "ended by itself", nil
}
