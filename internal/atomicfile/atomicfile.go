// Package atomicfile replaces files. Another process, or the next one after a
// crash, sees the old or the new file, complete.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces the file at path, with mode 0600, and makes its folder if it
// is missing. The file survives the death of the process, not always a power
// failure.
func Write(path string, b []byte) error { return write(path, b, false) }

// WriteDurable is Write for a file that also survives a power failure.
func WriteDurable(path string, b []byte) error {
	if err := write(path, b, true); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

func write(path string, b []byte, sync bool) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // has mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// SyncDir makes the entries of a folder durable. Windows has no such call.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if runtime.GOOS == "windows" {
		err = nil
	}
	return errors.Join(err, d.Close())
}
