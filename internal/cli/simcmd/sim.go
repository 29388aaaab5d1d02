// Package simcmd holds the command `moot sim`.
package simcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/sim"
)

// commands are the commands of this package.
type commands struct{ *app.App }

type options struct {
	seed         uint64
	seeds, steps int
	seconds      float64
	faults, only string
	actions      bool
}

// Command returns the command sim, which simulates rooms.
func Command(of *app.App) *cobra.Command {
	a := &commands{of}
	var o options
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Simulate rooms under faults and check the invariants",
		Long: "sim runs whole rooms from a seed: agents, people, programs, spectators, a disk and\n" +
			"a process that crashes, with a simulated clock. It checks the invariants after\n" +
			"each step. The same seed, steps and faults give the same run on every machine. It\n" +
			"starts no agent, sends nothing and writes nothing.\n\n" +
			"It runs one seed, --seeds of them, or as many as fit into --seconds. A run that\n" +
			"violates an invariant is made shorter and printed with the command that repeats\n" +
			"it, and sim exits with 1. The last line says what was done:\n\n" +
			"  turns N, faults N, situations N of M, violations N\n\n" +
			"A situation is something that a set of runs should reach, such as a pause between\n" +
			"the approval of a draft and its posting. docs/reliability.md explains both.",
		Example: "  moot sim --seed 7\n  moot sim --seconds 60\n  moot sim --seeds 1000 --faults crash,disk -o json",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.sim(cmd, o) },
	}
	f := cmd.Flags()
	f.Uint64Var(&o.seed, "seed", 1, "first seed")
	f.IntVar(&o.seeds, "seeds", 1, "number of seeds")
	f.IntVar(&o.steps, "steps", sim.DefaultSteps, "steps of each seed")
	f.Float64Var(&o.seconds, "seconds", 0, "run seeds for this long, instead of --seeds")
	f.StringVar(&o.faults, "faults", "all", "all, none, or a list: "+strings.Join(sim.FaultNames(), ","))
	f.StringVar(&o.only, "only", "", "take only these steps, such as 1,4-7")
	f.BoolVar(&o.actions, "actions", false, "print the actions of each run")
	_ = cmd.RegisterFlagCompletionFunc("faults", cobra.FixedCompletions(append([]string{"all", "none"}, sim.FaultNames()...), cobra.ShellCompDirectiveNoFileComp))
	app.Formats(cmd, app.FormatTable, app.FormatJSON)
	return cmd
}

func (a *commands) sim(cmd *cobra.Command, o options) error {
	faults, err := sim.ParseFaults(o.faults)
	if err != nil {
		return app.Usagef(cmd, "%v; the kinds are %s", err, strings.Join(sim.FaultNames(), ", "))
	}
	cfg := sim.Config{Seed: o.seed, Steps: o.steps, Faults: faults}
	if o.only != "" {
		if cfg.Only, err = sim.ParseSteps(o.only); err != nil {
			return app.Usagef(cmd, "%v", err)
		}
	}
	if o.seeds < 1 || o.steps < 1 || o.seconds < 0 {
		return app.Usagef(cmd, "--seeds and --steps are at least 1, and --seconds is not negative")
	}
	if o.actions {
		cfg.Trace = func(line string) { fmt.Fprintln(a.Stdout, line) }
	}
	t, interrupted := a.runAll(cmd.Context(), cfg, o)
	if err := a.show(t); err != nil {
		return err
	}
	if len(t.Failed) > 0 {
		return app.ExitWith(app.ExitFailure, errors.New("the simulation found a violation of an invariant"))
	}
	return interrupted
}

// runAll runs the seeds on all processors. With a trace it uses one.
func (a *commands) runAll(ctx context.Context, cfg sim.Config, o options) (*sim.Summary, error) {
	began := time.Now()
	progress := a.Progress("turns")
	defer progress.End()
	var (
		mu   sync.Mutex
		t    sim.Summary
		next = cfg.Seed
		wg   sync.WaitGroup
	)
	take := func() (seed uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		done := next - cfg.Seed
		if ctx.Err() != nil || o.seconds > 0 && time.Since(began).Seconds() >= o.seconds || o.seconds == 0 && done >= uint64(o.seeds) {
			return 0, false
		}
		next++
		return next - 1, true
	}
	workers := runtime.GOMAXPROCS(0)
	if cfg.Trace != nil {
		workers = 1
	}
	for range workers {
		wg.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				one := cfg
				one.Seed = seed
				r := sim.Run(one)
				mu.Lock()
				t.Add(one, r)
				progress.Add(r.Turns)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return &t, context.Cause(ctx)
}

// report is the JSON form of what was done.
type report struct {
	Seeds      int            `json:"seeds"`
	Turns      int            `json:"turns"`
	Events     int            `json:"events"`
	Commands   int            `json:"commands"`
	Crashes    int            `json:"crashes"`
	Faults     int            `json:"faults"`
	Situations map[string]int `json:"situations"` // in how many seeds each was reached
	Violations []violation    `json:"violations"`
}

type violation struct {
	Seed      uint64 `json:"seed"`
	Invariant string `json:"invariant"`
	Detail    string `json:"detail"`
	Repeat    string `json:"repeat"`
}

// shrinkRuns bounds the work on the shortest run that fails.
const shrinkRuns = 2000

func (a *commands) show(t *sim.Summary) error {
	r := report{Seeds: t.Runs, Turns: t.Turns, Events: t.Events, Commands: t.Commands, Crashes: t.Crashes, Faults: t.Faults, Situations: map[string]int{}, Violations: []violation{}}
	for i, name := range sim.Situations() {
		if t.Reached != nil {
			r.Situations[name] = t.Reached[i]
		}
	}
	for i, f := range t.Failed {
		cfg := f.Config
		if cfg.Trace = nil; i < 3 { // the others are often the same
			cfg = sim.Shrink(cfg, shrinkRuns)
		}
		v := f.Violations[0]
		r.Violations = append(r.Violations, violation{f.Config.Seed, v.Invariant, v.String(), cfg.Command()})
	}
	return a.Emit(r, func(w io.Writer) error {
		fmt.Fprintf(w, "seeds %d, commands %d, events %d, crashes %d\n", t.Runs, t.Commands, t.Events, t.Crashes)
		for _, v := range r.Violations {
			fmt.Fprintf(w, "violation of %s\n  repeat: %s\n", v.Detail, v.Repeat)
		}
		if missing := t.Missing(); len(missing) > 0 && t.Runs >= 1000 {
			fmt.Fprintf(w, "not reached:\n  %s\n", strings.Join(missing, "\n  "))
		}
		_, err := fmt.Fprintln(w, t)
		return err
	})
}
