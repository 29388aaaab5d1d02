package plugins

import (
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// ABI v1: what a module exports. The host calls alloc for a place to write
// to, configure once, and alloc and decide for every decision.
const (
	exportMemory     = "memory"
	exportMarker     = "roompolicy_abi_1" // never called
	exportMarkerStem = "roompolicy_abi_"
	exportAlloc      = "roompolicy_alloc"
	exportDecide     = "roompolicy_decide"
	exportConfigure  = "roompolicy_configure" // optional
	exportInitialize = "_initialize"          // optional
)

// WazeroVersion is the engine that decisions are made with; it stands in
// every decision's record.
const WazeroVersion = "v1.12.0"

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

var abiExports = []struct {
	name            string
	params, results []api.ValueType
	optional        bool
}{
	{exportMarker, nil, nil, false},
	{exportAlloc, []api.ValueType{i32}, []api.ValueType{i32}, false},
	{exportDecide, []api.ValueType{i32, i32}, []api.ValueType{i64}, false},
	{exportConfigure, []api.ValueType{i32, i32}, []api.ValueType{i32}, true},
	{exportInitialize, nil, nil, true},
}

// checkABI refuses a module that is no policy of ABI 1. The marker comes
// first: without it the other complaints would mislead.
func checkABI(where string, m wazero.CompiledModule) error {
	exports := m.ExportedFunctions()
	if exports[exportMarker] == nil {
		return &Error{Code: CodeABI, Where: where, What: notABI(exports), Fix: "export " + exportMarker +
			" of type () -> (), as the kits do, or use a policy that was built for ABI 1"}
	}
	if len(m.ExportedMemories()) != 1 || m.ExportedMemories()[exportMemory] == nil {
		return &Error{
			Code: CodeABI, Where: where, What: "exports no memory named memory, or more than one memory",
			Fix: "export the module's one memory as memory",
		}
	}
	for _, want := range abiExports {
		f := exports[want.name]
		if f == nil && want.optional {
			continue
		}
		if f == nil {
			return &Error{
				Code: CodeABI, Where: where, What: "exports no function " + want.name,
				Fix: "export " + want.name + " of type " + signature(want.params, want.results),
			}
		}
		if got := signature(f.ParamTypes(), f.ResultTypes()); got != signature(want.params, want.results) {
			return &Error{
				Code: CodeSignature, Where: where, What: want.name + " has the type " + got,
				Fix: "give it the type " + signature(want.params, want.results),
			}
		}
	}
	return nil
}

// notABI says what a module without the marker is instead.
func notABI(exports map[string]api.FunctionDefinition) string {
	for name := range exports {
		if v, ok := strings.CutPrefix(name, exportMarkerStem); ok && len(v) < 8 {
			return "speaks ABI " + v + "; this host speaks 1"
		}
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
