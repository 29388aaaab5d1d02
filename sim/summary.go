package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// A Summary adds up the results of runs. It is not safe for concurrent use.
type Summary struct {
	Runs     int
	Turns    int
	Events   int
	Commands int
	Faults   int
	Crashes  int
	Reached  []int // of Situations: in how many runs each was reached
	Failed   []Failure
}

// A Failure is a run with a violation.
type Failure struct {
	Config     Config
	Violations []Violation
}

// maxFailures bounds the failures that a summary lists.
const maxFailures = 100

// Add adds the result of a run.
func (t *Summary) Add(cfg Config, r Result) {
	if t.Reached == nil {
		t.Reached = make([]int, len(situations))
	}
	t.Runs, t.Turns, t.Events, t.Commands = t.Runs+1, t.Turns+r.Turns, t.Events+r.Events, t.Commands+r.Commands
	t.Faults, t.Crashes = t.Faults+r.Faults, t.Crashes+r.Crashes
	for i, reached := range r.Reached {
		if reached {
			t.Reached[i]++
		}
	}
	if len(r.Violation) > 0 && len(t.Failed) < maxFailures {
		t.Failed = append(t.Failed, Failure{cfg, r.Violation})
	}
}

// Missing returns the names of the situations that no run has reached.
func (t *Summary) Missing() (names []string) {
	for i, x := range situations {
		if t.Reached == nil || t.Reached[i] == 0 {
			names = append(names, x.name)
		}
	}
	return names
}

// String returns the last line of `moot sim`.
func (t *Summary) String() string {
	return fmt.Sprintf("turns %d, faults %d, situations %d of %d, violations %d", t.Turns, t.Faults, len(situations)-len(t.Missing()), len(situations), len(t.Failed))
}

// Command returns the command line that repeats a run.
func (c Config) Command() string {
	line := fmt.Sprintf("moot sim --seed %d --steps %d --faults %s", c.Seed, c.Steps, c.Faults)
	if c.Only != nil {
		line += " --only " + FormatSteps(c.Only)
	}
	return line
}

// ParseCommand reads what [Config.Command] returns.
func ParseCommand(line string) (c Config, err error) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "moot" || words[1] != "sim" || len(words)%2 != 0 {
		return c, fmt.Errorf("%.40q is no command of moot sim", line)
	}
	for i := 2; i < len(words) && err == nil; i += 2 {
		switch value := words[i+1]; words[i] {
		case "--seed":
			c.Seed, err = strconv.ParseUint(value, 10, 64)
		case "--steps":
			c.Steps, err = strconv.Atoi(value)
		case "--faults":
			c.Faults, err = ParseFaults(value)
		case "--only":
			c.Only, err = ParseSteps(value)
		default:
			err = fmt.Errorf("unknown flag %.20q", words[i])
		}
	}
	return c, err
}
