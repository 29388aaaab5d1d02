// Command mutate measures the tests of a package. It puts small faults, called
// mutants, into the package, one at a time, and runs the package's tests: a
// mutant whose tests all pass has survived, and shows what no test looks at.
//
//	go run ./internal/mutate ./room
//
// Survivors that behave like the original are listed with the reason in
// testdata/equivalent-mutants.txt of the package, one a line:
//
//	function: what the fault is  # why it behaves like the original
//
// The command fails if a survivor is not listed, a listed mutant was killed or
// is gone, or fewer than nine of ten mutants were killed. With -changed it looks
// only at functions that differ from those of the last complete run, whose
// hashes testdata/mutated-functions.txt holds; -record writes that file, after a
// complete run or, with -changed, after one that completes it.
//
// Functions whose mutants nobody has tested yet stand in
// testdata/unmeasured-functions.txt, which -postpone writes: -changed says how many
// there are and leaves them out, until they are measured or change again.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	changed := flag.Bool("changed", false, "only functions that have changed since the last complete run")
	record := flag.Bool("record", false, "note the functions for -changed, after a complete run or with -changed")
	postpone := flag.Bool("postpone", false, "note the functions that have changed as not measured yet, and test nothing")
	only := flag.String("only", "", "only mutants whose name contains this text")
	again := flag.String("again", "", "only mutants that survived in this file, the output of an earlier run")
	quick := flag.String("quick", "", "regular expression of tests to run first, without the others")
	jobs := flag.Int("jobs", runtime.GOMAXPROCS(0), "test runs at the same time")
	flag.Parse()
	if flag.NArg() != 1 || *record && (*only != "" || *again != "") {
		fmt.Fprintln(os.Stderr, "usage: mutate [-changed] [-record] [-only TEXT | -again FILE] [-quick TESTS] [-jobs N] FOLDER, or mutate -postpone FOLDER")
		os.Exit(2)
	}
	if *postpone {
		if err := postponeChanged(flag.Arg(0)); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(flag.Arg(0), *changed, *record, *only, *again, *quick, *jobs); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(dir string, changed, record bool, only, again, quick string, jobs int) error {
	p, err := load(dir)
	if err != nil {
		return err
	}
	listed, err := readEquivalent(filepath.Join(dir, "testdata", "equivalent-mutants.txt"))
	if err != nil {
		return err
	}
	sums := filepath.Join(dir, "testdata", "mutated-functions.txt")
	wanted := func(m mutant) bool { return strings.Contains(m.name(), only) }
	if again != "" {
		b, err := os.ReadFile(again)
		if err != nil {
			return err
		}
		wanted = func(m mutant) bool { return strings.Contains(string(b), "  "+m.name()+"\n") }
	}
	if changed {
		differs, err := p.differing(sums)
		if err != nil {
			return err
		}
		if !record { // a run that records measures them too
			if err := p.leaveOut(differs, filepath.Join(dir, "testdata", unmeasuredFile)); err != nil {
				return err
			}
		}
		wanted = func(m mutant) bool { return differs[m.fn] }
	}
	chosen := make([]mutant, 0, len(p.mutants))
	for _, m := range p.mutants {
		if wanted(m) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		fmt.Println("no function has changed since the last complete run")
		return nil
	}
	survived, err := p.test(chosen, quick, jobs)
	if err != nil {
		return err
	}
	if err := judge(chosen, survived, listed, !changed && only == "" && again == ""); err != nil {
		return err
	}
	if record {
		return p.record(sums)
	}
	return nil
}

// unmeasuredFile lists functions whose mutants nobody has tested yet.
const unmeasuredFile = "unmeasured-functions.txt"

// postponeChanged notes the functions that have changed as not measured yet.
func postponeChanged(dir string) error {
	p, err := load(dir)
	if err != nil {
		return err
	}
	differs, err := p.differing(filepath.Join(dir, "testdata", "mutated-functions.txt"))
	if err != nil {
		return err
	}
	return p.write(filepath.Join(dir, "testdata", unmeasuredFile), func(fn string) bool { return differs[fn] })
}

// leaveOut removes the functions that are not measured yet, and have not changed since
// that was noted, from those that differ.
func (p *subject) leaveOut(differs map[string]bool, path string) error {
	fresh, err := p.differing(path)
	if err != nil {
		return err
	}
	n := 0
	for fn, d := range differs {
		if d && !fresh[fn] {
			differs[fn] = false
			n++
		}
	}
	if n > 0 {
		fmt.Printf("%d functions are not measured yet; see %s\n", n, path)
	}
	return nil
}

// judge prints the result and says what is wrong with it.
func judge(tested, survived []mutant, listed map[string]string, complete bool) error {
	unlisted := 0
	alive := map[string]bool{}
	for _, m := range survived {
		alive[m.name()] = true
		if listed[m.name()] == "" {
			unlisted++
			fmt.Printf("survived  %s:%d  %s\n", filepath.Base(m.place.Filename), m.place.Line, m.name())
		}
	}
	stale, known := 0, map[string]bool{}
	for _, m := range tested {
		known[m.name()] = true
		if listed[m.name()] != "" && !alive[m.name()] {
			stale++
			fmt.Printf("listed as equivalent, but killed: %s\n", m.name())
		}
	}
	for name := range listed {
		if complete && !known[name] {
			stale++
			fmt.Printf("listed as equivalent, but there is no such mutant: %s\n", name)
		}
	}
	killed := len(tested) - len(survived)
	share := 100 * float64(killed) / float64(len(tested))
	fmt.Printf("%d of %d mutants killed (%.1f %%), %d equivalent, %d survived\n", killed, len(tested), share, len(survived)-unlisted, unlisted)
	switch {
	case unlisted > 0:
		return fmt.Errorf("%d mutants survived: write a test that fails with each, or list why it is equivalent", unlisted)
	case stale > 0:
		return fmt.Errorf("%d lines of the list of equivalent mutants do not hold", stale)
	case complete && share < 90:
		return fmt.Errorf("fewer than 90 %% of the mutants were killed")
	}
	return nil
}
