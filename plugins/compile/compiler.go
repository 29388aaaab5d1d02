package compile

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/worker"
	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
	"github.com/folkmoot/moot/plugins/wasm"
)

// A Config configures a [Compiler]. The zero value works, without a cache.
type Config struct {
	CacheDir    string        // created when absent; empty: nothing is kept
	Interpreter bool          // compile nothing
	Tiered      bool          // start trusted modules on the interpreter
	CPUTime     time.Duration // of a worker process; 0: DefCPUTime
}

// A Compiler makes modules ready to run. Its methods are safe for concurrent
// use.
type Compiler struct {
	config Config
	engine string
	cache  *cache

	worker  chan struct{}         // a semaphore: one worker process at a time
	workers int                   // started so far; guarded by worker
	refused map[string]remembered // by digest; guarded by worker

	ctx    context.Context // of compilations in the background
	cancel context.CancelFunc
	tiers  sync.WaitGroup
}

// Open starts a compiler. The caller closes it.
func Open(c Config) (*Compiler, error) {
	if c.CPUTime <= 0 {
		c.CPUTime = DefCPUTime
	}
	engine := guest.Engine(c.Interpreter)
	files, err := openCache(c.CacheDir, engine)
	if err != nil {
		return nil, err
	}
	p := &Compiler{config: c, engine: engine, cache: files, worker: make(chan struct{}, 1), refused: map[string]remembered{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// Engine returns the engine that compiled modules run on.
func (c *Compiler) Engine() string { return c.engine }

// Close ends compilations in the background.
func (c *Compiler) Close() error {
	c.cancel()
	c.tiers.Wait()
	return nil
}

// A source is a valid module that is prepared.
type source struct {
	where  string // names the policy in errors
	digest string // of the module
	*wasm.Metered
	sum string // digest of its rewritten form
}

func newSource(where, digest string, m *wasm.Metered) source {
	return source{where, digest, m, guest.Digest(m.Whole)}
}

// module frees the rewritten forms, which are megabytes.
func (s source) module(initial []byte, code *pool.Code) *Module {
	s.Whole, s.Bare = nil, nil
	return &Module{Module: pool.NewModule(s.digest, s.Metered, initial, code)}
}

// Trusted prepares a module that may be compiled in this process. where names
// the policy in errors, which are ctx's or *guest.Error with a load code.
func (c *Compiler) Trusted(ctx context.Context, where, digest string, module []byte) (*Module, error) {
	m, err := guest.Validate(where, module)
	if err != nil {
		return nil, err
	}
	s := newSource(where, digest, m)
	e := c.cache.get(digest)
	if e == nil || !e.fits(m, s.sum) {
		e = &entry{entryHeader: entryHeader{Metered: s.sum}}
	}
	if e.code != nil {
		if code, err := c.cache.load(ctx, where, m, e); err == nil {
			return s.module(e.snapshot, code), nil
		}
	}
	if c.config.Tiered && m.Restorable && c.engine == guest.EngineCompiler {
		return c.interpreted(ctx, s, e)
	}
	var initErr error
	var wg sync.WaitGroup
	if m.Restorable && e.snapshot == nil {
		wg.Go(func() { e.snapshot, initErr = pool.InitialSnapshot(where, digest, m) }) // in parallel with the compiler
	}
	code, err := c.compile(ctx, s, e, wg.Wait)
	if err = cmp.Or(initErr, err); err != nil { // the first says more
		if code != nil {
			err = errors.Join(err, code.Close())
		}
		return nil, err
	}
	return s.module(e.snapshot, code), nil
}

// compile compiles a trusted module in this process. It keeps the entry, to
// which it adds the code, after complete has returned.
func (c *Compiler) compile(ctx context.Context, s source, e *entry, complete func()) (*pool.Code, error) {
	defer complete()
	if c.cache == nil || c.engine != guest.EngineCompiler {
		return c.compileOnly(ctx, s)
	}
	folder, err := c.cache.workFolder()
	if err != nil {
		return c.compileOnly(ctx, s) // a full disk costs time only
	}
	defer os.RemoveAll(folder)
	code, name, err := compileIn(ctx, folder, s.where, s.Metered)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return c.compileOnly(ctx, s)
	}
	e.Name = name
	if e.code, err = readCode(folder, name); err == nil {
		complete()
		if e.fits(s.Metered, s.sum) {
			c.cache.put(s.digest, e)
		}
	}
	e.code = nil
	return code, nil
}

// compileOnly compiles and keeps nothing.
func (c *Compiler) compileOnly(ctx context.Context, s source) (*pool.Code, error) {
	r, err := guest.OpenRuntime(context.Background(), c.engine, nil)
	if err != nil {
		return nil, err
	}
	return pool.Compile(ctx, r, c.engine, s.where, s.Metered, pool.Workers())
}

// Untrusted prepares a third-party module. A worker process validates,
// initializes and compiles it, unless the cache has what one made. Errors are
// those of [Compiler.Trusted]. A module that is too expensive to compile is
// refused again without another attempt.
func (c *Compiler) Untrusted(ctx context.Context, where, digest string, module []byte) (*Module, error) {
	e := c.cache.get(digest)
	for cached := e != nil && e.Refused == nil; ; cached = false {
		if !cached {
			var err error
			if e, err = c.prepare(ctx, where, digest, module, e); err != nil {
				return nil, err
			}
		}
		m, err := guest.Validate(where, module) // after the worker, which has done it within limits
		if err != nil {
			return nil, err
		}
		s := newSource(where, digest, m)
		if e.fits(m, s.sum) && (e.code != nil) == (c.engine == guest.EngineCompiler) {
			return c.loadUntrusted(ctx, s, e)
		}
		if !cached {
			return nil, &guest.Error{Code: guest.CodeCompile, Where: where, What: "the process that compiles it gave the result of another module", Fix: "report it, with the module"}
		}
		c.cache.remove(digest) // of another version of this program
		e = nil
	}
}

func (c *Compiler) loadUntrusted(ctx context.Context, s source, e *entry) (*Module, error) {
	if e.code == nil {
		code, err := c.compileOnly(ctx, s) // the interpreter compiles nothing
		if err != nil {
			return nil, err
		}
		return s.module(e.snapshot, code), nil
	}
	code, err := c.cache.load(ctx, s.where, s.Metered, e)
	if err != nil && ctx.Err() == nil && !errors.As(err, new(*guest.Error)) {
		err = noSpace(s.where, err)
	}
	if err != nil {
		return nil, err
	}
	return s.module(e.snapshot, code), nil
}

// prepare has a worker process prepare a module, one module at a time. known is
// the refusal that the cache has, or nil.
func (c *Compiler) prepare(ctx context.Context, where, digest string, module []byte, known *entry) (*entry, error) {
	select {
	case c.worker <- struct{}{}:
		defer func() { <-c.worker }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r := c.refused[digest].refusal
	if time.Since(c.refused[digest].at) > keepRefusal {
		r = nil
	}
	if known != nil {
		r = known.Refused
	}
	if l := c.limits(); r != nil && r.CPUSeconds >= int(l.CPU.Seconds()) && r.Memory >= l.Memory {
		return nil, &guest.Error{Code: guest.CodeCompile, Where: where, What: r.What, Fix: "build a smaller module"}
	}
	c.workers++
	e, err := c.compileInWorker(ctx, where, module)
	switch {
	case err == nil:
		c.cache.put(digest, e)
	case errors.Is(err, worker.ErrTooSlow) || errors.Is(err, worker.ErrOutOfMemory):
		c.remember(digest, err)
	}
	return e, err
}

// A remembered refusal is kept in memory, for a cache that cannot be written.
type remembered struct {
	*refusal
	at time.Time
}

// remember keeps that a module is too expensive to compile.
func (c *Compiler) remember(digest string, err error) {
	var e *guest.Error
	if !errors.As(err, &e) {
		return
	}
	l := c.limits()
	r := &refusal{What: e.What, CPUSeconds: int(l.CPU.Seconds()), Memory: l.Memory}
	c.refused[digest] = remembered{r, time.Now()}
	c.cache.put(digest, &entry{entryHeader: entryHeader{Refused: r}})
}
