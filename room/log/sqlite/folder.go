package sqlite

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// folderLock is the name of the lock file of a data folder. Each handle for writing
// holds it shared. The file stays: it is empty, and a lock that has no file could be
// held twice.
const folderLock = "log.lock"

// LockFolder takes a data folder alone, to replace its files, and makes it if it is
// missing. Until unlock is called or the process ends, no log in the folder can be
// opened for writing, here or in another process; reading is not prevented. It does
// not wait. [log.ErrLocked]: a log in the folder is open for writing.
func LockFolder(dir string) (unlock func(), err error) {
	d := &DB{dir: dir}
	if err := makeDir(dir); err != nil {
		return nil, d.folderError(err)
	}
	f, err := lockFolder(dir, false)
	if errors.Is(err, errHeld) {
		return nil, &problem.Error{
			Code: "LOG-LOCKED", What: "another process uses the data folder", Where: dir, Kind: log.ErrLocked,
			Fix: "end the processes that run rooms, which `moot ls` names, and other commands that change rooms; then try again",
		}
	}
	if err != nil {
		return nil, d.folderError(err)
	}
	return func() { f.Close() }, nil
}

// shareFolder keeps others from taking the folder alone while the handle is open.
func (d *DB) shareFolder() error {
	f, err := lockFolder(d.dir, true)
	if errors.Is(err, errHeld) {
		return &problem.Error{
			Code: "LOG-LOCKED", What: "the data folder is being restored", Where: d.dir, Kind: log.ErrLocked,
			Fix: "wait until `moot restore` has ended",
		}
	}
	if err != nil {
		return d.folderError(err)
	}
	d.locks.folder = f
	return nil
}

func lockFolder(dir string, shared bool) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, folderLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f, shared); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
