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
// only at functions that differ from those that testdata/mutated-functions.txt
// holds the hashes of; -only names others. -record notes there the functions all of
// whose mutants were tested, and of which none has survived unlisted.
//
// Functions that were not measured with mutants yet stand in
// testdata/unmeasured-functions.txt, which -postpone writes: -changed says how many
// there are and leaves them out, until a run with -record takes them off or they
// change again.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	changed := flag.Bool("changed", false, "only functions that have changed since they were measured")
	record := flag.Bool("record", false, "note the functions that were measured, for -changed")
	postpone := flag.Bool("postpone", false, "note the functions that have changed as not measured yet, and test nothing")
	only := flag.String("only", "", `only mutants for which this regular expression matches "file.go function: fault"`)
	again := flag.String("again", "", "only mutants that survived in this file, the output of an earlier run")
	quick := flag.String("quick", "", "regular expression of tests to run first, without the others")
	most := flag.Duration("for", 0, "begin no mutant after this time; 0 is no limit")
	jobs := flag.Int("jobs", runtime.GOMAXPROCS(0), "test runs at the same time")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mutate [-changed] [-record] [-only REGEXP] [-again FILE] [-quick TESTS] [-for TIME] [-jobs N] FOLDER, or mutate -postpone FOLDER")
		os.Exit(2)
	}
	var err error
	if *postpone {
		err = postponeChanged(flag.Arg(0))
	} else {
		err = run(flag.Arg(0), *changed, *record, *only, *again, *quick, *most, *jobs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(dir string, changed, record bool, only, again, quick string, most time.Duration, jobs int) error {
	p, err := load(dir)
	if err != nil {
		return err
	}
	listed, err := readEquivalent(filepath.Join(dir, "testdata", "equivalent-mutants.txt"))
	if err != nil {
		return err
	}
	sums := filepath.Join(dir, "testdata", "mutated-functions.txt")
	wanted, err := p.wanted(sums, changed, record, only, again)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(p.mutants), func(m mutant) bool { return !wanted(m) })
	if len(chosen) == 0 {
		fmt.Println("no mutant is chosen")
		return nil
	}
	tested, survived, err := p.test(chosen, quick, most, jobs)
	if err != nil {
		return err
	}
	if record {
		if err := p.record(sums, tested, survived, listed); err != nil {
			return err
		}
	}
	return judge(tested, survived, listed, len(tested) == len(p.mutants))
}

// wanted returns which mutants the flags choose.
func (p *subject) wanted(sums string, changed, record bool, only, again string) (func(mutant) bool, error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	survivors := ""
	if again != "" {
		b, err := os.ReadFile(again)
		if err != nil {
			return nil, err
		}
		survivors = string(b)
	}
	differs := map[string]bool{}
	if changed {
		if differs, err = p.differing(sums); err != nil {
			return nil, err
		}
		if !record { // a run that records measures them too
			if err := p.leaveOut(differs, filepath.Join(filepath.Dir(sums), unmeasuredFile)); err != nil {
				return nil, err
			}
		}
	}
	return func(m mutant) bool {
		return (!changed || differs[m.fn]) && match.MatchString(filepath.Base(m.place.Filename)+" "+m.name()) &&
			(again == "" || strings.Contains(survivors, "  "+m.name()+"\n"))
	}, nil
}

// unmeasuredFile lists functions that were not measured with mutants yet.
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
