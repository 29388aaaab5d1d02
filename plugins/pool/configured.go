package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/folkmoot/moot/plugins/guest"
)

// A Spec says how a module is configured.
type Spec struct {
	Name     string        // of the policy, for errors
	Settings []byte        // the argument of configure
	Pages    uint32        // of memory, at most
	Fuel     uint64        // of configure
	CPUTime  time.Duration // of the processor, for configure and for each decision; 0: unlimited
}

// A Configured is a module with its settings, from which instances are made.
// Its methods are safe for concurrent use.
type Configured struct {
	spec     Spec
	module   *Module
	maxBytes int // of memory

	snapshot *snapshot // without memory; nil: each decision sets up a new instance
	memory   *snapshotMemory
}

// Configure configures one instance of a module and takes its snapshot. Errors
// are *guest.Error with a load code.
func Configure(m *Module, s Spec) (*Configured, error) {
	c := &Configured{spec: s, module: m, maxBytes: MaxBytes(m.metered, s.Pages)}
	if err := c.checkSize(int(m.metered.Pages) << 16); err != nil { // before that memory is allocated
		return nil, err
	}
	if m.initial == nil {
		watch := startStopwatch()
		defer watch.stop()
		in, err := c.newInstance(context.Background(), &watch) // to fail now and not at a decision
		if err != nil {
			return nil, err
		}
		in.close()
		return c, nil
	}
	initial, err := decodeSnapshot(m.initial, len(m.metered.Mutable))
	if err != nil {
		return nil, err
	}
	if err := c.checkSize(len(initial.memory)); err != nil { // it may have grown since
		return nil, err
	}
	in, err := c.start(initial, c.firstMemory(initial.memory))
	if err != nil {
		return nil, err
	}
	in.begin(context.Background(), s.Fuel, s.CPUTime, startStopwatch())
	defer in.preemption.watch.stop()
	if err := in.configure(s.Settings); err != nil {
		defer in.close()
		return nil, in.setupError(s.Name, s.Fuel, err)
	}
	c.snapshot = takeSnapshot(in, m.metered.Mutable)
	c.snapshot.log = initial.log + c.snapshot.log
	c.memory, err = newSnapshotMemory(c.snapshot.memory)
	c.snapshot.memory = nil
	return c, err
}

// firstMemory returns the memory in which the module is configured. It is the
// initial snapshot itself, or a copy when the engine overwrites a part of it.
func (c *Configured) firstMemory(initial []byte) *memory {
	if !c.module.Code().whole {
		return &memory{initial: initial, buf: initial, maxBytes: c.maxBytes}
	}
	return newCopiedMemory(initial, appendPageRuns(nil, initial, 0, len(initial)), c.maxBytes)
}

// Close frees the snapshot. The module stays open.
func (c *Configured) Close() {
	if c.memory != nil {
		c.memory.close()
	}
}

// checkSize refuses a memory that is larger than the policy may have.
func (c *Configured) checkSize(bytes int) error {
	if bytes <= c.maxBytes {
		return nil
	}
	return &guest.Error{
		Code: guest.CodeLimits, Where: c.spec.Name, What: fmt.Sprintf("needs %d pages of memory to start with; it may have %d", bytes>>16, c.maxBytes>>16),
		Fix: "allow it more memory",
	}
}

// newInstance returns an instance that is ready for a decision. watch is of the
// decision.
func (c *Configured) newInstance(ctx context.Context, watch *stopwatch) (*instance, error) {
	if c.snapshot == nil {
		return c.setUp(ctx, watch)
	}
	mem, err := c.memory.newMemory(c.maxBytes)
	if err != nil {
		return nil, err
	}
	return c.start(c.snapshot, mem)
}

// start makes an instance on a memory that holds a snapshot.
func (c *Configured) start(s *snapshot, mem *memory) (*instance, error) {
	env := &guest.Env{}
	env.Begin(0, c.module.digest)
	in, err := c.module.newInstance(mem, env)
	if err != nil {
		return nil, err
	}
	m := in.module.Memory()
	if missing := uint32(len(mem.initial)) - m.Size(); missing > 0 {
		if _, ok := m.Grow(missing >> 16); !ok {
			in.close()
			return nil, fmt.Errorf("a memory of %d bytes does not grow to its snapshot of %d", m.Size(), len(mem.initial))
		}
	}
	if in.code.whole { // the engine wrote the data segments over the snapshot
		if err := mem.reset(); err != nil {
			in.close()
			return nil, err
		}
	}
	for i, v := range s.globals {
		in.globals[i].Set(v)
	}
	return in, nil
}

// setUp makes an instance of a module that cannot start from a snapshot. Its time
// and its fuel are a part of the decision.
func (c *Configured) setUp(ctx context.Context, watch *stopwatch) (*instance, error) {
	env := &guest.Env{Initializing: true}
	env.Begin(0, c.module.digest)
	in, err := c.module.newInstance(&memory{maxBytes: c.maxBytes}, env)
	if err != nil {
		return nil, startError(c.spec.Name, err)
	}
	fuel := uint64(guest.SetupFuel)
	in.begin(ctx, fuel, c.spec.CPUTime, *watch)
	if err = in.initialize(); err == nil {
		in.setUpFuel = in.used(fuel)
		fuel = c.spec.Fuel
		in.begin(ctx, fuel, c.spec.CPUTime, in.preemption.watch)
		err = in.configure(c.spec.Settings)
		in.setUpFuel += in.used(fuel)
	}
	*watch = in.preemption.watch
	if ctx.Err() != nil {
		in.close()
		return nil, ctx.Err()
	}
	if err != nil {
		e := in.setupError(c.spec.Name, fuel, err)
		in.close()
		return nil, e
	}
	env.Initializing = false
	return in, nil
}

// restore puts an instance back to the snapshot. After an error the caller
// closes the instance.
func (c *Configured) restore(in *instance) error {
	switch {
	case c.snapshot == nil:
		return errors.New("the module cannot start from a snapshot")
	case in.memory.outgrown():
		return errOutgrown
	}
	for i, v := range c.snapshot.globals {
		in.globals[i].Set(v)
	}
	in.env.Begin(0, c.module.digest)
	if err := in.memory.reset(); err != nil {
		return err
	}
	return in.shrink()
}
