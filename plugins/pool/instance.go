package pool

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// An instance is one instance of a module with its environment. One goroutine
// at a time uses it.
type instance struct {
	code          *Code
	module        api.Module
	memory        *memory
	env           *guest.Env
	globals       []api.MutableGlobal // fuel, depth and yieldAt are the last
	preemption    preemption
	setUpFuel     uint64          // that a decision spent on setting up this instance
	ctx           context.Context // of every call: host functions find env in it
	alloc, decide api.Function
	stack         [2]uint64
}

type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// moduleConfig starts no function by itself. The random source only replaces
// wazero's default, which costs 10 us an instance and is never read.
var moduleConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(zeroReader{})

// newInstance makes an instance on a memory, which it owns from then on. No
// code of the module has run.
func newInstance(c *Code, m *wasm.Metered, mem *memory, env *guest.Env) (*instance, error) {
	in := &instance{code: c, memory: mem, env: env}
	in.ctx = env.WithContext(context.Background())
	allocate := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return mem })
	var err error
	if in.module, err = c.runtime.InstantiateModule(experimental.WithMemoryAllocator(in.ctx, allocate), c.compiled, moduleConfig); err != nil {
		mem.Free()
		return nil, err
	}
	for _, name := range m.Mutable {
		in.globals = append(in.globals, in.module.ExportedGlobal(name).(api.MutableGlobal))
	}
	mem.yieldCheck = in.yieldCheck
	env.Fuel = in.fuel()
	in.alloc = in.module.ExportedFunction(guest.ExportAlloc)
	in.decide = in.module.ExportedFunction(guest.ExportDecide)
	return in, nil
}

func (in *instance) fuel() api.MutableGlobal    { return in.globals[len(in.globals)-3] }
func (in *instance) depth() api.MutableGlobal   { return in.globals[len(in.globals)-2] }
func (in *instance) yieldAt() api.MutableGlobal { return in.globals[len(in.globals)-1] }

// left returns the fuel that is left, negative when it ran out.
func (in *instance) left() int64 { return int64(in.fuel().Get()) }

// used returns the fuel that was used since a run began with so much.
func (in *instance) used(fuel uint64) uint64 { return uint64(int64(fuel) - in.left()) }

// close frees the instance and its memory.
func (in *instance) close() { _ = in.module.Close(in.ctx) } // fails only for a second exit code

// call calls a function of the module with the arguments on the stack, and
// leaves its results there.
func (in *instance) call(f api.Function) error {
	in.depth().Set(guest.MaxDepth)
	return f.CallWithStack(in.ctx, in.stack[:])
}

// initialize runs the module's start function and its language's _initialize.
func (in *instance) initialize() error {
	for _, name := range []string{wasm.ExportStart, guest.ExportInitialize} {
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
	f := in.module.ExportedFunction(guest.ExportConfigure)
	if f == nil {
		return nil
	}
	ptr, err := in.place(settings)
	if err != nil {
		return err
	}
	in.stack = [2]uint64{uint64(ptr), uint64(len(settings))}
	if err := in.call(f); err != nil {
		return fmt.Errorf("running %s: %w", guest.ExportConfigure, err)
	}
	if uint32(in.stack[0]) == 0 {
		return errSettingsRefused
	}
	return nil
}

// place writes b to where the module's alloc wants it, and returns the address.
func (in *instance) place(b []byte) (uint32, error) {
	in.stack[0] = uint64(len(b))
	if err := in.call(in.alloc); err != nil {
		return 0, fmt.Errorf("running %s: %w", guest.ExportAlloc, err)
	}
	ptr := uint32(in.stack[0])
	if ptr == 0 || !in.module.Memory().Write(ptr, b) {
		return 0, errInputRefused
	}
	return ptr, nil
}

// run makes one decision, after begin. The answer is a part of the
// module's memory.
func (in *instance) run(input []byte) ([]byte, error) {
	ptr, err := in.place(input)
	if err != nil {
		return nil, err
	}
	in.stack = [2]uint64{uint64(ptr), uint64(len(input))}
	if err := in.call(in.decide); err != nil {
		return nil, fmt.Errorf("running %s: %w", guest.ExportDecide, err)
	}
	if in.stack[0] == 0 {
		return nil, errNoAnswer
	}
	size := uint32(in.stack[0])
	if size > guest.MaxOutput {
		return nil, answerTooLong(size)
	}
	b, ok := in.module.Memory().Read(uint32(in.stack[0]>>32), size)
	if !ok {
		return nil, errAnswerOutside
	}
	return b, nil
}

// shrink restores the size of a memory that has grown. wazero has no call for
// it. But the length of a memory is that of its exported field Buffer, and
// growing by one page makes the engine read base and length from there. So
// shrink sets Buffer one page short and grows. Where the field differs from
// v1.12.0 the caller gives up the instance, which costs time only.
func (in *instance) shrink() error {
	m := in.module.Memory()
	size := uint32(len(in.memory.initial))
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

var errOutgrown = errors.New("the memory has grown too far to be restored")
