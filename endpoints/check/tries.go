package check

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// prompt returns what a room of two would send.
func (t *trial) prompt(kind, text string) endpoint.Prompt {
	t.turn++
	you := endpoint.Seat{ID: "agent", Name: "Agent under check", Kind: "local", SameOwner: true}
	p := endpoint.Prompt{
		Kind: kind, Request: "req_" + rand.Text(), Room: "check", Session: "check", Profile: "check", Turn: t.turn, Mode: "full_auto",
		You: you, Seats: []endpoint.Seat{you, {ID: "moot", Name: "The check", Kind: "human", SameOwner: true}},
		Boundary: rand.Text(), Objective: "Check that this agent answers. Any short answer will do.",
		CatchUp:        []endpoint.Line{{Seq: int64(t.turn), From: "moot", Kind: "request", Text: text}},
		MaxOutputChars: 12_000, MaxHistoryTurns: 6, MaxHistoryChars: 24_000, Timeout: t.timeout,
	}
	return p
}

// ask sends a turn and checks the form of its reply.
func (t *trial) ask(ctx context.Context, p endpoint.Prompt) (string, error) {
	r, err := t.Speak(ctx, p, t)
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

func answers(ctx context.Context, t *trial) (string, error) {
	return t.ask(ctx, t.prompt(endpoint.Turn, "Hello. Please answer with one sentence."))
}

func oddText(ctx context.Context, t *trial) (string, error) {
	return t.ask(ctx, t.prompt(endpoint.Turn, "\"quoted\" \\ back\nslash\r\n\t<b>&amp;</b> $(echo no) `no` 'it''s' %s üñí 漢字 🙂 \u2028 end"))
}

func longPrompt(ctx context.Context, t *trial) (string, error) {
	return t.ask(ctx, t.prompt(endpoint.Turn, strings.Repeat("A long text. ", 200_000/13)))
}

func limit(ctx context.Context, t *trial) (string, error) {
	p := t.prompt(endpoint.Turn, "Please answer in a few words.")
	p.MaxOutputChars = 200
	return t.ask(ctx, p)
}

// cancelled gives up on a prompt, then asks another: its answer must be its
// own, or the room would be one turn behind for ever.
func cancelled(ctx context.Context, t *trial) (string, error) {
	brief, cancel := context.WithTimeout(ctx, time.Millisecond)
	_, err := t.Speak(brief, t.prompt(endpoint.Turn, "This one is cancelled."), t)
	cancel()
	switch {
	case err == nil:
		return "it answers within a millisecond, so nothing was cancelled", nil
	case !errors.Is(err, endpoint.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded):
		return "", err
	}
	return t.ask(ctx, t.prompt(endpoint.Turn, "And this one is not."))
}

// bidTimeout is the room's default for a bid.
const bidTimeout = 10 * time.Second

func bids(ctx context.Context, t *trial) (string, error) {
	p := t.prompt(endpoint.Bid, "How much do you want the floor?")
	p.Timeout = min(bidTimeout, t.timeout)
	r, err := t.Speak(ctx, p, t)
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

// cleanOutput asks endpoints that count noise.
func cleanOutput(_ context.Context, t *trial) (string, error) {
	e, ok := t.Endpoint.(interface{ Noise() int })
	if !ok {
		return "this kind of endpoint has no standard output", nil
	}
	if n := e.Noise(); n > 0 {
		return "", fmt.Errorf("%d lines are no frames", n)
	}
	return "", nil
}

func noViolations(_ context.Context, t *trial) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.violations); n > 0 {
		return "", fmt.Errorf("%d, the first: %s: %s", n, t.violations[0].Code, t.violations[0].Detail)
	}
	return "", nil
}

// polite is how long an agent may take to end by itself.
const polite = 1500 * time.Millisecond

func closes(_ context.Context, t *trial) (string, error) {
	t.close()
	if t.err != nil {
		return "", t.err
	}
	if t.took > polite {
		return "", fmt.Errorf("it had to be ended after %s", t.took.Round(time.Millisecond))
	}
	return "ended by itself", nil
}
