package pool

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A Query is one decision to make.
type Query struct {
	Where string // the policy and the room, for errors
	NowMS int64  // the clock that the module sees
	Seed  string // of its random stream
	Input []byte
	Fuel  uint64
}

// A Result is the outcome of one run of a policy.
type Result struct {
	Output []byte        // the policy's answer, not decoded
	Log    string        // what it logged, at most policy.MaxLog bytes
	Fuel   uint64        // units that it used
	Time   time.Duration // of the processor, with the restoring of the instance
	Memory int           // bytes of memory, at the most
	Engine string        // that it ran on, guest.EngineCompiler or guest.EngineInterpreter

	// EndedByTime reports that the run used its processor time before its fuel.
	// The same run can end otherwise on another machine, or the next time.
	EndedByTime bool
}

// A Pool is an instance pool: it keeps instances that were restored to their
// snapshot, and closes the least recently used one when it is full. Its methods
// are safe for concurrent use.
type Pool struct {
	mu       sync.Mutex
	capacity int
	idle     []pooled // least recently used first
}

type pooled struct {
	of *Configured
	in *instance
}

// New returns a pool for so many idle instances.
func New(capacity int) *Pool { return &Pool{capacity: capacity} }

// Run makes one decision in an instance that equals c's snapshot. Errors are
// ctx's or *guest.Error with a run code; the result then has the log.
func (p *Pool) Run(ctx context.Context, c *Configured, q Query) (Result, error) {
	watch := startStopwatch()
	in := p.get(c)
	if in == nil {
		var err error
		if in, err = c.newInstance(ctx, &watch); err != nil {
			return watch.failed(err), instantiationError(q.Where, err)
		}
	}
	in.memory.pages.countFaults()
	restored := false
	defer func() {
		if !restored { // afterwards another goroutine may have the instance
			in.memory.pages.stopCounting()
		}
	}()
	r, err := in.answer(ctx, q, c.spec.CPUTime, watch)
	watch = in.preemption.watch
	if err != nil || c.restore(in) != nil {
		in.close()
	} else {
		in.memory.pages.stopCounting()
		restored = true
		p.put(c, in)
	}
	watch.stop()
	r.Time = watch.used
	return r, err
}

// RunNew makes one decision in an instance that never ran before, without a
// limit of time. Its errors are those of [Pool.Run].
func (c *Configured) RunNew(ctx context.Context, q Query) (Result, error) {
	watch := startStopwatch()
	in, err := c.newInstance(ctx, &watch)
	if err != nil {
		return watch.failed(err), instantiationError(q.Where, err)
	}
	r, err := in.answer(ctx, q, 0, watch)
	in.close()
	in.preemption.watch.stop()
	r.Time = in.preemption.watch.used
	return r, err
}

// answer makes one decision and returns a copy of the answer. watch has the time
// that was used for it already.
func (in *instance) answer(ctx context.Context, q Query, cpuTime time.Duration, watch stopwatch) (Result, error) {
	in.env.Begin(q.NowMS, q.Seed)
	in.begin(ctx, q.Fuel-min(q.Fuel, in.setUpFuel), cpuTime, watch)
	out, err := in.run(q.Input)
	in.memory.pages.moduleReturned()
	r := Result{Log: in.env.Logged(), Fuel: uint64(int64(q.Fuel) - in.left()), Memory: in.memory.highWater, Engine: in.code.Engine}
	if err == nil {
		r.Output = bytes.Clone(out)
		return r, nil
	}
	if in.preemption.ended != nil {
		r.Fuel = q.Fuel // how far it got depends on the machine
	}
	if ctx.Err() != nil && errors.Is(in.preemption.ended, ctx.Err()) {
		return r, ctx.Err()
	}
	e := in.runError(q.Where, q.Fuel, err)
	r.EndedByTime = errors.Is(e, errTime)
	return r, e
}

// get returns an idle instance of c's current code, or nil. It closes those of
// code that was replaced.
func (p *Pool) get(c *Configured) (found *instance) {
	code := c.module.Code()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0 && found == nil; i-- {
		in := p.idle[i].in
		if p.idle[i].of != c {
			continue
		}
		p.idle = slices.Delete(p.idle, i, i+1)
		if in.code == code {
			found = in
		} else {
			in.close()
		}
	}
	return found
}

// put adds an instance.
func (p *Pool) put(c *Configured, in *instance) {
	p.mu.Lock()
	p.idle = append(p.idle, pooled{c, in})
	var over *instance
	if len(p.idle) > p.capacity {
		over = p.idle[0].in
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	p.mu.Unlock()
	if over != nil {
		over.close()
	}
}

// Drop closes the idle instances of c, or all when c is nil.
func (p *Pool) Drop(c *Configured) {
	p.mu.Lock()
	var dropped []pooled
	p.idle = slices.DeleteFunc(p.idle, func(i pooled) bool {
		drop := c == nil || i.of == c
		if drop {
			dropped = append(dropped, i)
		}
		return drop
	})
	p.mu.Unlock()
	for _, i := range dropped {
		i.in.close()
	}
}
