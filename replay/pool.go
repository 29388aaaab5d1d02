package replay

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

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
	sample   *sample // nil for all decision points
	meter    *meter
	dropped  atomic.Int64 // transcripts without decision points
	cut      atomic.Int64 // transcripts that were replayed in part
}

// A job is one transcript to replay.
type job struct {
	transcript history.Transcript
	place      int // among the transcripts
	size       int // see history.Transcript.Size
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
					p.keep(j)
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
		place := len(p.batch.Runs)
		j := job{transcript: t, place: place, run: &score.Run{Place: place}}
		p.batch.Runs = append(p.batch.Runs, j.run)
		if j.size, err = p.meter.add(t); err != nil {
			return err
		}
		select {
		case jobs <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p.meter.end()
	return nil
}

// keep makes the run of a transcript that was replayed in part a whole one, or an empty
// one if nothing of it can be counted.
func (p *pool) keep(j job) {
	if p.Simulate || j.run.History == nil || j.run.Decisions() == 0 {
		*j.run = score.Run{}
		return
	}
	p.cut.Add(1)
	p.finish(j)
}

func (p *pool) finish(j job) {
	if p.sample != nil && j.run.Decisions() == 0 { // none of its decisions is in the sample
		*j.run = score.Run{}
		return
	}
	j.run.Finish()
	p.detailed.add(j.place, j.run)
}

// replay replays one transcript.
func (p *pool) replay(ctx context.Context, j job) error {
	h, err := history.Open(j.transcript)
	if err != nil || h == nil {
		if err == nil {
			p.dropped.Add(1)
		}
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
	p.finish(j)
	return nil
}

// progressEvery is how many decision points pass between two calls of Progress.
const progressEvery = 512

func (p *pool) whatIf(ctx context.Context, j job, h *history.History) error {
	asked, counted := p.sample.asked(j.place)
	c := drive.Config{Policies: p.Policies, Repeat: p.Repeat, Asked: asked}
	var reported struct{ decisions, place int }
	err := drive.WhatIf(ctx, c, h, j.place, func(at *history.Point, evaluations []drive.Evaluation) {
		if counted != nil && !counted(at.N) {
			return
		}
		j.run.AddWhatIf(at, evaluations)
		if n := j.run.Decisions(); n-reported.decisions >= progressEvery {
			p.meter.advance((n-reported.decisions)*len(evaluations), float64(at.Place()-reported.place))
			reported.decisions, reported.place = n, at.Place()
		}
	})
	p.meter.advance((j.run.Decisions()-reported.decisions)*len(p.Policies), float64(j.size-reported.place))
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
	j.run.SetChoosable(s.Choosable())
	for i := range p.Policies {
		result, err := drive.Simulate(ctx, drive.Config{Policies: p.Policies, Repeat: p.Repeat}, i, h, s, func(at *history.Point, e *drive.Evaluation) {
			j.run.AddSimulated(i, at, e)
		})
		if err != nil {
			return err
		}
		j.run.SetSimulation(i, s.Lines(), result)
		p.meter.advance(j.run.PolicyDecisions(i), float64(j.size)/float64(len(p.Policies)))
	}
	return nil
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
