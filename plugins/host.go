package plugins

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// Config of a [Host]. The zero value works: it keeps no cache on disk, saves
// no inputs and runs GOMAXPROCS decisions at once on the compiler, where the
// machine has one.
type Config struct {
	CacheDir    string        // compiled modules and frozen images; created when absent
	FailDir     string        // where the inputs of failed decisions are saved; created when absent
	Interpreter bool          // run decisions on the interpreter
	Parallel    int           // decisions at once; 0 means GOMAXPROCS
	CompileTime time.Duration // of the processor, for a third-party module; 0 means DefCompileTime
	AuditEvery  int           // one decision in so many is made again in a new instance and compared; 0 means 1,000, negative never
}

// A Host loads policies and makes their decisions. Its methods are safe for
// concurrent use.
type Host struct {
	config  Config
	engine  string
	runtime wazero.Runtime
	cache   wazero.CompilationCache
	queue   *queue
	slots   slots

	outside func() (*outside, error) // made when the first third-party module comes
	out     *outside
	child   chan struct{} // held by who runs a child

	templates shelf[*template]
	codes     shelf[*code]

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
	h := &Host{config: c, slots: slots{most: max(16, 4*c.Parallel)}, queue: newQueue(c.Parallel)}
	h.child = make(chan struct{}, 1)
	h.outside = sync.OnceValues(func() (*outside, error) {
		o, err := h.newOutside()
		h.out = o
		return o, err
	})
	ctx := context.Background()
	rc, engine := runtimeConfig(c.Interpreter)
	h.engine = engine
	if c.CacheDir != "" && engine == EngineCompiler {
		cache, err := wazero.NewCompilationCacheWithDir(c.CacheDir)
		if err != nil {
			return nil, &Error{
				Code: CodeCache, What: "the cache cannot be used: " + err.Error(), Where: c.CacheDir,
				Fix: "name another folder that can be written to", Err: err,
			}
		}
		h.cache = cache
		rc = rc.WithCompilationCache(cache)
	}
	h.runtime = wazero.NewRuntimeWithConfig(ctx, rc)
	if err := instantiateImports(ctx, h.runtime); err != nil {
		_ = h.Close()
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	return h, nil
}

// Engines, as they stand in a decision's record.
const (
	EngineCompiler    = "compiler"
	EngineInterpreter = "interpreter"
)

func runtimeConfig(interpreter bool) (wazero.RuntimeConfig, string) {
	rc, engine := wazero.NewRuntimeConfigInterpreter(), EngineInterpreter
	if !interpreter && compilerHere() {
		rc, engine = wazero.NewRuntimeConfigCompiler(), EngineCompiler
	}
	return rc.WithDebugInfoEnabled(false), engine // memory is bounded by [memory]
}

// compilerHere follows wazero's list of platforms
// (internal/platform.CompilerSupported, v1.12.0).
func compilerHere() bool {
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "netbsd", "windows", "dragonfly":
		return runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"
	case "solaris", "illumos":
		return runtime.GOARCH == "amd64"
	}
	return false
}

// Engine returns the engine that decisions are made with.
func (h *Host) Engine() string { return h.engine }

func (h *Host) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// Close lets decisions under way end, refuses others and frees everything, the
// policies too.
func (h *Host) Close() error {
	h.mu.Lock()
	closed := h.closed
	h.closed = true
	h.mu.Unlock()
	if closed {
		return nil
	}
	h.queue.shut()
	h.slots.drop(nil)
	for _, t := range h.templates.all() {
		t.close()
	}
	err := h.runtime.Close(context.Background())
	if h.cache != nil {
		err = errors.Join(err, h.cache.Close(context.Background()))
	}
	if h.out != nil {
		err = errors.Join(err, h.out.close())
	}
	return err
}

// dropTemplate frees a template when its last policy goes.
func (h *Host) dropTemplate(t *template) {
	if !h.templates.release(t.key) {
		return
	}
	h.slots.drop(t)
	t.close()
	h.dropCode(t.codeKey, t.code)
}
