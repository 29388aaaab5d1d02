package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
)

// DefaultSteps is the number of steps of a run that names none.
const DefaultSteps = 300

// A Config describes one run. The zero Config is a run without faults.
type Config struct {
	Seed   uint64
	Steps  int // 0 is DefaultSteps
	Faults Faults
	// Only lists the steps that are taken, in ascending order; nil takes all. A run that
	// was shrunk has one.
	Only []int
	// Trace, if not nil, gets a line for each action.
	Trace func(string)

	flaws flaws
}

// A Violation is an invariant that did not hold.
type Violation struct {
	Invariant string // its name in docs/reliability.md
	Room      string
	Seq       int64 // of the newest event of the room
	Step      int
	Detail    string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: room %s, event %d, step %d: %s", v.Invariant, v.Room, v.Seq, v.Step, v.Detail)
}

// A Result is what a run did.
type Result struct {
	Turns     int
	Events    int
	Commands  int
	Faults    int
	Crashes   int
	Reached   []bool // of Situations, in their order
	Hash      string // of all durable events and all prompts that were sent
	Violation []Violation
}

// Run executes a simulation. It ends at the first violation.
func Run(cfg Config) Result {
	if cfg.Steps == 0 {
		cfg.Steps = DefaultSteps
	}
	s := &simulation{cfg: cfg, src: newSource(), sum: sha256.New()}
	s.result.Reached = make([]bool, len(situations))
	s.disk.logs = map[string]*roomLog{}
	s.disk.snapshot = map[string]snapshot{}
	s.faults = cfg.Faults
	s.src.begin(cfg.Seed, 0)
	s.setUp()
	for step := 1; step <= cfg.Steps && len(s.result.Violation) == 0; step++ {
		if cfg.Only != nil {
			if _, found := slices.BinarySearch(cfg.Only, step); !found {
				continue
			}
		}
		s.steps = step
		s.src.begin(cfg.Seed, step)
		s.guarded(s.step)
		s.guarded(s.quiet)
	}
	if len(s.result.Violation) == 0 {
		s.src.begin(cfg.Seed, cfg.Steps+1)
		s.guarded(s.wind)
	}
	s.result.Hash = hex.EncodeToString(s.sum.Sum(nil)[:16])
	return s.result
}

// guarded turns a panic into a violation: no command may make the core panic.
func (s *simulation) guarded(f func()) {
	defer func() {
		if v := recover(); v != nil {
			s.violate("F2", "", fmt.Sprintf("panic: %v%s", v, stack()))
		}
	}()
	f()
}

// note adds bytes to the hash of the run.
func (s *simulation) note(b []byte) { add(s.sum, b) }

func add(h hash.Hash, b []byte) {
	h.Write(b)
	h.Write([]byte{'\n'})
}

// violate records a violation.
func (s *simulation) violate(invariant, id, detail string) {
	if len(s.result.Violation) >= 8 {
		return
	}
	seq := int64(0)
	if l := s.disk.logs[id]; l != nil {
		seq = int64(len(l.raws))
	}
	s.result.Violation = append(s.result.Violation, Violation{invariant, id, seq, s.steps, detail})
	s.trace("violation", s.result.Violation[len(s.result.Violation)-1].String())
}

func (s *simulation) trace(what string, args ...any) {
	if s.cfg.Trace != nil {
		s.cfg.Trace(fmt.Sprintf("%4d %9.3fs %-8s %s", s.steps, s.now.Seconds(), what, fmt.Sprint(args...)))
	}
}

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
