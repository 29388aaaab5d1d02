package wasm

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// TestRandomModules compares random modules on the interpreter with their metered
// form on both engines: results, traps, memory and globals are the same after each
// call, and both engines use the same fuel. The seed of a module is its number.
// For a few modules that are not metered wazero's compiler gives another answer;
// the rewriter avoids its fault (see separateOrder).
func TestRandomModules(t *testing.T) {
	modules := 5000
	if testing.Short() {
		modules = 500
	}
	var mu sync.Mutex
	total := randomRun{}
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		wg.Go(func() {
			r := newRandomRun(t)
			defer r.close()
			for seed := worker; seed < modules && !t.Failed(); seed += workers {
				r.compare(uint64(seed))
			}
			mu.Lock()
			defer mu.Unlock()
			total.calls, total.traps, total.bytes, total.differ = total.calls+r.calls, total.traps+r.traps, total.bytes+r.bytes, total.differ+r.differ
		})
	}
	wg.Wait()
	t.Logf("%d modules of %d bytes on average, %d calls, %d of them ended in a trap; wazero's engines differ for %d modules",
		modules, total.bytes/modules, total.calls, total.traps, total.differ)
	if total.traps*2 > total.calls || total.traps == 0 {
		t.Error("most calls should end with results, and some in a trap")
	}
}

type randomRun struct {
	t       *testing.T
	engines []wazero.Runtime

	calls, traps, bytes int
	differ              int // modules for which the engines differ without the rewriter
}

func newRandomRun(t *testing.T) *randomRun {
	r := &randomRun{t: t}
	for _, c := range []wazero.RuntimeConfig{wazero.NewRuntimeConfigCompiler(), wazero.NewRuntimeConfigInterpreter()} {
		r.engines = append(r.engines, wazero.NewRuntimeWithConfig(context.Background(), c.WithDebugInfoEnabled(false)))
	}
	return r
}

func (r *randomRun) close() {
	for _, e := range r.engines {
		_ = e.Close(context.Background())
	}
}

// compare runs one module as it is and metered.
func (r *randomRun) compare(seed uint64) {
	module := w.Random(rand.New(rand.NewPCG(seed, 0)))
	r.bytes += len(module)
	metered, err := Meter(module, Default, Budget{Fuel: math.MaxInt64, Depth: math.MaxInt32})
	if err != nil {
		r.t.Errorf("seed %d: %v", seed, err)
		return
	}
	var fuel [2]uint64
	plain := r.outcomes(seed, r.engines[1], module, nil)
	if !slices.Equal(plain, r.outcomes(seed, r.engines[0], module, nil)) {
		r.differ++
	}
	for i, engine := range r.engines {
		got := r.outcomes(seed, engine, metered.Whole, &fuel[i])
		r.calls += len(plain)
		for call := range plain {
			if strings.Contains(plain[call], "wasm error") {
				r.traps++
			}
			if call >= len(got) || got[call] != plain[call] {
				r.t.Errorf("seed %d, engine %d, call %d: %s, metered %s", seed, i, call, plain[call], got[min(call, len(got)-1)])
				return
			}
		}
	}
	if fuel[0] != fuel[1] || fuel[0] == 0 {
		r.t.Errorf("seed %d: %d units of fuel on the compiler, %d on the interpreter", seed, fuel[0], fuel[1])
	}
}

// outcomes calls every exported function twice and describes what can be
// observed after each call. used gets the fuel.
func (r *randomRun) outcomes(seed uint64, engine wazero.Runtime, module []byte, used *uint64) []string {
	ctx := context.Background()
	m, err := engine.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		r.t.Fatalf("seed %d: %v", seed, err)
	}
	defer m.Close(ctx)
	random := rand.New(rand.NewPCG(seed, 1))
	var all []string
	for i := 0; m.ExportedFunction(fmt.Sprint("f", i)) != nil; i++ {
		f := m.ExportedFunction(fmt.Sprint("f", i))
		for range 2 {
			m.ExportedGlobal("g0").(api.MutableGlobal).Set(1000)
			all = append(all, outcome(ctx, m, f, random))
		}
	}
	if used != nil {
		*used = math.MaxInt64 - m.ExportedGlobal(ExportFuel).Get()
	}
	return all
}

// outcome calls f with random arguments.
func outcome(ctx context.Context, m api.Module, f api.Function, random *rand.Rand) string {
	var args []uint64
	for _, t := range f.Definition().ParamTypes() {
		v := uint64(random.IntN(1000))
		if t == api.ValueTypeF64 {
			v = math.Float64bits(float64(v))
		} else if t == api.ValueTypeF32 {
			v = uint64(math.Float32bits(float32(v)))
		}
		args = append(args, v)
	}
	results, err := f.Call(ctx, args...)
	s := ""
	for i, t := range f.Definition().ResultTypes() {
		if err == nil {
			s += observed(t, results[i]) + " "
		}
	}
	if err != nil {
		s, _, _ = strings.Cut(err.Error(), "\n")
	}
	for i := 0; m.ExportedGlobal(fmt.Sprint("g", i)) != nil; i++ {
		g := m.ExportedGlobal(fmt.Sprint("g", i))
		s += " " + observed(g.Type(), g.Get())
	}
	b, _ := m.Memory().Read(0, m.Memory().Size())
	return fmt.Sprintf("%s, %d bytes of memory, %x", s, len(b), sha256.Sum256(b))
}

// observed is a value without the bits of a NaN, which WebAssembly leaves open.
func observed(t api.ValueType, v uint64) string {
	switch t {
	case api.ValueTypeF32:
		return fmt.Sprint(api.DecodeF32(v))
	case api.ValueTypeF64:
		return fmt.Sprint(api.DecodeF64(v))
	case api.ValueTypeI32:
		return fmt.Sprint(uint32(v))
	}
	return fmt.Sprint(v)
}

// TestRandomIsReproducible: a seed gives the same module every time.
func TestRandomIsReproducible(t *testing.T) {
	for seed := range uint64(20) {
		if !slices.Equal(w.Random(rand.New(rand.NewPCG(seed, 0))), w.Random(rand.New(rand.NewPCG(seed, 0)))) {
			t.Errorf("seed %d gives two modules", seed)
		}
	}
}
