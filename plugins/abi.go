package plugins

import "github.com/tetratelabs/wazero/api"

// ABI v1: what a module exports. The host calls alloc for a place to write
// to, configure once, and alloc and decide for every decision.
const (
	exportMemory     = "memory"
	exportMarkerStem = "roompolicy_abi_"
	exportMarker     = exportMarkerStem + "1" // never called
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

// An abiExport is a function that a policy exports.
type abiExport struct {
	name            string
	params, results []api.ValueType
	optional        bool
}

var abiExports = []abiExport{
	{exportMarker, nil, nil, false},
	{exportAlloc, []api.ValueType{i32}, []api.ValueType{i32}, false},
	{exportDecide, []api.ValueType{i32, i32}, []api.ValueType{i64}, false},
	{exportConfigure, []api.ValueType{i32, i32}, []api.ValueType{i32}, true},
	{exportInitialize, nil, nil, true},
}
