package pool

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// A Code is a module in the form of one engine.
type Code struct {
	Engine string // guest.EngineCompiler or guest.EngineInterpreter

	runtime  wazero.Runtime // of this code alone
	compiled wazero.CompiledModule
	whole    bool // has data segments, which an instance from a snapshot overwrites
}

// Compile compiles the form of a module that decisions run: the bare one when
// instances start from a snapshot, else the whole one. The code takes over the
// runtime, which is closed on an error. With two workers or more Compile ends
// soon after ctx is done.
func Compile(ctx context.Context, r wazero.Runtime, engine, where string, m *wasm.Metered, workers int) (*Code, error) {
	module := m.Bare
	if !m.Restorable {
		module = m.Whole
	}
	c, err := r.CompileModule(experimental.WithCompilationWorkers(ctx, workers), module)
	if err != nil {
		_ = r.Close(context.Background())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, guest.EngineError(where, err)
	}
	return &Code{Engine: engine, runtime: r, compiled: c, whole: !m.Restorable}, nil
}

// Interpret prepares the whole module for the interpreter, in a runtime of its
// own. That takes a tenth of compiling it.
func Interpret(ctx context.Context, where string, m *wasm.Metered) (*Code, error) {
	r, err := guest.OpenRuntime(ctx, guest.EngineInterpreter, nil)
	if err != nil {
		return nil, err
	}
	c, err := r.CompileModule(ctx, m.Whole)
	if err != nil {
		_ = r.Close(ctx)
		return nil, guest.EngineError(where, err)
	}
	return &Code{Engine: guest.EngineInterpreter, runtime: r, compiled: c, whole: true}, nil
}

// Close frees the code and ends its instances, so none may be running.
func (c *Code) Close() error { return c.runtime.Close(context.Background()) }

// release frees the code without its runtime, so that its instances can go on.
// The garbage collector frees the runtime after the last of them.
func (c *Code) release() error { return c.compiled.Close(context.Background()) }

// InitialSnapshot runs a module's start function and _initialize and returns
// the encoded snapshot from which its policies are configured. It is nil when
// instances cannot start from a snapshot. It runs on the interpreter, because
// compiling a module to run it once takes longer, and because native code
// cannot be interrupted.
func InitialSnapshot(where, digest string, m *wasm.Metered) ([]byte, error) {
	if !m.Restorable {
		return nil, nil
	}
	c, err := Interpret(context.Background(), where, m)
	if err != nil {
		return nil, err
	}
	b, err := c.InitialSnapshot(where, digest, m)
	return b, errors.Join(err, c.Close())
}

// InitialSnapshot is the function of this name, with code of [Interpret].
func (c *Code) InitialSnapshot(where, digest string, m *wasm.Metered) ([]byte, error) {
	env := &guest.Env{Initializing: true}
	env.Begin(0, digest)
	in, err := newInstance(c, m, &memory{maxBytes: MaxBytes(m, guest.MaxMemoryPages)}, env)
	if err != nil {
		return nil, startError(where, err)
	}
	in.begin(context.Background(), guest.SetupFuel, 0, startStopwatch())
	defer in.preemption.watch.stop()
	if err := in.initialize(); err != nil {
		defer in.close()
		return nil, in.setupError(where, guest.SetupFuel, err)
	}
	return takeSnapshot(in, m.Mutable).appendBinary(nil), nil
}

// ValidSnapshot reports whether b is a snapshot of m. Without bytes it is the
// absent snapshot of a module that cannot start from one.
func ValidSnapshot(b []byte, m *wasm.Metered) bool {
	if len(b) == 0 {
		return !m.Restorable
	}
	_, err := decodeSnapshot(b, len(m.Mutable))
	return err == nil
}

// MaxBytes returns the limit of a memory: so many pages, or fewer when the
// module declares fewer.
func MaxBytes(m *wasm.Metered, pages uint32) int { return int(min(pages, m.MaxPages)) << 16 }

// A Module is what all policies of one module share. Its methods are safe for
// concurrent use.
type Module struct {
	digest  string
	metered *wasm.Metered
	initial []byte // encoded initial snapshot; nil: instances start from none

	mu   sync.RWMutex // held for reading while an instance is made
	code *Code
}

// NewModule returns a module that runs code. initial is its encoded initial
// snapshot, or nil.
func NewModule(digest string, m *wasm.Metered, initial []byte, code *Code) *Module {
	return &Module{digest: digest, metered: m, initial: initial, code: code}
}

// Code returns the code that new instances run.
func (m *Module) Code() *Code {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.code
}

// Replace lets new instances run other code, and releases the code before, of
// which instances may be running.
func (m *Module) Replace(code *Code) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.code
	m.code = code
	return old.release()
}

// Close frees the code.
func (m *Module) Close() error { return m.Code().Close() }

// newInstance makes an instance. Code that is replaced meanwhile stays open.
func (m *Module) newInstance(mem *memory, env *guest.Env) (*instance, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return newInstance(m.code, m.metered, mem, env)
}

// Workers is the number of workers of a compilation that uses the machine.
func Workers() int { return max(2, runtime.GOMAXPROCS(0)) }
