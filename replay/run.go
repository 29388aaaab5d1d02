package replay

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Config says what to replay. The zero value of each field but Subjects works.
type Config struct {
	Subjects  []Subject
	Simulate  bool // let the subjects drive, instead of asking what they would have done
	Workers   int  // transcripts side by side; 0 means GOMAXPROCS
	Resamples int  // of the bootstrap; 0 means 1,000
	Repeat    int  // every so-manieth decision is made twice; 0 means 8, 1 means all

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
	b := newBench(c)
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
		switch {
		case s.Name == "" || seen[s.Name]:
			return fmt.Errorf("replay: the name %q of a policy is empty or not unique", s.Name)
		case s.Policy == nil && baselineOf(s.Baseline) == nil:
			return fmt.Errorf("replay: there is no baseline %q", s.Baseline)
		}
		seen[s.Name] = true
	}
	return nil
}

// A bench runs and collects.
type bench struct {
	Config
	most    int // bytes of a text that inputs can hold
	gauges  []*gauge
	mu      sync.Mutex
	dropped int
	trials  []*trial
	shown   []*trial // the first that had something to decide, at most maxStrips
}

func newBench(c Config) *bench {
	b := &bench{Config: c, most: longest(c.Subjects)}
	for range c.Subjects {
		b.gauges = append(b.gauges, &gauge{})
	}
	return b
}

// run hands transcripts to workers and waits for them. Transcripts are read
// here as they come, one ahead of the workers.
func (b *bench) run(ctx context.Context, transcripts iter.Seq2[Transcript, error]) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan *trial, b.Workers)
	var wg sync.WaitGroup
	for range b.Workers {
		wg.Go(func() {
			for t := range jobs {
				if ctx.Err() != nil {
					continue // the cause is known
				}
				if err := b.do(ctx, t); err != nil {
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
	b.settle()
	return err
}

func (b *bench) feed(ctx context.Context, transcripts iter.Seq2[Transcript, error], jobs chan<- *trial) error {
	for t, err := range transcripts {
		if err != nil {
			return err
		}
		tr := &trial{transcript: t, place: len(b.trials)}
		b.trials = append(b.trials, tr)
		select {
		case jobs <- tr:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// do replays one transcript.
func (b *bench) do(ctx context.Context, t *trial) error {
	h, err := t.transcript.history()
	if err != nil || h == nil {
		t.transcript = Transcript{}
		return err
	}
	if b.Simulate {
		err = t.simulate(ctx, b, h)
	} else {
		err = t.whatIf(ctx, b, h)
	}
	t.transcript, h.chat, h.log = Transcript{}, h.chat.dry(), nil // what was said is needed no more
	b.show(t)
	return err
}

// shows reports whether the details of t may be shown: there are not yet enough
// transcripts before it.
func (b *bench) shows(t *trial) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.shown) < maxStrips || t.place < b.shown[maxStrips-1].place
}

// show keeps the details of the first transcripts, whoever is done first.
func (b *bench) show(t *trial) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, _ := slices.BinarySearchFunc(b.shown, t.place, func(x *trial, place int) int { return x.place - place })
	b.shown = slices.Insert(b.shown, at, t)
	if len(b.shown) > maxStrips {
		b.shown[maxStrips].forget()
		b.shown = b.shown[:maxStrips]
	}
}

// advance tells of progress.
func (b *bench) advance(decisions int) {
	if b.Progress == nil || decisions == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Progress(decisions)
}

// settle leaves out what had nothing to decide.
func (b *bench) settle() {
	kept := b.trials[:0]
	for _, t := range b.trials {
		if t.h == nil {
			b.dropped++
			continue
		}
		kept = append(kept, t)
	}
	b.trials = kept
}
