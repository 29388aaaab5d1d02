// Package check tests an agent through its endpoint, as a room would use it, and
// reports which requirements it meets. It is for authors of agents, and for the
// suite of all endpoints.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/problem"
)

// A Config says which endpoint to test.
type Config struct {
	Open    func() (Endpoint, error)
	Plain   bool                        // the agent answers in plain text and not in frames of kind ndjson
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
	requirements := frameRequirements
	if cfg.Plain {
		requirements = plainRequirements
	}
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
