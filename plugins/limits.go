package plugins

import (
	"github.com/folkmoot/moot/plugins/compile"
	"github.com/folkmoot/moot/plugins/guest"
)

// Limits bound one policy. The zero value means the defaults.
type Limits struct {
	MemoryPages uint32 // of 64 KiB; 0 means 256; at most MaxMemoryPages
	Fuel        uint64 // of one decision; 0 means 50 million; at most MaxFuel
}

// Limits of the sandbox.
const (
	DefMemoryPages = guest.DefMemoryPages
	MaxMemoryPages = guest.MaxMemoryPages
	DefFuel        = guest.DefFuel
	MaxFuel        = guest.MaxFuel
	MaxModule      = guest.MaxModule   // bytes of a module's file
	MaxSettings    = guest.MaxSettings // bytes of a policy's settings
	DefCompileTime = compile.DefCPUTime
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
