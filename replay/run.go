package replay

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"
)

// Config says what to replay. The zero value of each field but Subjects works.
type Config struct {
	Subjects  []Subject
	Workers   int // transcripts side by side; 0 means GOMAXPROCS
	Resamples int // of the bootstrap; 0 means 1,000
	Repeat    int // every so-manieth decision is made twice; 0 means 8, 1 means all

	// Progress, when set, is told how many more decisions were made. It is
	// called from one goroutine at a time.
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

// Run replays the subjects over the transcripts and reports. It ends with the
// first error: of a transcript that cannot be read or folded, or of ctx. That
// a policy fails is no error but part of the report.
func Run(ctx context.Context, c Config, transcripts iter.Seq2[Transcript, error]) (*Report, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	start := time.Now()
	b := bench{Config: c}
	if err := b.run(ctx, transcripts); err != nil {
		return nil, err
	}
	r := b.report()
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

func (c Config) check() error {
	if len(c.Subjects) == 0 {
		return errNoPolicies
	}
	seen := map[string]bool{}
	for _, s := range c.Subjects {
		if s.Name == "" || seen[s.Name] {
			return fmt.Errorf("replay: the name %q of a policy is empty or not unique", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// A bench runs and collects.
type bench struct {
	Config
	mu      sync.Mutex
	dropped int
	trials  []*trial
}

// A trial is one transcript with everything that came out of it.
type trial struct {
	h        *history
	recorded *score
	windows  []window
	scores   []*score // by subject
	detailed bool
	left     int // jobs not yet done
}

// maxStrips is how many transcripts the HTML report shows decision by decision.
const maxStrips = 12

// A job is one policy, or with -1 what was recorded, on one transcript.
type job struct {
	trial   *trial
	subject int
}

// run feeds jobs to workers and waits for them.
func (b *bench) run(ctx context.Context, transcripts iter.Seq2[Transcript, error]) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan job)
	var wg sync.WaitGroup
	for range b.Workers {
		wg.Go(func() {
			for j := range jobs {
				if err := b.do(ctx, j); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := b.feed(ctx, transcripts, jobs)
	close(jobs)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (b *bench) feed(ctx context.Context, transcripts iter.Seq2[Transcript, error], jobs chan<- job) error {
	for t, err := range transcripts {
		if err != nil {
			return err
		}
		h, err := t.history()
		if err != nil {
			return err
		}
		if h == nil {
			b.dropped++
			continue
		}
		tr := &trial{h: h, scores: make([]*score, len(b.Subjects)), left: len(b.Subjects) + 1, detailed: len(b.trials) < maxStrips}
		b.trials = append(b.trials, tr)
		for i := -1; i < len(b.Subjects); i++ {
			select {
			case jobs <- job{tr, i}:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

func (b *bench) do(ctx context.Context, j job) error {
	if ctx.Err() != nil {
		return nil // the cause is known
	}
	var err error
	if t := j.trial; j.subject < 0 {
		t.recorded, t.windows, err = t.h.recorded()
	} else {
		t.scores[j.subject], err = b.replay(ctx, t.h, &b.Subjects[j.subject], t.detailed)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Progress != nil && err == nil && j.subject >= 0 {
		b.Progress(len(j.trial.scores[j.subject].answers))
	}
	if j.trial.left--; j.trial.left == 0 {
		j.trial.h.events = nil // the texts are needed no more
	}
	return err
}
