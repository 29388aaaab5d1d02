package compile

import (
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
