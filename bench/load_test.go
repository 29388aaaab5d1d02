package bench

import (
	"context"
	"testing"

	extism "github.com/extism/go-sdk"
	"github.com/folkmoot/moot/bench/guests/goplugin/proto"
	"github.com/folkmoot/moot/plugins"
	"github.com/tetratelabs/wazero"
	"github.com/wapc/wapc-go"
	engine "github.com/wapc/wapc-go/engines/wazero"
)

// BenchmarkLoad is what a program pays from a module's bytes to an instance
// that can be called. Cold is without a cache; cached is with the files that
// an earlier process left.
func BenchmarkLoad(b *testing.B) {
	for _, l := range []struct {
		name string
		load func(b *testing.B, guest, cache string)
	}{
		{"moot/go-kit", loadMoot("go:github.com/folkmoot/moot/policies/templates/go", true)},
		{"moot/c", loadMoot("../policies/policytest/testdata/guests/c.wasm", true)},
		{"moot-untrusted/c", loadMoot("../policies/policytest/testdata/guests/c.wasm", false)},
		{"extism/go-kit", loadExtism},
	} {
		b.Run(l.name+"/cold", func(b *testing.B) {
			for b.Loop() {
				l.load(b, l.name, b.TempDir())
			}
		})
		b.Run(l.name+"/cached", func(b *testing.B) {
			dir := b.TempDir()
			l.load(b, l.name, dir)
			for b.Loop() {
				l.load(b, l.name, dir)
			}
		})
	}
	b.Run("wapc/go-kit/cold", func(b *testing.B) {
		guest := wasm(b, "go:"+guestsHere+"wapckit")
		for b.Loop() {
			loadWapc(b, guest)
		}
	})
	b.Run("goplugin/go-protobuf/cold", func(b *testing.B) {
		path := goGuest(b, guestsHere+"goplugin")
		for b.Loop() {
			loadGoplugin(b, path)
		}
	})
}

func loadMoot(path string, trusted bool) func(*testing.B, string, string) {
	return func(b *testing.B, _, cache string) {
		h, err := plugins.NewHost(plugins.Config{CacheDir: cache})
		if err != nil {
			b.Fatal(err)
		}
		load(b, h, plugins.Module{Name: "polite", Wasm: wasm(b, path), Trusted: trusted})
		if err := h.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func loadExtism(b *testing.B, _, dir string) {
	ctx := context.Background()
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	m := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm(b, "go:"+guestsHere+"extismkit")}}}
	c := extism.PluginConfig{EnableWasi: true, RuntimeConfig: wazero.NewRuntimeConfig().WithCompilationCache(cache)}
	p, err := extism.NewPlugin(ctx, m, c, extismKitLog())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := extismCall(ctx, p, []byte("{}")); err != nil { // the runtime of a guest in Go starts at its first call
		b.Fatal(err)
	}
	_ = p.Close(ctx)
	_ = cache.Close(ctx)
}

func loadWapc(b *testing.B, guest []byte) {
	ctx := context.Background()
	m, err := wapcEngine.New(ctx, wapc.NoOpHostCallHandler, guest, &wapc.ModuleConfig{})
	if err != nil {
		b.Fatal(err)
	}
	m.(*engine.Module).WithConfig(startReactor)
	if _, err := m.Instantiate(ctx); err != nil {
		b.Fatal(err)
	}
	_ = m.Close(ctx)
}

func loadGoplugin(b *testing.B, path string) {
	ctx := context.Background()
	loader, err := proto.NewPolicyPlugin(ctx)
	if err != nil {
		b.Fatal(err)
	}
	p, err := loader.Load(ctx, path)
	if err != nil {
		b.Fatal(err)
	}
	_ = p.Close(ctx)
}
