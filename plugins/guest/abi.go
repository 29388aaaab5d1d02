package guest

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/tetratelabs/wazero/api"
)

// Exports of a module of ABI 1. The host calls configure once, and alloc and
// decide for every decision. alloc returns where the host may write.
const (
	ExportAlloc      = "roompolicy_alloc"
	ExportDecide     = "roompolicy_decide"
	ExportConfigure  = "roompolicy_configure" // optional
	ExportInitialize = "_initialize"          // optional

	exportMemory       = "memory"
	exportMarkerPrefix = "roompolicy_abi_"
	exportMarker       = exportMarkerPrefix + "1" // never called
)

// WazeroVersion is the version of the engine, as decision records name it.
const WazeroVersion = "v1.12.0"

// MeterVersion is the version of what instructions and host calls cost in fuel.
// It changes with the costs, so that a replay compares only what is comparable.
const MeterVersion = 2

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
	{ExportAlloc, []api.ValueType{i32}, []api.ValueType{i32}, false},
	{ExportDecide, []api.ValueType{i32, i32}, []api.ValueType{i64}, false},
	{ExportConfigure, []api.ValueType{i32, i32}, []api.ValueType{i32}, true},
	{ExportInitialize, nil, nil, true},
}

// Limits of the sandbox. No other package repeats them.
const (
	DefMemoryPages = 256 // of 64 KiB
	MaxMemoryPages = 1024
	DefFuel        = 50_000_000
	MaxFuel        = 500_000_000
	SetupFuel      = 10_000_000    // of the start function and _initialize; Go's runtime takes 2 million
	MaxModule      = 8 << 20       // bytes of a module's file
	MaxDepth       = 1000          // nested calls
	MaxSettings    = 1 << 20       // bytes of a policy's settings
	MaxLog         = policy.MaxLog // bytes
	MaxOutput      = policy.MaxOutput
)

// Digest returns the SHA-256 of b in hex.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
