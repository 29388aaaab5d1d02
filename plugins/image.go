package plugins

import (
	"bytes"

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

// freeze takes the image of an instance, and its memory with it: the instance
// is closed.
func freeze(in *instance, names []string) *image {
	im := &image{memory: in.memory.buf[:in.module.Memory().Size()], log: in.world.logged()}
	for _, name := range names {
		im.globals = append(im.globals, in.module.ExportedGlobal(name).Get())
	}
	in.close()
	return im
}

// runs calls each for every run of pages that hold anything but zeros.
func runs(b []byte, each func(from, to int) error) error {
	for from := 0; from < len(b); {
		to := from
		for to < len(b) && !bytes.Equal(b[to:to+imagePage], zeros[:]) {
			to += imagePage
		}
		if to > from {
			if err := each(from, to); err != nil {
				return err
			}
		}
		from = to + imagePage
	}
	return nil
}

const imagePage = 4096

var zeros [imagePage]byte

// mutableGlobals returns the globals of m that names lists.
func mutableGlobals(m api.Module, names []string) []api.MutableGlobal {
	gs := make([]api.MutableGlobal, len(names))
	for i, name := range names {
		gs[i] = m.ExportedGlobal(name).(api.MutableGlobal)
	}
	return gs
}
