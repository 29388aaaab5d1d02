package guest

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/folkmoot/moot/policies/policy"
)

// Limits of the sandbox. No other package repeats them.
const (
	DefMemoryPages = 256 // of 64 KiB
	MaxMemoryPages = 1024
	DefFuel        = 50_000_000
	MaxFuel        = 500_000_000
	SetupFuel      = DefFuel       // of the start function and _initialize
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
