package bench

import (
	"context"
	"fmt"
	"testing"

	extism "github.com/extism/go-sdk"
)

// extismOf is Extism, as its README has it; fresh makes an instance a decision.
func extismOf(name, path string, fresh bool) subject {
	return subject{"extism-" + how(fresh) + "/" + name, func(tb testing.TB) func(testing.TB) call {
		ctx := context.Background()
		m := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm(tb, path)}}}
		compiled, err := extism.NewCompiledPlugin(ctx, m, extism.PluginConfig{EnableWasi: true}, extismKitLog())
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = compiled.Close(ctx) })
		in := room()
		input := in.AppendJSON(nil)
		if fresh {
			return func(testing.TB) call {
				return func(ctx context.Context) ([]byte, error) { return extismOnce(ctx, compiled, input) }
			}
		}
		return func(tb testing.TB) call {
			p, err := compiled.Instance(ctx, extism.PluginInstanceConfig{})
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(func() { _ = p.Close(ctx) })
			return func(ctx context.Context) ([]byte, error) { return extismCall(ctx, p, input) }
		}
	}}
}

func extismOnce(ctx context.Context, compiled *extism.CompiledPlugin, input []byte) (out []byte, err error) {
	p, err := compiled.Instance(ctx, extism.PluginInstanceConfig{})
	if err != nil {
		return nil, err
	}
	if out, err = extismCall(ctx, p, input); err != nil {
		return nil, err
	}
	return out, p.Close(ctx)
}

func extismCall(ctx context.Context, p *extism.Plugin, input []byte) ([]byte, error) {
	code, out, err := p.CallWithContext(ctx, "decide", input)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d", code)
	}
	return out, err
}

// extismKitLog is what the author kit imports.
func extismKitLog() []extism.HostFunction {
	i32 := extism.ValueTypeI32
	f := extism.NewHostFunctionWithStack("log", func(context.Context, *extism.CurrentPlugin, []uint64) {}, []extism.ValueType{i32, i32, i32}, nil)
	f.SetNamespace("roompolicy")
	return []extism.HostFunction{f}
}
