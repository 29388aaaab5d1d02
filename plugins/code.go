package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// setUpFuel is what a module may use for its start function and _initialize.
const setUpFuel = DefFuel

// check rewrites a module and refuses what is no policy of this ABI.
func check(where string, module []byte) (*wasm.Metered, error) {
	m, err := wasm.Meter(module, wasm.Default, wasm.Budget{Fuel: setUpFuel, Depth: MaxDepth, Pauses: true})
	if err != nil {
		return nil, refusal(where, err)
	}
	for _, im := range m.Imports {
		if im.Other != "" {
			return nil, &Error{
				Code: CodeImports, Where: where, What: fmt.Sprintf("imports %s, %q %q", im.Other, clip(im.Module), clip(im.Name)),
				Fix: "define it in the module: a policy may import functions only",
			}
		}
		if err := checkImport(where, im.Module, im.Name, im.Type.Params, im.Type.Results); err != nil {
			return nil, err
		}
	}
	return m, checkABI(where, m)
}

// refusal gives an error of the rewriter its code and its fix.
func refusal(where string, err error) error {
	e := &Error{Where: where, What: clip(err.Error()), Err: err}
	var w *wasm.Error
	if !errors.As(err, &w) {
		w = &wasm.Error{}
	}
	switch w.Kind {
	case wasm.Exceeds:
		e.Code, e.Fix = CodeLimits, "build a smaller module: docs/policies.md lists the limits"
	case wasm.Unsupported:
		e.Code, e.Fix = CodeFeatures, "build for WebAssembly 2.0, without table.grow, threads, 64-bit memories, tail calls and exceptions"
	default:
		e.Code, e.What, e.Fix = CodeMalformed, "not a valid module: "+e.What, "build it again"
	}
	return e
}

// A code is the compiled form of a module, shared by all policies made of it.
type code struct {
	digest   string
	metered  *wasm.Metered
	compiled wazero.CompiledModule
	runtime  wazero.Runtime
	base     []byte // form of the image after _initialize; nil: instances start from no image
}

// compile compiles what decisions run: the bare form where instances start
// from an image, else the whole.
func compile(ctx context.Context, r wazero.Runtime, where string, m *wasm.Metered, workers int) (wazero.CompiledModule, error) {
	module := m.Bare
	if !m.Rewindable {
		module = m.Whole
	}
	c, err := r.CompileModule(experimental.WithCompilationWorkers(ctx, workers), module)
	if err != nil {
		return nil, invalid(where, err)
	}
	return c, nil
}

// mostBytes is what a memory may grow to: so many pages, or fewer when the
// module says so.
func mostBytes(m *wasm.Metered, pages uint32) int { return int(min(pages, m.MaxPages)) << 16 }

// invalid is what the engine says of a module that the rewriter let pass.
func invalid(where string, err error) error {
	return &Error{
		Code: CodeMalformed, Where: where, What: "not a valid module: " + firstLine(err.Error()),
		Fix: "build it again", Err: err,
	}
}

// checkABI refuses a module that is no policy of ABI 1. The marker comes
// first: without it the other complaints would mislead.
func checkABI(where string, m *wasm.Metered) error {
	exports := map[string]wasm.Export{}
	memories := 0
	for _, e := range m.Exports {
		exports[e.Name] = e
		if e.IsMemory() {
			memories++
		}
	}
	if !exports[exportMarker].IsFunc() || exports[exportMarker].Name == "" {
		return &Error{
			Code: CodeABI, Where: where, What: notABI(exports),
			Fix: "export " + exportMarker + " of type () -> (), as the kits do, or use a policy that was built for ABI 1",
		}
	}
	if memories != 1 || !exports[exportMemory].IsMemory() {
		return &Error{
			Code: CodeABI, Where: where, What: fmt.Sprintf("exports %d memories, or none named memory", memories),
			Fix: "export the module's one memory as memory",
		}
	}
	for _, want := range abiExports {
		if err := want.check(where, m, exports[want.name]); err != nil {
			return err
		}
	}
	return nil
}

// check compares an export with what the ABI says; the zero Export is none.
func (want abiExport) check(where string, m *wasm.Metered, e wasm.Export) error {
	if e.Name == "" && want.optional {
		return nil
	}
	if e.Name == "" {
		return &Error{
			Code: CodeABI, Where: where, What: "exports no function " + want.name,
			Fix: "export " + want.name + " of type " + signature(want.params, want.results),
		}
	}
	got := "that of something else than a function"
	if e.IsFunc() {
		t := m.FuncType(e)
		got = signature(t.Params, t.Results)
	}
	if got != signature(want.params, want.results) {
		return &Error{
			Code: CodeSignature, Where: where, What: want.name + " has the type " + got,
			Fix: "give it the type " + signature(want.params, want.results),
		}
	}
	return nil
}

// notABI says what a module without the marker is instead.
func notABI(exports map[string]wasm.Export) string {
	best := ""
	for name := range exports {
		if v, ok := strings.CutPrefix(name, exportMarkerStem); ok && len(v) < 8 && v > best {
			best = v
		}
	}
	if best != "" {
		return "speaks ABI " + clip(best) + "; this host speaks 1"
	}
	return "not a room policy, or another ABI: it does not export " + exportMarker
}

func signature(params, results []api.ValueType) string {
	return "(" + typeNames(params) + ") -> (" + typeNames(results) + ")"
}

func typeNames(ts []api.ValueType) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = api.ValueTypeName(t)
	}
	return strings.Join(names, ", ")
}
