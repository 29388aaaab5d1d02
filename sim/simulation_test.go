package sim

import (
	"flag"
	"testing"
)

var verbose = flag.Bool("actions", false, "print the actions of a failing run")

func run(t *testing.T, cfg Config) Result {
	t.Helper()
	r := Run(cfg)
	for _, v := range r.Violation {
		t.Errorf("seed %d: %s", cfg.Seed, v)
	}
	if len(r.Violation) > 0 && *verbose {
		cfg.Trace = func(line string) { t.Log(line) }
		Run(cfg)
	}
	return r
}

// TestSimulation runs many seeds. Each invariant holds in each of them, and every
// situation is reached.
func TestSimulation(t *testing.T) {
	var all Summary
	for seed := range uint64(300) {
		cfg := Config{Seed: seed, Faults: AllFaults}
		all.Add(cfg, run(t, cfg))
		if t.Failed() {
			return
		}
	}
	t.Log(&all)
	for i, n := range all.Reached {
		t.Log(n, situations[i].name)
	}
}

// TestSimulationRepeats: the same seed gives the same run.
func TestSimulationRepeats(t *testing.T) {
	for seed := range uint64(20) {
		cfg := Config{Seed: seed, Faults: AllFaults}
		if a, b := Run(cfg), Run(cfg); a.Hash != b.Hash {
			t.Errorf("seed %d: two runs differ", seed)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, list := range []string{"1", "1,3", "2-5", "1,4-7,9"} {
		steps, err := ParseSteps(list)
		if err != nil || FormatSteps(steps) != list {
			t.Errorf("%s: %v %v", list, steps, err)
		}
	}
	for _, list := range []string{"", "0", "x", "3,2", "5-4", "1,,2", "1-99999999999"} {
		if steps, err := ParseSteps(list); err == nil {
			t.Errorf("%q: %v", list, steps)
		}
	}
}

func TestFaultLists(t *testing.T) {
	for _, list := range []string{"all", "none", "crash", "crash,relay"} {
		f, err := ParseFaults(list)
		if err != nil || f.String() != list {
			t.Errorf("%s: %v %v", list, f, err)
		}
	}
	if _, err := ParseFaults("crash,fire"); err == nil {
		t.Error("fire is no fault")
	}
}
