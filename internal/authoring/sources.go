package authoring

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Bounds of what is looked at to tell whether a module is up to date.
const (
	maxSources     = 5000     // files
	maxSourceBytes = 64 << 20 // of all of them
)

// Sources returns the digest of everything that the folder's module is built
// from: names and bytes, not times.
func (f *Folder) Sources() (string, error) {
	h := sha256.New()
	files, left := 0, int64(maxSourceBytes)
	err := filepath.WalkDir(f.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == f.Dir:
			return nil
		case !isSource(d.Name()) && d.IsDir():
			return fs.SkipDir
		case !isSource(d.Name()), !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(f.Dir, path)
		if err != nil {
			return err
		}
		if files++; files > maxSources {
			return fmt.Errorf("more than %d files", maxSources)
		}
		n, err := hashFile(h, filepath.ToSlash(name), path, left)
		left -= n
		return err
	})
	if err != nil {
		return "", refuse("POL-FOLDER", f.Dir, "keep only the policy's own files in its folder", "its sources cannot be read: %s", reason(err))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashFile adds a file to h so that no other list of files gives the same.
func hashFile(h hash.Hash, name, path string, most int64) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	own := sha256.New()
	n, err := io.Copy(own, io.LimitReader(f, most+1))
	if err != nil {
		return n, err
	}
	if n > most {
		return n, fmt.Errorf("more than %d bytes", maxSourceBytes)
	}
	_, err = fmt.Fprintf(h, "%d %s %x\n", len(name), name, own.Sum(nil))
	return n, err
}
