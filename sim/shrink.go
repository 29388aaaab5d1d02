package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shrink returns a run with the same violation and fewer steps, by delta debugging: it
// leaves out parts of the steps that are not needed, from halves down to single ones.
// See Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002. It
// executes at most runs runs.
func Shrink(cfg Config, runs int) Config {
	failing := Run(cfg)
	if len(failing.Violation) == 0 {
		return cfg
	}
	want := failing.Violation[0].Invariant
	steps := cfg.Only
	if steps == nil {
		for step := 1; step <= failing.Violation[0].Step; step++ {
			steps = append(steps, step)
		}
	}
	fails := func(only []int) bool {
		runs--
		try := cfg
		try.Only = only
		r := Run(try)
		return len(r.Violation) > 0 && r.Violation[0].Invariant == want
	}
	if !fails(steps) {
		return cfg
	}
	for size := len(steps) / 2; size > 0 && runs > 0; {
		removed := false
		for at := 0; at < len(steps) && runs > 0; {
			rest := slices.Delete(slices.Clone(steps), at, min(at+size, len(steps)))
			if fails(rest) {
				steps, removed = rest, true
			} else {
				at += size
			}
		}
		if !removed || size > 1 {
			size /= 2
		}
	}
	cfg.Only = steps
	return cfg
}

// FormatSteps returns a list of numbers with ranges, such as 1,4-7.
func FormatSteps(steps []int) string {
	var parts []string
	for i := 0; i < len(steps); {
		j := i
		for j+1 < len(steps) && steps[j+1] == steps[j]+1 {
			j++
		}
		part := strconv.Itoa(steps[i])
		if j > i {
			part += "-" + strconv.Itoa(steps[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// maxSteps bounds the steps of a run.
const maxSteps = 10_000_000

// ParseSteps reads what [FormatSteps] returns.
func ParseSteps(list string) ([]int, error) {
	steps := []int{}
	for _, part := range strings.Split(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 1 || last < first || last > maxSteps || len(steps) > 0 && first <= steps[len(steps)-1] {
			return nil, fmt.Errorf("%.20q is no list of steps such as 1,4-7", list)
		}
		for step := first; step <= last; step++ {
			steps = append(steps, step)
		}
	}
	return steps, nil
}
