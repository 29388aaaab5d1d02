// Package check tries an agent through its endpoint the way a room would, and
// says which requirements it meets: for authors of agents, and for the suite
// that every endpoint passes.
package check

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

// An Endpoint is what is tried.
type Endpoint interface {
	Speak(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error)
	Close() error
}

// A Config says what to try, and how patiently.
type Config struct {
	Open    func() (Endpoint, error)
	Report  func(Result)  // called after each requirement, in order
	Timeout time.Duration // of one prompt; 0 is 60 s
}

// A Result is what came of one requirement.
type Result struct {
	Name     string // stable, for scripts
	Asks     string // the requirement, in a sentence
	OK       bool
	Optional bool   // a failure is no failure of the whole
	Detail   string // what was seen
	Fix      string // "" when OK
	Took     time.Duration
}

// A requirement is tried in turn; all share one agent.
type requirement struct {
	name, asks, fix string
	optional        bool
	try             func(context.Context, *trial) (seen string, err error)
}

var requirements = []requirement{
	{"answer", "answers a prompt with one response", "write one desktop.local_prompt.response line with the request_id of the request, and flush it", false, answers},
	{"sequence", "answers the next prompt too", "read requests in a loop until standard input ends", false, answers},
	{"odd-text", "copes with quotes, line breaks, markup and other scripts in a prompt", "read the frame with a JSON decoder, as UTF-8", false, oddText},
	{"long-prompt", "copes with a prompt of 200,000 characters", "read whole lines, however long", false, longPrompt},
	{"limit", "keeps to constraints.max_output_chars", "cut the answer, or ask the model for less", false, limit},
	{"cancel", "is back in step after a prompt that was cancelled", "answer every request within 5 s of the end of its turn, the cancelled ones too", false, cancelled},
	{"bid", "bids for the floor", "answer desktop.bid.request with desktop.bid.response {request_id, bid: 0 to 1, reason}", true, bids},
	{"clean-output", "writes nothing but frames to standard output", "write logs to standard error", false, cleanOutput},
	{"no-violations", "breaks no rule of the protocol", "see what was seen", false, noViolations},
	{"close", "ends when its standard input does", "leave the loop at the end of standard input", false, closes},
}

// Run tries every requirement and reports each. Its error is nil when all that
// are not optional are met, has the code AGENT-CHECK when some are not, and is
// Open's when there is nothing to try. One agent is used for all, so a
// requirement may fail because an earlier one did.
func Run(ctx context.Context, cfg Config) error {
	e, err := cfg.Open()
	if err != nil {
		return err
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 60 * time.Second
	}
	t := &trial{Endpoint: e, timeout: cfg.Timeout}
	defer t.close()
	failed := 0
	for _, r := range requirements {
		res := r.run(ctx, t)
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
			Fix: "mend the first that failed; others may follow from it",
		}
	}
	return nil
}

func (r requirement) run(ctx context.Context, t *trial) Result {
	start := time.Now()
	seen, err := r.try(ctx, t)
	res := Result{Name: r.name, Asks: r.asks, Optional: r.optional, OK: err == nil, Detail: seen, Took: time.Since(start)}
	if err == nil {
		return res
	}
	res.Detail, res.Fix = err.Error(), r.fix
	var pe *problem.Error
	if errors.As(err, &pe) && pe.Fix != "" && pe.Code != "AGENT-PROTOCOL" && pe.Code != "AGENT-TIMEOUT" {
		res.Fix = pe.Fix
	}
	return res
}

// A trial is one agent under trial, and the floor that it speaks to.
type trial struct {
	Endpoint
	timeout time.Duration
	turn    int

	mu         sync.Mutex
	violations []endpoint.Signal
	lates      int

	once sync.Once
	took time.Duration
	err  error
}

// Raise notes what the agent raises. Messages are welcome, calls go nowhere.
func (t *trial) Raise(_ context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch s.Kind {
	case endpoint.SignalViolation:
		t.violations = append(t.violations, s)
	case endpoint.SignalLate:
		t.lates++
	case endpoint.SignalMessage:
		return endpoint.Answer{Allowed: true}, nil
	}
	return endpoint.Answer{Reason: "this is only a check"}, nil
}

// Show drops live text.
func (t *trial) Show(string) {}

// close ends the agent once and keeps how long that took.
func (t *trial) close() {
	t.once.Do(func() {
		start := time.Now()
		t.err = t.Close()
		t.took = time.Since(start)
	})
}
