// Package check tests an agent through its endpoint, as a room would use it, and
// reports which requirements it meets. It is for authors of agents, and for the
// suite of all endpoints.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/problem"
)

// A Config says which endpoint to test.
type Config struct {
	Open    func() (Endpoint, error)
	Begin   func(name, requires string) // called before each requirement; may be nil
	Report  func(Result)                // called after each requirement, in order
	Timeout time.Duration               // of one prompt; 0 is 60 s
	Bid     time.Duration               // of one bid; 0 is 10 s, the default of rooms
	Exit    time.Duration               // in which the agent must end by itself; 0 is 1.5 s
}

// A Result is the result of one requirement.
type Result struct {
	Name     string // stable, for scripts
	Requires string // the requirement, as the end of the sentence "the agent ..."
	OK       bool
	Optional bool   // a failure does not fail the check
	Detail   string // what happened
	Fix      string // "" when OK
	Took     time.Duration
}

// A requirement is one test. All requirements share one agent.
type requirement struct {
	name, requires, fix string
	optional            bool
	test                func(context.Context, *session) (detail string, err error)
}

var requirements = []requirement{
	{"answer", "answers a prompt with one response", "write one desktop.local_prompt.response line with the request_id of the request, and flush it", false, answers(greeting)},
	{"sequence", "answers the next prompt too", "read requests in a loop until standard input ends", false, answers(greeting)},
	{"odd-text", "copes with quotes, line breaks, markup and other scripts in a prompt", "read the frame with a JSON decoder, as UTF-8", false, answers(oddText)},
	{"long-prompt", "copes with a prompt of 200,000 characters", "read whole lines, however long", false, answers(strings.Repeat("A long text. ", 200_000/13))},
	{"limit", "keeps to constraints.max_output_chars", "cut the answer, or ask the model for less", false, limit},
	{"cancel", "is back in step after a prompt that was cancelled", "answer every request within 5 s of the end of its turn, the cancelled ones too", false, cancelled},
	{"bid", "bids for the floor", "answer desktop.bid.request with desktop.bid.response {request_id, bid: 0 to 1, reason}", true, bids},
	{"clean-output", "writes nothing but frames to standard output", "write logs to standard error", false, cleanOutput},
	{"no-violations", "breaks no rule of the protocol", "see the detail", false, noViolations},
	{"close", "ends when its standard input does", "leave the loop at the end of standard input", false, closes},
}

// Run tests every requirement and reports each. Its error is nil if all
// requirements that are not optional are met, and has the code AGENT-CHECK if
// some are not. It is Open's error if Open fails. All requirements share one
// agent, so one may fail because an earlier one did.
func Run(ctx context.Context, cfg Config) error {
	e, err := cfg.Open()
	if err != nil {
		return err
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 60 * time.Second
	}
	s := &session{Endpoint: e, timeout: cfg.Timeout, bid: cmp.Or(cfg.Bid, defaultBid), exit: cmp.Or(cfg.Exit, defaultExit)}
	defer s.close()
	failed := 0
	for _, r := range requirements {
		if cfg.Begin != nil {
			cfg.Begin(r.name, r.requires)
		}
		res := r.run(ctx, s)
		if cfg.Report != nil {
			cfg.Report(res)
		}
		if !res.OK && !res.Optional {
			failed++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &problem.Error{
			Code: "AGENT-CHECK", What: fmt.Sprintf("the agent fails %d of %d requirements", failed, len(requirements)),
			Fix: "fix the first that failed; others may follow from it",
		}
	}
	return nil
}

func (r requirement) run(ctx context.Context, s *session) Result {
	start := time.Now()
	detail, err := r.test(ctx, s)
	res := Result{Name: r.name, Requires: r.requires, Optional: r.optional, OK: err == nil, Detail: detail, Took: time.Since(start)}
	if err == nil {
		return res
	}
	res.Detail, res.Fix = err.Error(), r.fix
	if pe, ok := errors.AsType[*problem.Error](err); ok && pe.Fix != "" && pe.Code != "AGENT-PROTOCOL" && pe.Code != "AGENT-TIMEOUT" {
		res.Fix = pe.Fix
	}
	return res
}
