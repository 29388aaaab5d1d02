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

// Limits of the sources of a module.
const (
	maxSources     = 5000     // number of files
	maxSourceBytes = 64 << 20 // sum of their sizes
)

// Sources returns the digest of the names and bytes of the sources. Times do
// not matter.
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

// hashFile adds the length of the name, the name and the digest of a file to h:
// different lists of files never add the same bytes.
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
