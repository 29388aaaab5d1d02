package replay

import (
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
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Resamples <= 0 {
		c.Resamples = 1000
	}
	if c.Repeat <= 0 {
		c.Repeat = 8
	}
	return c
}
