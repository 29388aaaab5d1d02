package plugins

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// An instance is one instance of a module with the world it lives in. It is
// used by one goroutine at a time.
type instance struct {
	module        api.Module
	memory        *memory
	world         *world
	globals       []api.MutableGlobal // fuel, depth and stop are the last
	pace          pace
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

// newInstance makes an instance on a memory, which it owns from then on.
// Nothing of it has run.
func newInstance(r wazero.Runtime, c wazero.CompiledModule, m *wasm.Metered, mem *memory, w *world) (*instance, error) {
	in := &instance{memory: mem, world: w}
	in.ctx = w.in(context.Background())
	allocate := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return mem })
	var err error
	if in.module, err = r.InstantiateModule(experimental.WithMemoryAllocator(in.ctx, allocate), c, moduleConfig); err != nil {
		mem.Free()
		return nil, err
	}
	in.globals = mutableGlobals(in.module, m.Mutable)
	mem.pause = in.pause
	w.fuel = in.fuel()
	in.alloc = in.module.ExportedFunction(exportAlloc)
	in.decide = in.module.ExportedFunction(exportDecide)
	return in, nil
}

func (in *instance) fuel() api.MutableGlobal  { return in.globals[len(in.globals)-3] }
func (in *instance) depth() api.MutableGlobal { return in.globals[len(in.globals)-2] }
func (in *instance) stop() api.MutableGlobal  { return in.globals[len(in.globals)-1] }

// left returns the fuel that is left, negative when it ran out.
func (in *instance) left() int64 { return int64(in.fuel().Get()) }

// close frees the instance and its memory.
func (in *instance) close() { _ = in.module.Close(in.ctx) } // fails only for a second exit code

// call calls a function of the module with what is on the stack, and leaves
// there what it returns.
func (in *instance) call(f api.Function) error {
	in.depth().Set(MaxDepth)
	return f.CallWithStack(in.ctx, in.stack[:])
}

// initialize runs the module's start function, and what its language wants run
// once.
func (in *instance) initialize() error {
	for _, name := range []string{wasm.ExportStart, exportInitialize} {
		f := in.module.ExportedFunction(name)
		if f == nil {
			continue
		}
		if err := in.call(f); err != nil {
			return fmt.Errorf("running %s: %w", name, err)
		}
	}
	return nil
}

// configure hands the policy its settings.
func (in *instance) configure(settings []byte) error {
	f := in.module.ExportedFunction(exportConfigure)
	if f == nil {
		return nil
	}
	ptr, err := in.place(settings)
	if err != nil {
		return err
	}
	in.stack = [2]uint64{uint64(ptr), uint64(len(settings))}
	if err := in.call(f); err != nil {
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
	errPlace           = errors.New("the answer lies outside the memory")
)

// errLong is an answer over the bound.
type errLong uint32

func (e errLong) Error() string {
	return fmt.Sprintf("an answer of %d bytes; at most %d", uint32(e), maxOutput)
}

// place writes b to where the guest wants it.
func (in *instance) place(b []byte) (uint32, error) {
	in.stack[0] = uint64(len(b))
	if err := in.call(in.alloc); err != nil {
		return 0, fmt.Errorf("running %s: %w", exportAlloc, err)
	}
	ptr := uint32(in.stack[0])
	if ptr == 0 || !in.module.Memory().Write(ptr, b) {
		return 0, errRefusedInput
	}
	return ptr, nil
}

// shrink puts the size of a memory that has grown back to that of its image.
// wazero has no call for it. But the length of a memory is that of its exported
// field Buffer, and growing by one page makes the engine take base and length
// from there; so Buffer is set one page short and grown. Where the field is
// not as it was in v1.12.0 the instance is given up, which costs time only.
func (in *instance) shrink() error {
	m := in.module.Memory()
	size := uint32(len(in.memory.image))
	if m.Size() == size {
		return nil
	}
	const page = 1 << 16
	f := reflect.ValueOf(m).Elem().FieldByName("Buffer")
	if size < page || !f.IsValid() || !f.CanSet() || f.Type() != reflect.TypeFor[[]byte]() {
		return errOutgrown
	}
	f.SetBytes(in.memory.buf[: size-page : size-page])
	if _, ok := m.Grow(1); !ok || m.Size() != size {
		return errOutgrown
	}
	return nil
}

var errOutgrown = errors.New("the memory has grown too far to be put back")

// run makes one decision, after begin. What it returns is valid until the
// next run.
func (in *instance) run(input []byte) ([]byte, error) {
	ptr, err := in.place(input)
	if err != nil {
		return nil, err
	}
	in.stack = [2]uint64{uint64(ptr), uint64(len(input))}
	if err := in.call(in.decide); err != nil {
		return nil, fmt.Errorf("running %s: %w", exportDecide, err)
	}
	if in.stack[0] == 0 {
		return nil, errFailed
	}
	size := uint32(in.stack[0])
	if size > maxOutput {
		return nil, errLong(size)
	}
	b, ok := in.module.Memory().Read(uint32(in.stack[0]>>32), size)
	if !ok {
		return nil, errPlace
	}
	in.out = append(in.out[:0], b...)
	return in.out, nil
}
