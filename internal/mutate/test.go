package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// selector is the source of the file that the instrumented package gets: the
// mutant of the environment is active, and a trace notes each that is reached.
const selector = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantOn, _  = strconv.Atoi(os.Getenv("MUTANT"))
	mutantTrace  = os.Getenv("MUTANT_TRACE")
	mutantsFound [%d]atomic.Bool
)

func mutantIs(id int) bool {
	if mutantTrace != "" && !mutantsFound[id].Load() {
		mutantReached(id)
	}
	return mutantOn == id
}

func mutantReached(id int) {
	if mutantsFound[id].Swap(true) {
		return
	}
	if f, err := os.OpenFile(mutantTrace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.WriteString(strconv.Itoa(id) + "\n")
		f.Close()
	}
}
`

// flags of a test run. The property tests draw the same commands in each run,
// so that a mutant is always killed or never.
var flags = []string{"-test.failfast", "-test.timeout=300s", "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=0s"}

// A coverage says of one test which mutants it executes and what processor time it uses.
type coverage struct {
	test    string
	reached map[int]bool
	used    time.Duration
}

// cheap is the processor time of a test that runs before the others.
const cheap = 50 * time.Millisecond

// test returns the mutants that were tested, and those of them with which the tests
// pass. It begins none after the time most, if that is not 0. A mutant is given only
// the tests that execute it: first those whose names match quick, with few checks of
// properties, then the cheap ones, then the others.
func (p *subject) test(chosen []mutant, quick string, most time.Duration, jobs int) (tested, alive []mutant, err error) {
	first, err := regexp.Compile(quick)
	if err != nil {
		return nil, nil, err
	}
	work, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(work)
	program := filepath.Join(work, "package.test")
	if err := p.build(work, program); err != nil {
		return nil, nil, err
	}
	tests, err := p.covered(work, program)
	if err != nil {
		return nil, nil, err
	}
	fmt.Printf("%d mutants in %d functions, %d chosen\n", len(p.mutants), len(p.hashes), len(chosen))
	passes := func(id int, which func(coverage) bool, args ...string) bool {
		return p.passes(program, id, slices.DeleteFunc(slices.Clone(tests), func(c coverage) bool { return !c.reached[id] || !which(c) }), args...)
	}
	survived := make([]bool, len(chosen))
	next := make(chan int)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for i := range next {
				id := chosen[i].id
				survived[i] = passes(id, func(c coverage) bool { return first.MatchString(c.test) }, "-rapid.checks=30") &&
					passes(id, func(c coverage) bool { return c.used < cheap }) && passes(id, func(c coverage) bool { return c.used >= cheap })
			}
		})
	}
	began, tried := time.Now(), len(chosen)
	for i := range chosen {
		if most > 0 && time.Since(began) > most {
			fmt.Printf("the time is over after %d of %d\n", i, len(chosen))
			tried = i
			break
		}
		if i > 0 && i%200 == 0 {
			fmt.Printf("%d of %d tested\n", i, len(chosen))
		}
		next <- i
	}
	close(next)
	wg.Wait()
	for i, m := range chosen[:tried] {
		if survived[i] {
			alive = append(alive, m)
		}
	}
	return chosen[:tried], alive, nil
}

// build compiles the tests with the instrumented package.
func (p *subject) build(work, program string) error {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	write := func(path, source string) error {
		file := filepath.Join(work, filepath.Base(path))
		overlay.Replace[path] = file
		return os.WriteFile(file, []byte(source), 0o600)
	}
	errs := []error{write(filepath.Join(p.dir, "mutants_selector.go"), fmt.Sprintf(selector, p.name, len(p.mutants)+1))}
	for path, source := range p.sources {
		errs = append(errs, write(path, source))
	}
	list, err := json.Marshal(overlay)
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	file := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return err
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", program, ".")
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling the mutants: %w\n%s", err, out)
	}
	return nil
}

// covered runs each test alone and returns what it executes. It fails if a test does not
// pass without a mutant.
func (p *subject) covered(work, program string) ([]coverage, error) {
	list := exec.Command(program, "-test.list=^(Test|Fuzz|Example)")
	list.Dir = p.dir
	names, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the tests: %w", err)
	}
	trace := filepath.Join(work, "trace")
	var out []coverage
	for _, name := range strings.Fields(string(names)) {
		c := coverage{test: name, reached: map[int]bool{}}
		cmd := exec.Command(program, slices.Concat(flags, []string{"-test.run=^" + name + "$"})...)
		cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "MUTANT_TRACE="+trace)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s fails without a mutant: %w\n%s", name, err, out)
		}
		c.used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		b, err := os.ReadFile(trace)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, line := range strings.Fields(string(b)) {
			id, err := strconv.Atoi(line)
			if err != nil {
				return nil, err
			}
			c.reached[id] = true
		}
		if err := os.RemoveAll(trace); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// passes reports whether the tests pass with a mutant, within four times their processor
// time and 4 GB of address space: a mutant may not end or may allocate without end.
func (p *subject) passes(program string, id int, tests []coverage, args ...string) bool {
	if len(tests) == 0 {
		return true
	}
	names, limit := make([]string, len(tests)), 2*time.Second
	for i, c := range tests {
		names[i], limit = c.test, limit+4*c.used
	}
	bounded := fmt.Sprintf(`ulimit -v 4000000; ulimit -t %d; exec "$0" "$@"`, int(limit.Seconds()))
	run := "-test.run=^(" + strings.Join(names, "|") + ")$"
	cmd := exec.Command("sh", slices.Concat([]string{"-c", bounded, program, run}, flags, args)...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "MUTANT="+strconv.Itoa(id), "GOMAXPROCS=1")
	return cmd.Run() == nil
}
