package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/flock"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
)

const (
	maxFile   = 1 << 20
	fileDepth = 6
	private   = 0o600
)

// readPrivate reads a small file that only this user may access.
func readPrivate(path string) ([]byte, fs.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if err := checkPrivate(path, info); err != nil {
		return nil, nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s is over %d bytes", path, maxFile)
	}
	return b, info, err
}

// checkPrivate refuses a file with secrets that others may access. It does not
// correct the mode: the content may already be known.
func checkPrivate(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &problem.Error{
			Code: "RELAY-FILE-MODE", What: "a file with secrets is not a regular file", Where: path,
			Fix: "move it away; moot creates a new one",
		}
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return &problem.Error{
			Code: "RELAY-FILE-MODE", What: fmt.Sprintf("a file with secrets has mode %04o, so others may read it", mode), Where: path,
			Fix: "chmod 600 " + path + ", and make new keys if other people use this machine",
		}
	}
	return nil
}

// A jsonFile is a JSON file that several processes read and change. A reader
// sees changes of other processes at its next access.
type jsonFile[T any] struct {
	path  string
	check func(*T) error

	mu       sync.Mutex
	lastInfo fs.FileInfo
	value    T
}

// read calls f with the current value, which f must not keep or change.
func (d *jsonFile[T]) read(f func(*T)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.refresh(); err != nil {
		return err
	}
	f(&d.value)
	return nil
}

// update applies edit and saves the result. It holds a file lock, so concurrent
// edits of other processes are not lost. If edit fails, nothing is saved.
func (d *jsonFile[T]) update(edit func(*T) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	unlock, err := lock(d.path)
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.refresh(); err != nil {
		return err
	}
	d.lastInfo = nil // force the next access to read the file
	if err := edit(&d.value); err != nil {
		return err
	}
	b, err := json.MarshalIndent(d.value, "", " ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteDurable(d.path, append(b, '\n')); err != nil {
		return &problem.Error{Code: "RELAY-FILE", What: "a file of this device cannot be written: " + err.Error(), Where: d.path, Fix: "free disk space, or make its folder writable", Err: err}
	}
	return nil
}

// refresh reads the file if it has changed since the last read.
func (d *jsonFile[T]) refresh() error {
	info, err := os.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		d.lastInfo, d.value = nil, *new(T)
		return nil
	}
	if err != nil {
		return err
	}
	if d.lastInfo != nil && os.SameFile(d.lastInfo, info) && d.lastInfo.ModTime().Equal(info.ModTime()) && d.lastInfo.Size() == info.Size() {
		return nil
	}
	b, info, err := readPrivate(d.path)
	if err != nil {
		return err
	}
	value, err := decodeDocument(b, d.check)
	if err != nil {
		return &problem.Error{Code: "RELAY-FILE", What: "a file of this device is damaged: " + err.Error(), Where: d.path, Fix: "restore it from a backup, or remove it and pair the devices again", Err: err}
	}
	d.lastInfo, d.value = info, value
	return nil
}

func decodeDocument[T any](b []byte, check func(*T) error) (value T, err error) {
	if err := strict.Decode(b, fileDepth, &value); err != nil {
		return value, err
	}
	return value, check(&value)
}

// lock makes the folder of a file and locks the file between processes.
func lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if unlock, err = flock.Lock(path + ".lock"); err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return unlock, nil
}
