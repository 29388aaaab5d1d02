package replay

import (
	"cmp"
	"runtime"

	"github.com/folkmoot/moot/replay/drive"
)

// Config says what to replay. Only Policies is required.
type Config struct {
	Policies  []drive.Policy
	Simulate  bool // let each policy run the room, instead of asking what it would have done
	Workers   int  // transcripts replayed at once; 0 means GOMAXPROCS
	Resamples int  // of the bootstrap; 0 means 1,000
	Repeat    int  // every Nth decision is made twice; 0 means 8, 1 repeats all

	// Progress, when set, is called with the number of decisions made since the
	// last call, by one goroutine at a time.
	Progress func(decisions int)
}

func (c Config) withDefaults() Config {
	c.Workers = cmp.Or(max(c.Workers, 0), runtime.GOMAXPROCS(0))
	c.Resamples = cmp.Or(max(c.Resamples, 0), 1000)
	c.Repeat = cmp.Or(max(c.Repeat, 0), 8)
	return c
}
