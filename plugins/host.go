package plugins

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/folkmoot/moot/plugins/compile"
	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
)

// Config configures a [Host]. The zero value works: it keeps no cache on disk,
// saves no inputs and runs GOMAXPROCS decisions at once on the compiler, where
// wazero has one for the machine.
type Config struct {
	CacheDir    string        // of compiled modules and snapshots; created when absent
	FailDir     string        // for the inputs of failed decisions; created when absent
	Interpreter bool          // run all decisions on the interpreter
	Tiered      bool          // run trusted modules on the interpreter until they are compiled in the background
	Parallel    int           // decisions at once; 0 means GOMAXPROCS
	CompileTime time.Duration // of the processor, for a third-party module; 0 means DefCompileTime
	AuditEvery  int           // every so many decisions one is repeated in a new instance and compared; 0 means 1,000, negative never

	// Preparing is called when a policy is about to be compiled or read from the
	// cache, and done when it is ready or has failed. It may be nil, and is called
	// by several goroutines.
	Preparing func(policy string) (done func())
}

// Engines, as decision records name them.
const (
	EngineCompiler    = guest.EngineCompiler
	EngineInterpreter = guest.EngineInterpreter
)

// WazeroVersion is the version of the engine, as decision records name it.
const WazeroVersion = guest.WazeroVersion

// CheckCache returns the number and the size in bytes of the modules in the
// cache in dir, and an error if other users could change them: they are not
// used then.
func CheckCache(dir string) (modules int, bytes int64, err error) { return compile.CheckCache(dir) }

// A Host loads policies and makes their decisions. Its methods are safe for
// concurrent use.
type Host struct {
	config   Config
	compiler *compile.Compiler
	queue    *queue
	pool     *pool.Pool

	configured refCache[*configured]
	modules    refCache[*compile.Module]
	trusted    atomic.Pointer[digested] // the last trusted module, nil before the first

	mu     sync.Mutex
	closed bool
}

// NewHost starts a host. The caller closes it.
func NewHost(c Config) (*Host, error) {
	if c.Parallel <= 0 {
		c.Parallel = runtime.GOMAXPROCS(0)
	}
	if c.AuditEvery == 0 {
		c.AuditEvery = 1000
	}
	compiler, err := compile.Open(compile.Config{CacheDir: c.CacheDir, Interpreter: c.Interpreter, Tiered: c.Tiered, CPUTime: c.CompileTime})
	if err != nil {
		return nil, err
	}
	return &Host{config: c, compiler: compiler, pool: pool.New(max(16, 4*c.Parallel)), queue: newQueue(c.Parallel)}, nil
}

// Engine returns the engine that decisions are made with. A tiered host also
// uses the interpreter.
func (h *Host) Engine() string { return h.compiler.Engine() }

func (h *Host) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// Close waits for decisions under way, refuses new ones, and frees everything,
// the policies included.
func (h *Host) Close() error {
	h.mu.Lock()
	closed := h.closed
	h.closed = true
	h.mu.Unlock()
	if closed {
		return nil
	}
	h.queue.close()
	h.pool.Drop(nil)
	for _, c := range h.configured.clear() {
		if c != nil { // nil: it is being made, and will fail
			c.Close()
		}
	}
	var errs []error
	for _, m := range h.modules.clear() {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(append(errs, h.compiler.Close())...)
}
