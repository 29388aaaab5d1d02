package guest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero/api"
)

// Validate checks that a module is a policy of this ABI, and rewrites it so that
// it counts fuel and depth. where names the policy in errors, which are [*Error]
// with a load code.
func Validate(where string, module []byte) (*wasm.Metered, error) {
	m, err := wasm.Meter(module, wasm.Default, wasm.Budget{Fuel: SetupFuel, Depth: MaxDepth, Yields: true})
	if err != nil {
		return nil, moduleError(where, err)
	}
	for _, im := range m.Imports {
		if im.Other != "" {
			return nil, &Error{
				Code: CodeImports, Where: where, What: fmt.Sprintf("imports %s, %q %q", im.Other, Clip(im.Module), Clip(im.Name)),
				Fix: "define it in the module: a policy may import functions only",
			}
		}
		if err := checkImport(where, im.Module, im.Name, im.Type.Params, im.Type.Results); err != nil {
			return nil, err
		}
	}
	return m, checkABI(where, m)
}

// moduleError gives an error of the rewriter its code and its fix.
func moduleError(where string, err error) error {
	e := &Error{Where: where, What: Clip(err.Error()), Err: err}
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

// EngineError wraps the engine's refusal of a module that the rewriter accepted.
func EngineError(where string, err error) error {
	return &Error{
		Code: CodeMalformed, Where: where, What: "not a valid module: " + FirstLine(err.Error()),
		Fix: "build it again", Err: err,
	}
}

// checkABI refuses a module that is not a policy of ABI 1. It checks the marker
// first, because without it the other errors would mislead.
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
		if err := want.validate(where, m, exports[want.name]); err != nil {
			return err
		}
	}
	return nil
}

// validate compares an export with the ABI. The zero Export is a missing one.
func (want abiExport) validate(where string, m *wasm.Metered, e wasm.Export) error {
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
	if int(e.Index) < len(m.Imports) { // all of them are functions
		return &Error{
			Code: CodeABI, Where: where, What: want.name + " is a function that the module imports",
			Fix: "export a function of the module itself",
		}
	}
	return nil
}

// notABI describes a module that lacks the marker.
func notABI(exports map[string]wasm.Export) string {
	best := ""
	for name := range exports {
		if v, ok := strings.CutPrefix(name, exportMarkerPrefix); ok && len(v) < 8 && v > best {
			best = v
		}
	}
	if best != "" {
		return "speaks ABI " + Clip(best) + "; this host speaks 1"
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
