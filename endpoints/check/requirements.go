package check

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/human"
)

// A requirement is one test. All requirements share one agent.
type requirement struct {
	name, requires, fix string
	optional            bool
	test                func(context.Context, *session) (detail string, err error)
}

// frameRequirements are those of agents of kind ndjson.
var frameRequirements = []requirement{
	{"answer", "answers a prompt with one response", "write one desktop.local_prompt.response line with the request_id of the request, and flush it", false, answers(greeting)},
	{"sequence", "answers the next prompt too", "read requests in a loop until standard input ends", false, answers(greeting)},
	{"odd-text", "copes with quotes, line breaks, markup and other scripts in a prompt", "read the frame with a JSON decoder, as UTF-8", false, answers(oddText)},
	{"long-prompt", "copes with a prompt of 200,000 characters", "read whole lines, however long", false, answers(longText)},
	{"limit", "keeps to constraints.max_output_chars", "cut the answer, or ask the model for less", false, limit},
	{"cancel", "is back in step after a prompt that was cancelled", "answer every request within 5 s of the end of its turn, the cancelled ones too", false, cancelled},
	{"bid", "bids for the floor", "answer desktop.bid.request with desktop.bid.response {request_id, bid: 0 to 1, reason}", true, bids},
	{"clean-output", "writes nothing but frames to standard output", "write logs to standard error", false, cleanOutput},
	{"no-violations", "breaks no rule of the protocol", "see the detail", false, noViolations},
	{"close", "ends when its standard input does", "leave the loop at the end of standard input", false, closes},
}

// plainRequirements are those of agents that get the prompt as one text and answer
// with one. They cannot bid, and their endpoint ends them.
var plainRequirements = []requirement{
	{"answer", "answers a prompt with a text", "see that it answers a prompt without moot", false, answers(greeting)},
	{"sequence", "answers the next prompt too", "see that it answers a second prompt without moot", false, answers(greeting)},
	{"odd-text", "copes with quotes, line breaks, markup and other scripts in a prompt", "let it read the prompt as UTF-8", false, answers(oddText)},
	{"long-prompt", "copes with a prompt of 200,000 characters", "use a model with a larger context, or lower context.tokens in room.yaml", false, answers(longText)},
	{"limit", "keeps to the limit of characters in its prompt", "tell it in its instructions to be brief, or raise limits.maxOutputChars in room.yaml", false, limit},
	{"cancel", "answers the next prompt after one that was cancelled", "let it end a turn that is cancelled", false, cancelled},
	{"no-violations", "breaks no rule of its protocol", "see the detail", false, noViolations},
}

var longText = strings.Repeat("A long text. ", 200_000/13)

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
