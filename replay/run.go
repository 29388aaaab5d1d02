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
// the error of ctx, for which c.Partial has a report too. The failure of a policy is not an error but part of the
// report.
func Run(ctx context.Context, c Config, transcripts iter.Seq2[history.Transcript, error]) (*report.Report, error) {
	c = c.withDefaults()
	if err := drive.Validate(c.Policies); err != nil {
		return nil, err
	}
	start := time.Now()
	p := &pool{Config: c, batch: score.NewBatch(c.Policies, c.Simulate)}
	if c.Sample > 0 && !c.Simulate {
		s, err := newSample(c.Sample, transcripts)
		if err != nil {
			return nil, err
		}
		p.sample = s
	}
	p.meter = &meter{Config: c, policies: len(c.Policies), sample: p.sample}
	err := p.run(ctx, transcripts)
	if err != nil && (!c.Partial || ctx.Err() == nil) {
		return nil, err
	}
	p.batch.DropEmpty()
	r := report.New(p.batch, c.Resamples, c.Workers, p.detailed.runs)
	r.Dropped = int(p.dropped.Load())
	if p.sample != nil {
		r.SetSample(p.sample.of)
	}
	if err != nil {
		r.SetPartial(int(p.cut.Load()))
	}
	if c.Outcome != nil && !c.Simulate {
		r.SetOutcome(p.batch.Outcome(*c.Outcome, p.sample == nil && err == nil, c.Resamples, c.Workers))
	}
	r.Seconds = time.Since(start).Seconds()
	return r, err
}
