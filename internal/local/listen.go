package local

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/folkmoot/moot/internal/flock"
	"github.com/folkmoot/moot/problem"
)

// ErrRunning reports that a daemon of the data folder runs already.
var ErrRunning = errors.New("local: a daemon runs already")

// A Listener accepts connections of other processes of this user. Close removes
// its socket. That of a daemon is followed by Release.
type Listener struct {
	net.Listener
	path   string
	unlock func() // of a daemon; else nil
	once   sync.Once
	err    error // of Close
}

// Path returns the path of the socket.
func (l *Listener) Path() string { return l.path }

// Close stops the listener and removes its socket.
func (l *Listener) Close() error {
	l.once.Do(func() {
		l.err = l.Listener.Close()
		if err := os.Remove(l.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.err = errors.Join(l.err, err)
		}
		if filepath.Base(filepath.Dir(l.path)) != folderName {
			_ = os.Remove(filepath.Dir(l.path)) // below the temporary files, if it is empty
		}
	})
	return l.err
}

// Release lets another process become the daemon. Until then it is refused, so that
// the rooms of this one can come to rest. It is called once.
func (l *Listener) Release() { l.unlock() }

// Listen opens the socket of this process, and removes those of processes that
// have ended.
func Listen(data string) (*Listener, error) {
	dir, err := makeFolder(data)
	if err != nil {
		return nil, err
	}
	if _, err := Find(data); err != nil {
		return nil, err
	}
	return listen(filepath.Join(dir, strconv.Itoa(os.Getpid())+suffix))
}

// ListenDaemon opens the socket of the daemon. It is [ErrRunning] when another
// process is the daemon of the data folder, until it calls Release.
func ListenDaemon(data string) (*Listener, error) {
	dir, err := makeFolder(data)
	if err != nil {
		return nil, err
	}
	lock := filepath.Join(dir, lockName)
	unlock, free, err := flock.TryLock(lock)
	path := filepath.Join(dir, daemonName)
	switch {
	case err != nil:
		return nil, folderError(lock, err)
	case !free:
		return nil, runningError(data, lock)
	case answers(path): // where locks do not reach other processes
		unlock()
		return nil, runningError(data, lock)
	}
	if err := os.WriteFile(lock, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		unlock()
		return nil, folderError(lock, err)
	}
	l, err := listen(path)
	if err != nil {
		unlock()
		return nil, err
	}
	l.unlock = unlock
	return l, nil
}

// runningError names the daemon that has the lock.
func runningError(data, lock string) error {
	what := "a server runs for this data folder already"
	if pid := readPID(lock); pid > 0 {
		what = fmt.Sprintf("a server runs for this data folder already: process %d", pid)
	}
	return &problem.Error{
		Code: "SERVER-RUNNING", What: what, Where: data, Kind: ErrRunning,
		Fix: "use that one, end it first, or choose another data folder with --data",
	}
}

// readPID returns the process id in a file, 0 if there is none.
func readPID(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// listen opens a socket in place of a stale one. The socket gets its name when it
// accepts connections and has its mode, so one that refuses them is stale.
func listen(path string) (*Listener, error) {
	at := unnamed(path)
	for _, old := range []string{at, path} {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, folderError(old, err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		return nil, folderError(at, err)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(at, 0o600), rename(at, path)); err != nil {
		return nil, errors.Join(folderError(path, err), l.Close(), os.Remove(at))
	}
	return &Listener{Listener: l, path: path}, nil
}

func rename(from, to string) error {
	if from == to {
		return nil
	}
	return os.Rename(from, to)
}
