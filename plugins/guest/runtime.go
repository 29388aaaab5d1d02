package guest

import (
	"context"
	"fmt"
	"runtime"

	"github.com/tetratelabs/wazero"
)

// Engines, as decision records name them.
const (
	EngineCompiler    = "compiler"
	EngineInterpreter = "interpreter"
)

// Engine returns the engine of this machine: the compiler, unless the caller
// wants the interpreter or wazero has no compiler for the platform.
func Engine(interpreter bool) string {
	if interpreter || !compilerSupported() {
		return EngineInterpreter
	}
	return EngineCompiler
}

// OpenRuntime returns a runtime of the engine that has the host functions.
// Compiled code is kept in cache unless that is nil. The caller closes it.
func OpenRuntime(ctx context.Context, engine string, cache wazero.CompilationCache) (wazero.Runtime, error) {
	rc := wazero.NewRuntimeConfigInterpreter()
	if engine == EngineCompiler {
		rc = wazero.NewRuntimeConfigCompiler()
	}
	rc = rc.WithDebugInfoEnabled(false) // limits of memory are with the allocator
	if cache != nil {
		rc = rc.WithCompilationCache(cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, rc)
	if err := instantiateImports(ctx, r); err != nil {
		_ = r.Close(ctx)
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	return r, nil
}

// compilerSupported follows wazero's list of platforms
// (internal/platform.CompilerSupported, v1.12.0).
func compilerSupported() bool {
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "netbsd", "windows", "dragonfly":
		return runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"
	case "solaris", "illumos":
		return runtime.GOARCH == "amd64"
	}
	return false
}
