package compile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/plugins/guest"
)

// Bounds of the cache.
const (
	maxModules    = 200
	maxCacheBytes = 500 << 20
	keepRefusal   = 24 * time.Hour // then a refused module is tried again
	keepWork      = time.Hour      // then what a process that was killed left is removed
)

// A cache keeps entries in a folder, one file for each module and engine. The
// files are code that this process runs. So the cache is used only while its
// folder and the file belong to this user, no other user may write to them, and
// no other user may replace a folder above them.
// All faults mean that there is no entry: a cache costs time, never a policy. A
// nil cache has no entries. Processes may share the folder.
type cache struct {
	dir      string
	identity func() (string, error) // of the engine, see engineIdentity
}

// openCache opens the cache in dir, which is made if it is absent. Without dir
// it is nil.
func openCache(dir, engine string) (*cache, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &guest.Error{
			Code: guest.CodeCache, What: "the cache cannot be used: " + err.Error(), Where: dir,
			Fix: "name another folder that can be written to", Err: err,
		}
	}
	return &cache{dir: dir, identity: sync.OnceValues(func() (string, error) { return engineIdentity(dir, engine) })}, nil
}

// path returns the file and the key of a module's entry; ok is false if the
// cache cannot be used.
func (c *cache) path(digest string) (path, key string, ok bool) {
	if c == nil || CheckFolder(c.dir) != nil {
		return "", "", false
	}
	identity, err := c.identity()
	if err != nil {
		return "", "", false
	}
	key = guest.Digest([]byte(identity + "\n" + digest))
	return filepath.Join(c.dir, key), key, true
}

// CheckFolder returns an error if other users could change or replace the folder.
func CheckFolder(dir string) error {
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = &fs.PathError{Op: "open", Path: dir, Err: fs.ErrInvalid}
	}
	if err == nil {
		err = checkPrivate(dir, st)
	}
	if err == nil {
		err = checkParents(dir)
	}
	return err
}

// CheckCache returns the number and the size of the entries of the cache in dir,
// and an error if other users could change the folder or an entry, or replace
// the folder, which is then not used. An absent cache is empty.
func CheckCache(dir string) (entries int, bytes int64, err error) {
	files, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return 0, 0, nil
	}
	if err == nil {
		err = CheckFolder(dir)
	}
	for _, f := range files {
		st, infoErr := f.Info()
		if infoErr != nil || len(f.Name()) != keyLength {
			continue
		}
		entries, bytes = entries+1, bytes+st.Size()
		if err == nil {
			err = checkPrivate(filepath.Join(dir, f.Name()), st)
		}
	}
	return entries, bytes, err
}

// get returns the entry of a module, or nil. An entry that is damaged, or that
// another user could have changed, is deleted.
func (c *cache) get(digest string) *entry {
	path, key, ok := c.path(digest)
	if !ok {
		return nil
	}
	e, modified, err := readEntry(path, key)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil || e.Refused != nil && time.Since(modified) > keepRefusal:
		_ = os.Remove(path)
		return nil
	}
	if e.Refused == nil {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // it was used
	}
	return e
}

func readEntry(path, key string) (*entry, time.Time, error) {
	st, err := os.Lstat(path) // not a pipe, whose opening waits
	if err != nil {
		return nil, time.Time{}, err
	}
	if !st.Mode().IsRegular() {
		return nil, time.Time{}, errEntry
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return nil, time.Time{}, err
	}
	if err := checkPrivate(path, st); err != nil {
		return nil, time.Time{}, err
	}
	if st.Size() > maxEntry {
		return nil, time.Time{}, errEntry
	}
	b := make([]byte, st.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, time.Time{}, err
	}
	e, err := decodeEntry(b, key)
	return e, st.ModTime(), err
}

// put stores the entry of a module, and evicts others. If that fails the next
// load only takes longer.
func (c *cache) put(digest string, e *entry) {
	path, key, ok := c.path(digest)
	if !ok {
		return
	}
	e.Key = key
	if atomicfile.Write(path, e.encode()) == nil {
		c.evict()
	}
}

// remove deletes the entry of a module.
func (c *cache) remove(digest string) {
	if path, _, ok := c.path(digest); ok {
		_ = os.Remove(path)
	}
}

// evict removes the least recently used entries over the bounds, and what
// processes that were killed left behind.
func (c *cache) evict() {
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var entries []fs.FileInfo
	for _, f := range files {
		st, err := f.Info()
		if err != nil {
			continue // another process removed it
		}
		switch {
		case len(f.Name()) == keyLength && st.Mode().IsRegular():
			entries = append(entries, st)
		case temporary(f.Name()) && time.Since(st.ModTime()) > keepWork:
			_ = os.RemoveAll(filepath.Join(c.dir, f.Name()))
		}
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var bytes int64
	for i, st := range entries {
		if bytes += st.Size(); i >= maxModules || bytes > maxCacheBytes {
			_ = os.Remove(filepath.Join(c.dir, st.Name()))
		}
	}
}

// keyLength is the length of a key: a digest in hex.
const keyLength = 64

// workPrefix begins the names of folders that code is compiled in.
const workPrefix = ".work-"

// temporary reports whether a name is one of files that are being written.
func temporary(name string) bool {
	return strings.HasPrefix(name, workPrefix) || strings.HasPrefix(name, ".new-") // of package atomicfile
}

// workFolder makes a folder to compile in, private to this user. The caller
// removes it.
func (c *cache) workFolder() (string, error) {
	parent := "" // that of the system
	if c != nil && CheckFolder(c.dir) == nil {
		parent = c.dir
	}
	return os.MkdirTemp(parent, workPrefix)
}
