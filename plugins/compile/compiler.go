package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
)

// A Config configures a [Compiler]. The zero value works, without a cache.
type Config struct {
	CacheDir    string        // created when absent; empty: nothing is kept
	Interpreter bool          // compile nothing
	Tiered      bool          // start trusted modules on the interpreter
	CPUTime     time.Duration // of a child process; 0: DefCPUTime
}

// A Compiler makes modules ready to run. Its methods are safe for concurrent
// use.
type Compiler struct {
	config  Config
	trusted *engine

	openUntrusted func() (*engine, error) // once, for the first third-party module
	untrusted     *engine
	child         chan struct{} // a semaphore: one child process at a time
	children      int           // started so far; guarded by child

	ctx    context.Context // of compilations in the background
	cancel context.CancelFunc
	tiers  sync.WaitGroup
}

// Open starts a compiler. The caller closes it.
func Open(c Config) (*Compiler, error) {
	if c.CPUTime <= 0 {
		c.CPUTime = DefCPUTime
	}
	trusted, err := openEngine(c.CacheDir, guest.Engine(c.Interpreter))
	if err != nil {
		return nil, err
	}
	p := &Compiler{config: c, trusted: trusted, child: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.openUntrusted = sync.OnceValues(func() (*engine, error) {
		e, err := openUntrusted(c.CacheDir, trusted.name)
		p.untrusted = e
		return e, err
	})
	return p, nil
}

// Engine returns the engine that compiled modules run on.
func (c *Compiler) Engine() string { return c.trusted.name }

// Close ends compilations in the background and frees the engines. No module
// may be in use.
func (c *Compiler) Close() error {
	c.cancel()
	c.tiers.Wait()
	err := c.trusted.close()
	if c.untrusted != nil {
		err = errors.Join(err, c.untrusted.close())
	}
	return err
}

// Trusted prepares a module that may be compiled in this process. where names
// the policy in errors, which are ctx's or *guest.Error with a load code.
func (c *Compiler) Trusted(ctx context.Context, where, digest string, module []byte) (*Module, error) {
	m, err := guest.Validate(where, module)
	if err != nil {
		return nil, err
	}
	if c.config.Tiered && m.Restorable && c.trusted.name == guest.EngineCompiler && !c.trusted.has(m) {
		return c.interpreted(ctx, where, digest, m)
	}
	var initial []byte
	var initErr error
	var wg sync.WaitGroup
	wg.Go(func() { // in parallel with the compiler
		initial, initErr = c.trusted.initialSnapshot(m, func() ([]byte, error) { return pool.InitialSnapshot(where, digest, m) })
	})
	code, err := c.trusted.compile(ctx, where, m)
	wg.Wait()
	if err = cmp.Or(initErr, err); err != nil { // the first says more
		if code != nil {
			err = errors.Join(err, code.Close())
		}
		return nil, err
	}
	m.Whole, m.Bare = nil, nil
	return &Module{Module: pool.NewModule(digest, m, initial, code)}, nil
}

// Untrusted prepares a third-party module. A child process validates,
// initializes and compiles it, unless the cache records that one did. Errors are
// those of [Compiler.Trusted].
func (c *Compiler) Untrusted(ctx context.Context, where, digest string, module []byte) (*Module, error) {
	m, err := guest.Validate(where, module)
	if err != nil {
		return nil, err
	}
	e, err := c.openUntrusted()
	if err != nil {
		return nil, &guest.Error{Code: guest.CodeCache, Where: where, What: guest.Clip(err.Error()), Fix: "free space in the folder for temporary files, or name a cache", Err: err}
	}
	select {
	case c.child <- struct{}{}:
		defer func() { <-c.child }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	initial, ok := e.lookup(m)
	if !ok {
		c.children++
		if initial, err = e.compileInChild(ctx, c.newJob(where, module), module, m); err != nil {
			return nil, err
		}
	}
	// The code comes from the cache: the child compiled the same bytes with the
	// same program.
	code, err := pool.Compile(ctx, e.runtime, e.name, where, m, 1)
	if err != nil {
		return nil, err
	}
	m.Whole, m.Bare = nil, nil
	return &Module{Module: pool.NewModule(digest, m, initial, code)}, nil
}

// An engine is a wazero runtime with the host functions, and its cache.
type engine struct {
	name      string
	runtime   wazero.Runtime
	cache     wazero.CompilationCache // nil: compiled code is not kept
	dir       string                  // of the cache; empty: there is none
	temporary bool                    // remove dir at the end
}

// openEngine opens an engine. Without dir it has no cache.
func openEngine(dir, name string) (*engine, error) {
	e := &engine{name: name, dir: dir}
	var err error
	if dir != "" && name == guest.EngineCompiler {
		if e.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			return nil, &guest.Error{
				Code: guest.CodeCache, What: "the cache cannot be used: " + err.Error(), Where: dir,
				Fix: "name another folder that can be written to", Err: err,
			}
		}
	}
	if e.runtime, err = guest.OpenRuntime(context.Background(), name, e.cache); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// openUntrusted opens an engine whose cache only child processes write to: dir,
// or a temporary folder.
func openUntrusted(dir, name string) (*engine, error) {
	if dir != "" {
		return openEngine(dir, name)
	}
	dir, err := os.MkdirTemp("", "moot-policies-")
	if err != nil {
		return nil, fmt.Errorf("making a cache: %w", err)
	}
	e, err := openEngine(dir, name)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	e.temporary = true
	return e, nil
}

func (e *engine) close() error {
	var errs []error
	if e.runtime != nil {
		errs = append(errs, e.runtime.Close(context.Background()))
	}
	if e.cache != nil {
		errs = append(errs, e.cache.Close(context.Background()))
	}
	if e.temporary {
		errs = append(errs, os.RemoveAll(e.dir))
	}
	return errors.Join(errs...)
}

// compile compiles a module, or loads its code from the cache. It ends soon
// after ctx is done.
func (e *engine) compile(ctx context.Context, where string, m *wasm.Metered) (*pool.Code, error) {
	if e.cache != nil && !e.has(m) {
		if _, err := compileEntry(ctx, e.dir, where, m); err != nil {
			if ctx.Err() != nil || errors.As(err, new(*guest.Error)) {
				return nil, err
			}
			// The cache cannot be written to: compile without it.
		}
	}
	return pool.Compile(ctx, e.runtime, e.name, where, m, pool.Workers())
}

// has reports whether the cache holds the code of a module.
func (e *engine) has(m *wasm.Metered) bool {
	return e.cache != nil && hasEntry(e.dir, readEntryName(entryNamePath(e.dir, m)))
}

// initialSnapshot returns the encoded initial snapshot of a module from the
// cache, or takes it. A cache that cannot be written to costs time only.
func (e *engine) initialSnapshot(m *wasm.Metered, take func() ([]byte, error)) ([]byte, error) {
	if e.dir == "" || !m.Restorable {
		return take()
	}
	path := filepath.Join(e.dir, "images", guest.Digest(m.Whole))
	if b, err := os.ReadFile(path); err == nil && len(b) > 0 && pool.ValidSnapshot(b, m) {
		return b, nil
	}
	b, err := take()
	if err == nil {
		_ = atomicfile.Write(path, b)
	}
	return b, err
}
