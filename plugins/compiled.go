package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
)

// The parent must know that the engine will find compiled code in the cache,
// because where it does not, it compiles. The engine does not tell the name of
// an entry. So the child compiles in a folder of its own that holds at most
// the one entry that a note from an earlier time names; what is there
// afterwards is the entry.

// compileInto compiles a module into a cache and returns the entry's path in
// it.
func compileInto(cache, where string, m *wasm.Metered, workers int) (string, error) {
	module := m.Bare
	if !m.Rewindable {
		module = m.Whole
	}
	note := filepath.Join(cache, "compiled", digestOf(module))
	own, err := os.MkdirTemp(cache, ".compiling-")
	if err != nil {
		return "", fmt.Errorf("making a folder to compile in: %w", err)
	}
	defer os.RemoveAll(own)
	known := readNote(note)
	if known != "" {
		_ = linkOrCopy(filepath.Join(cache, known), filepath.Join(own, known)) // else it is compiled
	}
	if err := compileIn(own, where, m, workers); err != nil {
		return "", err
	}
	entry, err := newEntry(own, known)
	if err != nil || (entry == known && cached(cache, known)) { // the note may outlive the code
		return entry, err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(cache, entry)), 0o700); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(own, entry), filepath.Join(cache, entry)); err != nil {
		return "", fmt.Errorf("moving compiled code into the cache: %w", err)
	}
	return entry, keep(note, []byte(entry))
}

func compileIn(dir, where string, m *wasm.Metered, workers int) error {
	ctx := context.Background()
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return fmt.Errorf("opening the cache: %w", err)
	}
	defer cache.Close(ctx)
	rc, _ := runtimeConfig(false)
	r := wazero.NewRuntimeWithConfig(ctx, rc.WithCompilationCache(cache))
	defer r.Close(ctx)
	_, err = compile(ctx, r, where, m, workers)
	return err
}

// readNote returns a path of the form folder/name, or nothing.
func readNote(path string) string {
	b, err := os.ReadFile(path)
	s := string(b)
	if err != nil || !validEntry(s) {
		return ""
	}
	return s
}

// validEntry keeps paths inside the cache.
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
		return "", errors.New("the engine left nothing in its cache")
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
