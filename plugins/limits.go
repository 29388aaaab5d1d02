package plugins

import "github.com/folkmoot/moot/policies/policy"

// Limits bound one policy. The zero value means the defaults.
type Limits struct {
	MemoryPages uint32 // of 64 KiB; 0 means 256; at most MaxMemoryPages
	Fuel        uint64 // of one decision; 0 means 50 million; at most MaxFuel
}

// Bounds of the sandbox. Nothing else in the program repeats them.
const (
	DefMemoryPages = 256
	MaxMemoryPages = 1024
	DefFuel        = 50_000_000
	MaxFuel        = 500_000_000
	MaxModule      = 8 << 20 // bytes of a module's file
	MaxDepth       = 1000    // calls within calls
	MaxSettings    = 1 << 20 // bytes of a policy's settings
	maxLog         = policy.MaxLog
	maxOutput      = policy.MaxOutput
)

func (l Limits) withDefaults() Limits {
	if l.MemoryPages == 0 {
		l.MemoryPages = DefMemoryPages
	}
	if l.Fuel == 0 {
		l.Fuel = DefFuel
	}
	l.MemoryPages = min(l.MemoryPages, MaxMemoryPages)
	l.Fuel = min(l.Fuel, MaxFuel)
	return l
}
