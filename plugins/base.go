package plugins

import (
	"context"

	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
)

// initialImage runs a module's start function and _initialize and returns the
// form of the image from which every policy of that module is configured. It runs on the
// interpreter: compiling a module to run it once takes longer, and native code
// cannot be interrupted. nil when the module cannot start from an image.
func initialImage(where, digest string, m *wasm.Metered) ([]byte, error) {
	if !m.Rewindable {
		return nil, nil
	}
	ctx := context.Background()
	rc, _ := runtimeConfig(true)
	r := wazero.NewRuntimeWithConfig(ctx, rc)
	defer r.Close(ctx)
	if err := instantiateImports(ctx, r); err != nil {
		return nil, err
	}
	c, err := r.CompileModule(ctx, m.Whole)
	if err != nil {
		return nil, invalid(where, err)
	}
	w := &world{environ: initEnviron}
	w.begin(0, digest)
	in, err := newInstance(r, c, m, &memory{most: mostBytes(m, MaxMemoryPages)}, w)
	if err != nil {
		return nil, startFailure(where, err)
	}
	in.begin(ctx, setUpFuel, 0)
	if err := in.initialize(); err != nil {
		defer in.close()
		return nil, in.unready(where, setUpFuel, err)
	}
	return freeze(in, m.Mutable).append(nil), nil
}
