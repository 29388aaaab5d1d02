package pool

import (
	"bytes"

	"github.com/tetratelabs/wazero/api"
)

// A snapshot is everything mutable in an instance that was set up: its memory
// and its mutable globals.
type snapshot struct {
	memory  []byte   // whole pages of WebAssembly
	globals []uint64 // in the order of wasm.Metered.Mutable
	log     string   // what the module logged while it was set up
}

// takeSnapshot takes the snapshot of an instance. It closes the instance and
// keeps its memory.
func takeSnapshot(in *instance, names []string) *snapshot {
	s := &snapshot{memory: in.memory.buf[:in.module.Memory().Size()], log: in.env.Logged()}
	for _, name := range names {
		s.globals = append(s.globals, in.module.ExportedGlobal(name).Get())
	}
	in.close()
	return s
}

// nonZeroRuns calls each for every run of pages that are not all zeros.
func nonZeroRuns(b []byte, each func(from, to int) error) error {
	for from := 0; from < len(b); {
		to := from
		for to < len(b) && !bytes.Equal(b[to:to+snapshotPage], zeros[:]) {
			to += snapshotPage
		}
		if to > from {
			if err := each(from, to); err != nil {
				return err
			}
		}
		from = to + snapshotPage
	}
	return nil
}

const snapshotPage = 4096

var zeros [snapshotPage]byte

// mutableGlobals returns the exported globals with these names.
func mutableGlobals(m api.Module, names []string) []api.MutableGlobal {
	gs := make([]api.MutableGlobal, len(names))
	for i, name := range names {
		gs[i] = m.ExportedGlobal(name).(api.MutableGlobal)
	}
	return gs
}
