package replay

import (
	"cmp"
	"runtime"

	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/score"
)

// Config says what to replay. Only Policies is required.
type Config struct {
	Policies  []drive.Policy
	Simulate  bool // let each policy run the room, instead of asking what it would have done
	Workers   int  // transcripts replayed at once; 0 means GOMAXPROCS
	Resamples int  // of the bootstrap; 0 means 1,000
	Repeat    int  // every Nth decision is made twice; 0 means 8, 1 repeats all

	// Outcome says what each transcript has achieved; nil leaves the figures about outcomes
	// out. It has no effect on a simulation.
	Outcome *score.OutcomeField

	// Sample is how many decision points are asked at, spread over all transcripts; 0
	// means all. The transcripts are then read twice. A simulation takes no sample.
	Sample int

	// Partial makes Run return the report of what it has, with the error of its
	// context, when that ends.
	Partial bool

	// Progress, when set, is called by one goroutine at a time.
	Progress func(Progress)
	// Read, when set, returns which share of the transcripts has been read, from 0 to
	// 1, for the estimate of a Progress. It is called while the transcripts are read.
	Read func() float64
}

func (c Config) withDefaults() Config {
	c.Workers = cmp.Or(max(c.Workers, 0), runtime.GOMAXPROCS(0))
	c.Resamples = cmp.Or(max(c.Resamples, 0), 1000)
	c.Repeat = cmp.Or(max(c.Repeat, 0), 8)
	return c
}
