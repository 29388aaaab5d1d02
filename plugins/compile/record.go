package compile

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
	"github.com/folkmoot/moot/plugins/wasm"
)

// A record says what a child process prepared: which compiled code, and the
// initial snapshot, which follows. It is valid only for the very program whose
// child wrote it, because another engine would not find the code and would
// compile it in this process; and only while the code is unchanged.
type record struct {
	Entry string // of the compiled code, in the cache
	Sum   string // its SHA-256
	Image int    // bytes of the snapshot
}

// recordPath is the file of a module's record. It is empty where this program
// cannot be told from another.
func recordPath(cache string, m *wasm.Metered) string {
	id := programIdentity()
	if id == "" {
		return ""
	}
	return filepath.Join(cache, "known", guest.Digest([]byte(id+guest.WazeroVersion+guest.Digest(m.Whole))))
}

// lookup returns the initial snapshot of a module that a child prepared before,
// and whether there is a valid record.
func (e *engine) lookup(m *wasm.Metered) (initial []byte, ok bool) {
	path := recordPath(e.dir, m)
	if e.cache == nil || e.temporary || path == "" {
		return nil, false
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	var r record
	initial, err = readFrame(bytes.NewReader(b), &r, func() int { return r.Image }, len(b))
	if err != nil || !hasEntry(e.dir, r.Entry) {
		return nil, false
	}
	code, err := os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(r.Entry)))
	if err != nil || guest.Digest(code) != r.Sum || !pool.ValidSnapshot(initial, m) {
		return nil, false
	}
	if len(initial) == 0 {
		initial = nil
	}
	return initial, true
}

// store records what a child prepared. If that fails the next load only takes
// longer.
func (e *engine) store(m *wasm.Metered, entry string, initial []byte) {
	path := recordPath(e.dir, m)
	if e.cache == nil || e.temporary || path == "" {
		return
	}
	code, err := os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(entry)))
	if err != nil {
		return
	}
	_ = atomicfile.Write(path, appendFrame(nil, record{entry, guest.Digest(code), len(initial)}, initial))
}
