package compile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"strings"

	"github.com/folkmoot/moot/internal/worker"
	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
	"github.com/folkmoot/moot/plugins/wasm"
)

// An entry is what is known of one module.
type entry struct {
	entryHeader
	code     []byte // compiled code in wazero's form; nil: none yet
	snapshot []byte // encoded initial snapshot; nil: instances start from none
}

// An entryHeader is the part of an entry that is JSON.
type entryHeader struct {
	Key      string   // of the file: an entry under another name is none
	Metered  string   // digest of the module as this program rewrote it
	Name     string   // of the code in a cache of wazero, as folder/name
	Code     int      // bytes
	Snapshot int      // bytes
	Refused  *refusal `json:",omitempty"` // nothing else is set then
}

// A refusal remembers that a module cannot be compiled within limits.
type refusal struct {
	What       string
	CPUSeconds int // the limits
	Memory     uint64
}

// An encoded entry is entryMagic, the SHA-256 of the rest, and the rest: a
// frame with the header, the code and the snapshot.
const entryMagic = "moot compiled policy 1\n"

// Limits of an entry, in bytes.
const (
	maxCode     = 128 << 20
	maxSnapshot = guest.MaxMemoryPages<<16 + 1<<20
	maxEntry    = maxCode + maxSnapshot + 1<<20
)

var errEntry = errors.New("a damaged entry of the cache")

func (e *entry) encode() []byte {
	e.Code, e.Snapshot = len(e.code), len(e.snapshot)
	body := worker.AppendFrame(nil, e.entryHeader, e.code, e.snapshot)
	sum := sha256.Sum256(body)
	return append(append([]byte(entryMagic), sum[:]...), body...)
}

// decodeEntry decodes the entry of a key. Its code refers to b.
func decodeEntry(b []byte, key string) (*entry, error) {
	b, ok := bytes.CutPrefix(b, []byte(entryMagic))
	if !ok || len(b) < sha256.Size {
		return nil, errEntry
	}
	sum, body := b[:sha256.Size], b[sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, errEntry
	}
	e, r := &entry{}, bytes.NewReader(body)
	_, err := worker.ReadFrame(r, &e.entryHeader, func() int { return 0 }, 0)
	rest := body[len(body)-r.Len():]
	if err != nil || e.Key != key || e.Code < 0 || e.Code > len(rest) || e.Snapshot < 0 || e.Snapshot > len(rest)-e.Code ||
		(e.Code > 0) != validName(e.Name) {
		return nil, errEntry
	}
	if e.Code > 0 {
		e.code = rest[:e.Code:e.Code]
	}
	if e.Snapshot > 0 { // a copy, which does not keep the code in memory
		e.snapshot = bytes.Clone(rest[e.Code : e.Code+e.Snapshot])
	}
	return e, nil
}

// fits reports whether the entry was made of a module in this very form.
func (e *entry) fits(m *wasm.Metered, sum string) bool {
	return e.Metered == sum && pool.ValidSnapshot(e.snapshot, m)
}

// validName reports whether s is a path of the form folder/name, which does not
// leave its folder.
func validName(s string) bool {
	dir, name, ok := strings.Cut(s, "/")
	return ok && filepath.IsLocal(s) && dir != "" && name != "" && !strings.ContainsAny(name, `/\`)
}
