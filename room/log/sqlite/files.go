package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// prepareFiles makes folder and file where they are missing, and shares the folder.
func (d *DB) prepareFiles() error {
	if err := makeDir(d.dir); err != nil {
		return d.folderError(err)
	}
	if err := d.shareFolder(); err != nil {
		return err
	}
	info, err := os.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.create(); err == nil {
			info, err = os.Stat(d.path)
		}
	}
	if err != nil {
		return d.folderError(err)
	}
	return d.checkFile(info)
}

// checkFile refuses what cannot be a whole log before SQLite would take an
// empty file for a new database.
func (d *DB) checkFile(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &problem.Error{Code: "LOG-OPEN", What: "the log is not a file", Where: d.path, Fix: "choose another folder with --data"}
	}
	if info.Size() < 512 {
		return d.broken(fmt.Sprintf("the file has been cut to %d bytes", info.Size()))
	}
	if !d.readOnly && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(d.path, 0o600); err != nil {
			return d.folderError(err)
		}
	}
	return nil
}

// emptyFile says whether a file is missing or has no content.
func emptyFile(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// create makes a whole, empty log under another name and then gives it its
// own, so that a file of that name is never half a log. When two processes do
// so at once one of the two files wins.
func (d *DB) create() error {
	temp, err := os.CreateTemp(d.dir, FileName+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			os.Remove(temp.Name() + suffix) // best effort: only the name is left over
		}
	}()
	if err := temp.Close(); err != nil {
		return err
	}
	c, err := dial(temp.Name(), "rw")
	if err != nil {
		return err
	}
	if err := errors.Join(layOut(c), c.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), d.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.SyncDir(d.dir)
}

// makeDir makes the data folder, for the user alone, and makes its entry
// durable. A folder that exists keeps its mode.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(dir))
}

// folderError says what is wrong with the data folder.
func (d *DB) folderError(err error) error {
	if primary(err) != 0 {
		return d.explain("making the log", err)
	}
	if _, ok := errors.AsType[*problem.Error](err); ok {
		return err
	}
	p := &problem.Error{
		Code: "LOG-OPEN", What: "the data folder cannot be used", Where: d.dir, Err: err,
		Fix: "check that the path is right and that you may write there, or choose another folder with --data",
	}
	switch {
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		p.Code = "LOG-READONLY"
	case isFull(err):
		p.Code, p.Fix = "LOG-FULL", "free space on the disk of the data folder"
	case errors.Is(err, fs.ErrNotExist) && d.readOnly:
		p.Code, p.What, p.Kind = "LOG-NONE", "there is no log in the data folder", log.ErrNotFound
		p.Fix = "run a room first, or choose the folder with --data"
	}
	return p
}
