package plugins

import (
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// An image is everything mutable in an instance that has been set up: its
// memory and its mutable globals. Instances of a policy start from it, and are
// put back to it.
type image struct {
	memory  []byte   // whole pages
	globals []uint64 // in the order of wasm.Metered.Mutable
	log     string   // what the guest logged while it was set up
}

// freeze takes an image of an instance.
func freeze(in *instance, names []string) (*image, error) {
	mem := in.module.Memory()
	b, ok := mem.Read(0, mem.Size())
	if !ok {
		return nil, fmt.Errorf("reading a memory of %d bytes", mem.Size())
	}
	im := &image{memory: append([]byte(nil), b...), log: in.world.logged()}
	for _, name := range names {
		im.globals = append(im.globals, in.module.ExportedGlobal(name).Get())
	}
	return im, nil
}

// mutableGlobals returns the globals of m that names lists.
func mutableGlobals(m api.Module, names []string) []api.MutableGlobal {
	gs := make([]api.MutableGlobal, len(names))
	for i, name := range names {
		gs[i] = m.ExportedGlobal(name).(api.MutableGlobal)
	}
	return gs
}
