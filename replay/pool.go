package replay

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/score"
)

// A pool replays transcripts with several workers. Each worker handles one
// transcript at a time.
type pool struct {
	Config
	batch    *score.Batch
	detailed details
	mu       sync.Mutex // guards Progress
}

// A job is one transcript to replay.
type job struct {
	transcript history.Transcript
	place      int // among the transcripts
	run        *score.Run
}

// run passes the transcripts to the workers and waits for them. A transcript is
// read when a worker is nearly ready for it.
func (p *pool) run(ctx context.Context, transcripts iter.Seq2[history.Transcript, error]) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan job, p.Workers)
	var wg sync.WaitGroup
	for range p.Workers {
		wg.Go(func() {
			for j := range jobs {
				if ctx.Err() != nil {
					continue // drain the channel
				}
				if err := p.replay(ctx, j); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := p.feed(ctx, transcripts, jobs)
	close(jobs)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (p *pool) feed(ctx context.Context, transcripts iter.Seq2[history.Transcript, error], jobs chan<- job) error {
	for t, err := range transcripts {
		if err != nil {
			return err
		}
		j := job{transcript: t, place: len(p.batch.Runs), run: &score.Run{}}
		p.batch.Runs = append(p.batch.Runs, j.run)
		select {
		case jobs <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// replay replays one transcript.
func (p *pool) replay(ctx context.Context, j job) error {
	h, err := history.Open(j.transcript)
	if err != nil || h == nil {
		return err
	}
	p.batch.Begin(j.run, h, p.detailed.wanted(j.place))
	if p.Simulate {
		err = p.simulate(ctx, j, h)
	} else {
		err = p.whatIf(ctx, j, h)
	}
	if err != nil {
		return err
	}
	j.run.Finish()
	p.detailed.add(j.place, j.run)
	return nil
}

// progressEvery is how many decision points pass between two calls of Progress.
const progressEvery = 512

func (p *pool) whatIf(ctx context.Context, j job, h *history.History) error {
	c := drive.Config{Policies: p.Policies, Repeat: p.Repeat}
	reported := 0
	err := drive.WhatIf(ctx, c, h, j.place, func(at *history.Point, evaluations []drive.Evaluation) {
		j.run.AddWhatIf(at, evaluations)
		if at.N%progressEvery == 0 {
			p.advance((at.N - reported) * len(evaluations))
			reported = at.N
		}
	})
	p.advance((j.run.Decisions() - reported) * len(p.Policies))
	return err
}

func (p *pool) simulate(ctx context.Context, j job, h *history.History) error {
	const maxText = 1 // no policy reads the texts of this walk
	err := h.Walk(maxText, nil, func(at *history.Point) error {
		j.run.AddRecorded(at)
		return nil
	})
	if err != nil {
		return err
	}
	s, err := drive.NewScenario(h)
	if err != nil {
		return err
	}
	for i := range p.Policies {
		result, err := drive.Simulate(ctx, drive.Config{Policies: p.Policies, Repeat: p.Repeat}, i, h, s, func(at *history.Point, e *drive.Evaluation) {
			j.run.AddSimulated(i, at, e)
		})
		if err != nil {
			return err
		}
		j.run.SetSimulation(i, s.Lines(), result)
		p.advance(j.run.PolicyDecisions(i))
	}
	return nil
}

func (p *pool) advance(decisions int) {
	if p.Progress == nil || decisions == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Progress(decisions)
}

// maxDetailed is how many transcripts a report shows decision by decision.
const maxDetailed = 12

// details keeps the first transcripts that have decision points, in whatever
// order they are finished.
type details struct {
	mu     sync.Mutex
	places []int // of runs, ascending
	runs   []*score.Run
}

// wanted reports whether the transcript at that place may be among the first.
func (d *details) wanted(place int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.runs) < maxDetailed || place < d.places[maxDetailed-1]
}

func (d *details) add(place int, r *score.Run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, _ := slices.BinarySearch(d.places, place)
	d.places, d.runs = slices.Insert(d.places, at, place), slices.Insert(d.runs, at, r)
	if len(d.runs) > maxDetailed {
		d.runs[maxDetailed].DropDetails()
		d.places, d.runs = d.places[:maxDetailed], d.runs[:maxDetailed]
	}
}
