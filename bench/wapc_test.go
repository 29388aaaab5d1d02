package bench

import (
	"bytes"
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/wapc/wapc-go"
	engine "github.com/wapc/wapc-go/engines/wazero"
)

// wapcEngine is waPC's own, with what the author kit imports.
var wapcEngine = engine.EngineWithRuntime(func(ctx context.Context) (wazero.Runtime, error) {
	r, err := engine.DefaultRuntime(ctx)
	if err != nil {
		return nil, err
	}
	nothing := func(context.Context, uint32, uint32, uint32) {}
	_, err = r.NewHostModuleBuilder("roompolicy").NewFunctionBuilder().WithFunc(nothing).Export("log").Instantiate(ctx)
	return r, err
})

// wapcOf is waPC on its wazero engine; fresh makes an instance a decision.
func wapcOf(name, path string, fresh bool) subject {
	return subject{"wapc-" + how(fresh) + "/" + name, func(tb testing.TB) func(testing.TB) call {
		ctx := context.Background()
		m, err := wapcEngine.New(ctx, wapc.NoOpHostCallHandler, wasm(tb, path), &wapc.ModuleConfig{})
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = m.Close(ctx) })
		m.(*engine.Module).WithConfig(startReactor)
		in := room()
		input := in.AppendJSON(nil)
		if fresh {
			return func(testing.TB) call {
				return func(ctx context.Context) ([]byte, error) { return wapcOnce(ctx, m, input) }
			}
		}
		return func(tb testing.TB) call {
			i, err := m.Instantiate(ctx)
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(func() { _ = i.Close(ctx) })
			return func(ctx context.Context) ([]byte, error) { return i.Invoke(ctx, "decide", input) }
		}
	}}
}

// wapcOnce copies the answer, which lies in the instance's memory.
func wapcOnce(ctx context.Context, m wapc.Module, input []byte) ([]byte, error) {
	i, err := m.Instantiate(ctx)
	if err != nil {
		return nil, err
	}
	out, err := i.Invoke(ctx, "decide", input)
	if err != nil {
		return nil, err
	}
	out = bytes.Clone(out)
	return out, i.Close(ctx)
}

// startReactor calls _initialize, which a module of stock Go wants and waPC
// does not call by itself.
func startReactor(c wazero.ModuleConfig) wazero.ModuleConfig {
	return c.WithStartFunctions("_initialize")
}
