package plugins

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/folkmoot/moot/plugins/wasm"
)

// What a child has prepared need not be prepared again: the compiled code is in
// the cache anyway, and a note beside it keeps the initial image and says which
// code it was. The note counts only for the very program whose child wrote it,
// because another engine would not find the code and would compile it here;
// and only while the code is, byte for byte, what the child left.
type known struct {
	Entry string // of the compiled code, in the cache
	Sum   string // its SHA-256
	Image int    // bytes that follow
}

// knownPath is where the note on a rewritten module is kept; "" where this
// program cannot be told from another.
func knownPath(cache string, m *wasm.Metered) string {
	id := programIdentity()
	if id == "" {
		return ""
	}
	return filepath.Join(cache, "known", digestOf([]byte(id+WazeroVersion+digestOf(m.Whole))))
}

// recall returns the image of a module that a child prepared before.
func (o *outside) recall(m *wasm.Metered) (base []byte, ok bool) {
	path := knownPath(o.dir, m)
	if o.cache == nil || o.own || path == "" {
		return nil, false
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	var k known
	base, err = readFrame(bytes.NewReader(b), &k, func() int { return k.Image }, len(b))
	if err != nil || !cached(o.dir, k.Entry) {
		return nil, false
	}
	code, err := os.ReadFile(filepath.Join(o.dir, filepath.FromSlash(k.Entry)))
	if err != nil || digestOf(code) != k.Sum {
		return nil, false
	}
	if len(base) == 0 && !m.Rewindable {
		return nil, true
	}
	_, err = readImage(base, len(m.Mutable))
	return base, err == nil
}

// note keeps what a child has prepared. Where it cannot be kept the next load
// takes longer, and that is all.
func (o *outside) note(m *wasm.Metered, entry string, base []byte) {
	path := knownPath(o.dir, m)
	if o.cache == nil || o.own || path == "" {
		return
	}
	code, err := os.ReadFile(filepath.Join(o.dir, filepath.FromSlash(entry)))
	if err != nil {
		return
	}
	_ = keep(path, frame(known{entry, digestOf(code), len(base)}, base))
}
