package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// lockDir is the folder of the lock files, in the data folder.
const lockDir = "locks"

// errHeld reports that another process, or another handle, has the lock.
var errHeld = errors.New("lock is held")

// locks are what this handle holds.
type locks struct {
	mu     sync.Mutex
	files  map[string]*os.File // by room
	folder *os.File            // shared with the other handles for writing
}

func (l *locks) held(room string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files[room] != nil
}

// count returns the number of rooms.
func (l *locks) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.files)
}

func (l *locks) add(room string, f *os.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = map[string]*os.File{}
	}
	l.files[room] = f
}

// release gives up the lock of a room if f still holds it. It removes the file
// while the lock is held; a process that has opened the file meanwhile finds that
// the name is gone.
func (l *locks) release(room string, f *os.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files[room] != f {
		return
	}
	delete(l.files, room)
	os.Remove(f.Name()) // best effort: a file without a lock blocks no process
	f.Close()
}

func (l *locks) releaseAll() {
	l.mu.Lock()
	rooms, folder := l.files, l.folder
	l.files, l.folder = nil, nil
	l.mu.Unlock()
	if folder != nil {
		folder.Close()
	}
	for _, f := range rooms {
		os.Remove(f.Name())
		f.Close()
	}
}

// Lock implements [log.Appender]. It does not wait. The lock is the kernel's,
// on a file that names the holder: it ends with the process, however that
// ends, and children do not inherit it.
func (d *DB) Lock(ctx context.Context, room string) (unlock func(), err error) {
	if err := errors.Join(ctx.Err(), log.CheckName(room)); err != nil {
		return nil, err
	}
	if d.readOnly {
		return nil, &problem.Error{Code: "LOG-READONLY", What: "the log was opened for reading only", Where: d.path, Fix: "choose another folder with --data, or make this one writable"}
	}
	dir := filepath.Join(d.dir, lockDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, d.folderError(err)
	}
	f, err := acquire(d.lockPath(room))
	if held, ok := errors.AsType[*heldError](err); ok {
		return nil, &problem.Error{
			Code: "LOG-LOCKED", Where: "room " + room, What: fmt.Sprintf("room %s is held by %s", room, held), Kind: log.ErrLocked,
			Fix: "`moot attach " + room + "` uses the room there; or end that process first",
		}
	}
	if err != nil {
		return nil, d.folderError(err)
	}
	d.locks.add(room, f)
	return sync.OnceFunc(func() { d.locks.release(room, f) }), nil
}

// A heldError says which process holds a lock; 0 when that is not known.
type heldError struct{ pid int }

func (e *heldError) Error() string {
	switch e.pid {
	case 0:
		return "another process"
	case os.Getpid():
		return fmt.Sprintf("this process (%d)", e.pid)
	}
	return fmt.Sprintf("process %d", e.pid)
}

// acquire makes and locks the file at path and writes our process id into it.
func acquire(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		switch err = lockFile(f, false); {
		case errors.Is(err, errHeld):
			held := &heldError{holder(f)}
			f.Close()
			return nil, held
		case err != nil:
			f.Close()
			return nil, err
		}
		// The previous holder may have removed the file between open and lock.
		// Another process may then hold a new file of that name.
		if !sameFile(f, path) {
			f.Close()
			continue
		}
		if err := sign(f); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
}

func sameFile(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder reads the process id in a lock file, 0 when there is none.
func holder(f *os.File) int {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

// lockPath is the lock file of a room. A room's id may hold anything, so the
// file is named by its hash.
func (d *DB) lockPath(room string) string {
	sum := sha256.Sum256([]byte(room))
	return filepath.Join(d.dir, lockDir, hex.EncodeToString(sum[:16])+".lock")
}

// Holder returns the id of the process that holds room, and 0 when none does.
// It takes no lock and asks for none, so the answer may be old when it comes:
// it is for people to read.
func (d *DB) Holder(room string) int {
	f, err := os.Open(d.lockPath(room))
	if err != nil {
		return 0
	}
	defer f.Close()
	if pid := holder(f); pid > 0 && rows.Alive(pid) {
		return pid
	}
	return 0
}
