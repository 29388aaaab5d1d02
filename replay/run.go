package replay

import (
	"context"
	"iter"
	"time"

	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/replay/score"
)

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
	p := &pool{Config: c, batch: score.NewBatch(c.Policies, c.Simulate)}
	if err := p.run(ctx, transcripts); err != nil {
		return nil, err
	}
	dropped := p.batch.DropEmpty()
	r := report.New(p.batch, c.Resamples, c.Workers, p.detailed.runs)
	r.Dropped = dropped
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}
