package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
	"github.com/folkmoot/moot/plugins/wasm"
)

// A process must know whether the engine will find compiled code in the cache,
// because otherwise the engine compiles. wazero does not tell the name of a
// cache entry. So a module is compiled in a folder of its own, which holds at
// most the entry that is known from before. The file in it afterwards is the
// entry; its name is kept in the cache's folder compiled.

// compileEntry compiles a module into a cache and returns the entry's path in
// it, of the form folder/name.
func compileEntry(ctx context.Context, cache, where string, m *wasm.Metered) (string, error) {
	own, err := os.MkdirTemp(cache, ".compiling-")
	if err != nil {
		return "", fmt.Errorf("making a folder to compile in: %w", err)
	}
	defer os.RemoveAll(own)
	namePath := entryNamePath(cache, m)
	known := readEntryName(namePath)
	if known != "" {
		_ = linkOrCopy(filepath.Join(cache, known), filepath.Join(own, known)) // else it is compiled
	}
	e, err := openEngine(own, guest.EngineCompiler)
	if err != nil {
		return "", err
	}
	_, err = pool.Compile(ctx, e.runtime, e.name, where, m, pool.Workers())
	if err = errors.Join(err, e.close()); err != nil {
		return "", err
	}
	entry, err := newEntry(own, known)
	if err != nil || (entry == known && hasEntry(cache, known)) { // the code may be gone
		return entry, err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(cache, entry)), 0o700); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(own, entry), filepath.Join(cache, entry)); err != nil {
		return "", fmt.Errorf("moving compiled code into the cache: %w", err)
	}
	return entry, atomicfile.Write(namePath, []byte(entry))
}

// entryNamePath is the file with the name of a module's entry.
func entryNamePath(cache string, m *wasm.Metered) string {
	module := m.Bare
	if !m.Restorable {
		module = m.Whole
	}
	return filepath.Join(cache, "compiled", guest.Digest(module))
}

// readEntryName returns an entry's path, or nothing.
func readEntryName(path string) string {
	b, err := os.ReadFile(path)
	s := string(b)
	if err != nil || !validEntry(s) {
		return ""
	}
	return s
}

// hasEntry reports whether a cache has an entry.
func hasEntry(cache, entry string) bool {
	st, err := os.Stat(filepath.Join(cache, entry))
	return validEntry(entry) && err == nil && st.Mode().IsRegular()
}

// validEntry reports whether s is a path of the form folder/name, which does
// not leave the cache.
func validEntry(s string) bool {
	dir, name, ok := strings.Cut(s, "/")
	return ok && filepath.IsLocal(s) && dir != "" && name != "" && !strings.ContainsAny(name, `/\`)
}

// newEntry returns the one entry of a folder besides known, or known.
func newEntry(dir, known string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if err != nil {
		return "", err
	}
	entry := ""
	for _, p := range paths {
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return "", err
		}
		if rel = filepath.ToSlash(rel); rel != known || entry == "" {
			entry = rel
		}
	}
	if !validEntry(entry) {
		return "", errors.New("the engine left no code in its cache")
	}
	return entry, nil
}

func linkOrCopy(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

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
