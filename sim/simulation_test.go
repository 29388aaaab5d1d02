package sim

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// seeds is how many seeds the tests run. They take most of a minute on two processors:
// fewer reach too little.
const seeds = 10_000

// runSeeds runs seeds on all processors.
func runSeeds(t *testing.T, n int, check func(cfg Config) Result) *Summary {
	t.Helper()
	var (
		all  Summary
		next atomic.Int64
		mu   sync.Mutex
		wg   sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				cfg := Config{Seed: uint64(next.Add(1)), Steps: DefaultSteps, Faults: AllFaults}
				if cfg.Seed > uint64(n) {
					return
				}
				r := check(cfg)
				mu.Lock()
				all.Add(cfg, r)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for i, f := range all.Failed {
		if i < 3 {
			t.Errorf("%s\nrepeat: %s", f.Violations[0], Shrink(f.Config, 500).Command())
		}
	}
	return &all
}

// TestSimulation runs many seeds. Each invariant holds in each of them, and every
// situation is reached.
func TestSimulation(t *testing.T) {
	n := seeds
	if testing.Short() {
		n = 300
	}
	all := runSeeds(t, n, Run)
	t.Log(all)
	if !testing.Short() {
		for _, name := range all.Missing() {
			t.Errorf("no seed has reached: %s", name)
		}
	}
}

// TestSimulationRepeats: a seed gives the same run again, while other seeds run next to
// it on the other processors. MOOT_SEEDS sets the number of seeds.
func TestSimulationRepeats(t *testing.T) {
	n := seeds / 40
	if testing.Short() {
		n /= 10
	}
	if given, err := strconv.Atoi(os.Getenv("MOOT_SEEDS")); err == nil {
		n = given
	}
	first := make([]string, n+1)
	for _, procs := range []int{1, 2} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		runSeeds(t, n, func(cfg Config) Result {
			r := Run(cfg)
			if before := first[cfg.Seed]; before != "" && before != r.Hash {
				t.Errorf("seed %d: two runs differ", cfg.Seed)
			}
			first[cfg.Seed] = r.Hash
			return r
		})
	}
}

// TestSimulationOfOneFault: no kind of fault needs another one.
func TestSimulationOfOneFault(t *testing.T) {
	for i, name := range append([]string{"none"}, faultNames...) {
		all := runSeeds(t, 30, func(cfg Config) Result {
			cfg.Faults = Faults(1<<i) >> 1
			return Run(cfg)
		})
		if all.Turns == 0 {
			t.Errorf("%s: no turn", name)
		}
	}
}

// TestSimulationOfKeptSeeds runs the seeds that have found a mistake before.
func TestSimulationOfKeptSeeds(t *testing.T) {
	files, err := filepath.Glob("testdata/seeds/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no seeds are kept", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			cfg, err := ParseCommand(line)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			for _, v := range Run(cfg).Violation {
				t.Errorf("%s: %s: %s", file, line, v)
			}
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

func TestCommands(t *testing.T) {
	for _, line := range []string{"moot sim --seed 7 --steps 40 --faults all", "moot sim --seed 1 --steps 300 --faults crash,relay --only 2-5,9"} {
		cfg, err := ParseCommand(line)
		if err != nil || cfg.Command() != line {
			t.Errorf("%s: %v %v", line, cfg.Command(), err)
		}
	}
	for _, line := range []string{"moot run", "moot sim --seed x", "moot sim --steps", "moot sim --fire 1"} {
		if _, err := ParseCommand(line); err == nil {
			t.Errorf("%q is taken", line)
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
