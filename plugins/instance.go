package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// An instance is one instance of a module with the world it lives in. It is
// used by one goroutine at a time.
type instance struct {
	module        api.Module
	world         *world
	ctx           context.Context // of every call: leads host functions to world
	alloc, decide api.Function
	stack         [2]uint64
	out           []byte
}

type noRandom struct{}

func (noRandom) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// moduleConfig starts nothing by itself. The random source only replaces
// wazero's default, which costs 10 us an instance and is never read.
var moduleConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(noRandom{})

func newInstance(ctx context.Context, r wazero.Runtime, code wazero.CompiledModule, w *world) (*instance, error) {
	ctx = w.in(ctx)
	m, err := r.InstantiateModule(ctx, code, moduleConfig)
	if err != nil {
		return nil, err
	}
	return &instance{
		module: m, world: w, ctx: ctx,
		alloc: m.ExportedFunction(exportAlloc), decide: m.ExportedFunction(exportDecide),
	}, nil
}

func (in *instance) close() { _ = in.module.Close(in.ctx) } // fails only for a second exit code

// setUp runs what runs once: _initialize and configure.
func (in *instance) setUp(settings []byte) error {
	if f := in.module.ExportedFunction(exportInitialize); f != nil {
		if _, err := f.Call(in.ctx); err != nil {
			return fmt.Errorf("running %s: %w", exportInitialize, err)
		}
	}
	f := in.module.ExportedFunction(exportConfigure)
	if f == nil {
		return nil
	}
	ptr, err := in.place(settings)
	if err != nil {
		return err
	}
	in.stack = [2]uint64{uint64(ptr), uint64(len(settings))}
	if err := f.CallWithStack(in.ctx, in.stack[:]); err != nil {
		return fmt.Errorf("running %s: %w", exportConfigure, err)
	}
	if uint32(in.stack[0]) == 0 {
		return errRefusedSettings
	}
	return nil
}

var (
	errRefusedSettings = errors.New("the policy refused its settings")
	errRefusedInput    = errors.New("roompolicy_alloc had no room for the input")
	errFailed          = errors.New("roompolicy_decide returned 0")
	errOutput          = errors.New("the answer lies outside the memory, or is too long")
)

// place writes b to where the guest wants it.
func (in *instance) place(b []byte) (uint32, error) {
	in.stack[0] = uint64(len(b))
	if err := in.alloc.CallWithStack(in.ctx, in.stack[:]); err != nil {
		return 0, fmt.Errorf("running %s: %w", exportAlloc, err)
	}
	ptr := uint32(in.stack[0])
	if ptr == 0 || !in.module.Memory().Write(ptr, b) {
		return 0, errRefusedInput
	}
	return ptr, nil
}

// run makes one decision. What it returns is valid until the next run.
func (in *instance) run(input []byte) ([]byte, error) {
	ptr, err := in.place(input)
	if err != nil {
		return nil, err
	}
	in.stack = [2]uint64{uint64(ptr), uint64(len(input))}
	if err := in.decide.CallWithStack(in.ctx, in.stack[:]); err != nil {
		return nil, fmt.Errorf("running %s: %w", exportDecide, err)
	}
	if in.stack[0] == 0 {
		return nil, errFailed
	}
	size := uint32(in.stack[0])
	if size > maxOutput {
		return nil, errOutput
	}
	b, ok := in.module.Memory().Read(uint32(in.stack[0]>>32), size)
	if !ok {
		return nil, errOutput
	}
	in.out = append(in.out[:0], b...)
	return in.out, nil
}

// runError gives the error of a run its code and its sentence.
func runError(where string, err error) *Error {
	e := &Error{Code: CodeTrap, Where: where, Err: err, Fix: "report it to the policy's author, with the saved input"}
	var exit *sys.ExitError
	switch {
	case errors.Is(err, errRefusedInput):
		e.Code, e.What, e.Fix = CodeMemory, err.Error(), "allow the policy more memory, or less history"
	case errors.Is(err, errOutput):
		e.Code, e.What = CodeOutput, err.Error()
	case errors.Is(err, errFailed):
		e.Code, e.What = CodeTrap, "the policy failed: "+err.Error()
	case errors.As(err, &exit):
		e.What = fmt.Sprintf("the policy exited with code %d", exit.ExitCode())
	case strings.Contains(err.Error(), "stack overflow"):
		e.Code, e.What = CodeDepth, "the policy called too deep"
		e.Fix = "the policy's author has to bound its recursion"
	default:
		e.What = "the policy failed: " + firstLine(err.Error())
	}
	return e
}

// firstLine leaves the trace of a wasm error out.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return clip(s)
}
