package replay

import (
	"context"
	"iter"
	"runtime"
	"time"

	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
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

// Run replays the policies over the transcripts. The report does not depend on
// the number of workers. Run ends with the first error of a transcript, or with
// the error of ctx. The failure of a policy is not an error but part of the
// report.
func Run(ctx context.Context, c Config, transcripts iter.Seq2[history.Transcript, error]) (*report.Report, error) {
	c = c.withDefaults()
	if err := drive.Validate(c.Policies); err != nil {
		return nil, err
	}
	start := time.Now()
	p := newPool(c)
	if err := p.run(ctx, transcripts); err != nil {
		return nil, err
	}
	dropped := p.batch.DropEmpty()
	r := report.New(p.batch, c.Resamples, c.Workers, p.detailed.runs)
	r.Dropped = dropped
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}
