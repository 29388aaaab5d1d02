package compile

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
)

// A Module is a module that is ready to be configured. One that runs on the
// interpreter is compiled in the background when [Module.Ran] says that it is
// worth it: tiered compilation.
type Module struct {
	*pool.Module
	tier *tier // nil: no other code will come
}

const (
	// A module is compiled after this time of interpreted decisions. By the
	// ski-rental rule the loss is then small against the compilation, which
	// takes one to two seconds of the processor.
	maxInterpreted = 100 * time.Millisecond

	// maxDelay is the time after the first decision when a module is compiled
	// in any case, for the next start. Programs that end before lose nothing.
	maxDelay = 3 * time.Second
)

// A tier is the pending compilation of a module.
type tier struct {
	compiler    *Compiler
	source      source
	snapshot    []byte       // encoded initial snapshot
	interpreted atomic.Int64 // nanoseconds
	first       sync.Once
	start       sync.Once
	timer       atomic.Pointer[time.Timer]
	ctx         context.Context
	cancel      context.CancelFunc
	done        chan struct{} // closed when no compilation runs or will run
}

// interpreted prepares a module for the interpreter, which also takes the
// initial snapshot unless e has it.
func (c *Compiler) interpreted(ctx context.Context, s source, e *entry) (*Module, error) {
	code, err := pool.Interpret(ctx, s.where, s.Metered)
	if err != nil {
		return nil, err
	}
	if e.snapshot == nil {
		if e.snapshot, err = code.InitialSnapshot(s.where, s.digest, s.Metered); err != nil {
			_ = code.Close()
			return nil, err
		}
		c.cache.put(s.digest, e)
	}
	s.Whole = nil
	t := &tier{compiler: c, source: s, snapshot: e.snapshot, done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(c.ctx)
	return &Module{Module: pool.NewModule(s.digest, s.Metered, e.snapshot, code), tier: t}, nil
}

// Ran notes that a decision ran for d on the engine. It may start to compile
// the module in the background.
func (m *Module) Ran(engine string, d time.Duration) {
	t := m.tier
	if t == nil || engine != guest.EngineInterpreter {
		return
	}
	t.first.Do(func() { t.timer.Store(time.AfterFunc(maxDelay, func() { m.compile() })) })
	if t.interpreted.Add(int64(d)) >= int64(maxInterpreted) {
		m.compile()
	}
}

// compile starts the compilation, once. When it fails the interpreter goes on.
func (m *Module) compile() {
	t := m.tier
	t.start.Do(func() {
		t.compiler.tiers.Add(1)
		go func() {
			defer t.compiler.tiers.Done()
			defer close(t.done)
			e := &entry{entryHeader: entryHeader{Metered: t.source.sum}, snapshot: t.snapshot}
			code, err := t.compiler.compile(t.ctx, t.source, e, func() {})
			if err == nil {
				_ = m.Replace(code)
			}
			t.source.Bare = nil
		}()
	})
}

// Close ends the pending compilation and frees the code. No decision may be
// under way.
func (m *Module) Close() error {
	if t := m.tier; t != nil {
		t.cancel()
		if timer := t.timer.Load(); timer != nil {
			timer.Stop()
		}
		t.start.Do(func() { close(t.done) }) // a compilation that has not begun never will
		<-t.done
	}
	return m.Module.Close()
}
