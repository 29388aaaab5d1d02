package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	"sync"
)

var (
	mutantOn, _  = strconv.Atoi(os.Getenv("MUTANT"))
	mutantTrace  = os.Getenv("MUTANT_TRACE")
	mutantMu     sync.Mutex
	mutantsFound [%d]bool
)

func mutantIs(id int) bool {
	if mutantTrace != "" {
		mutantReached(id)
	}
	return mutantOn == id
}

func mutantReached(id int) {
	mutantMu.Lock()
	defer mutantMu.Unlock()
	if mutantsFound[id] {
		return
	}
	mutantsFound[id] = true
	if f, err := os.OpenFile(mutantTrace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.WriteString(strconv.Itoa(id) + "\n")
		f.Close()
	}
}
`

// flags of a test run. The property tests draw the same commands in each run,
// so that a mutant is always killed or never.
var flags = []string{"-test.failfast", "-test.timeout=300s", "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=0s"}

// test returns those of the mutants with which the tests pass.
// The tests whose names match quick run before all tests, to find most of the
// killed mutants sooner.
func (p *subject) test(chosen []mutant, quick string, jobs int) ([]mutant, error) {
	work, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	program := filepath.Join(work, "package.test")
	if err := p.build(work, program); err != nil {
		return nil, err
	}
	reached, err := p.reached(work, program)
	if err != nil {
		return nil, err
	}
	used, err := p.processorTime(program)
	if err != nil {
		return nil, err
	}
	limit := 4*used + 2*time.Second // for mutants that never end
	fmt.Printf("%d mutants in %d functions, %d reached by the tests\n", len(p.mutants), len(p.hashes), len(reached))
	survived := make([]bool, len(chosen))
	next := make(chan int)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for i := range next {
				id := chosen[i].id
				survived[i] = !reached[id] || p.passes(program, id, limit, "-test.run="+quick, "-rapid.checks=30") && p.passes(program, id, limit)
			}
		})
	}
	for i := range chosen {
		if i > 0 && i%200 == 0 {
			fmt.Printf("%d of %d tested\n", i, len(chosen))
		}
		next <- i
	}
	close(next)
	wg.Wait()
	var out []mutant
	for i, m := range chosen {
		if survived[i] {
			out = append(out, m)
		}
	}
	return out, nil
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

// reached returns the mutants that the tests execute. It fails if the tests do
// not pass without a mutant.
func (p *subject) reached(work, program string) (map[int]bool, error) {
	trace := filepath.Join(work, "trace")
	cmd := exec.Command(program, flags...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "MUTANT_TRACE="+trace)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the tests fail without a mutant: %w\n%s", err, out)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		return nil, err
	}
	out := map[int]bool{}
	for _, line := range strings.Fields(string(b)) {
		id, err := strconv.Atoi(line)
		if err != nil {
			return nil, err
		}
		out[id] = true
	}
	return out, nil
}

// processorTime returns what all tests use without a mutant.
func (p *subject) processorTime(program string) (time.Duration, error) {
	cmd := exec.Command(program, flags...)
	cmd.Dir = p.dir
	err := cmd.Run()
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// passes reports whether the tests that args choose pass with a mutant, within
// limit of processor time and 4 GB of address space: a mutant may not end or may
// allocate without end.
func (p *subject) passes(program string, id int, limit time.Duration, args ...string) bool {
	bounded := fmt.Sprintf(`ulimit -v 4000000; ulimit -t %d; exec "$0" "$@"`, int(limit.Seconds()))
	cmd := exec.Command("sh", slices.Concat([]string{"-c", bounded, program}, flags, args)...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "MUTANT="+strconv.Itoa(id), "GOMAXPROCS=1")
	return cmd.Run() == nil
}
