package local

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/problem"
)

// ErrNone reports that no process listens on the socket.
var ErrNone = errors.New("local: no process listens")

// A Socket is that of a process that listens.
type Socket struct {
	PID  int    // 0 for the daemon
	Path string // a file
}

// Daemon reports whether the socket is that of the daemon.
func (s Socket) Daemon() bool { return s.PID == 0 }

// FindDaemon returns the socket of the daemon. It is [ErrNone] when none runs.
func FindDaemon(data string) (Socket, error) { return find(data, daemonName) }

// DaemonPID returns the id of the daemon's process, and 0 when none runs.
func DaemonPID(data string) int {
	s, err := FindDaemon(data)
	if err != nil {
		return 0
	}
	return readPID(filepath.Join(filepath.Dir(s.Path), lockName))
}

// FindProcess returns the socket of a process that is not the daemon. It is
// [ErrNone] when it does not listen.
func FindProcess(data string, pid int) (Socket, error) {
	return find(data, strconv.Itoa(pid)+suffix)
}

// Find returns the sockets of all processes that listen, the daemon's first, and
// removes those of processes that have ended.
func Find(data string) ([]Socket, error) {
	dir, err := checked(data)
	if err != nil {
		if errors.Is(err, ErrNone) {
			err = nil
		}
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, folderError(dir, err)
	}
	var all []Socket
	for _, f := range files {
		s, ok := parseName(dir, f.Name())
		if !ok || !answers(s.Path) {
			continue
		}
		if s.Daemon() {
			all = append([]Socket{s}, all...)
		} else {
			all = append(all, s)
		}
	}
	return all, nil
}

// parseName reads the name of a socket.
func parseName(dir, name string) (Socket, bool) {
	s := Socket{Path: filepath.Join(dir, name)}
	if name == daemonName {
		return s, true
	}
	digits, ok := strings.CutSuffix(name, suffix)
	pid, err := strconv.Atoi(digits)
	s.PID = pid
	return s, ok && err == nil && pid > 0 && strconv.Itoa(pid) == digits
}

// checked returns the folder of the sockets if it is there and safe.
func checked(data string) (string, error) {
	dir, err := Folder(data)
	if err != nil {
		return "", err
	}
	if err := checkFolder(dir); errors.Is(err, fs.ErrNotExist) {
		return "", ErrNone
	} else if err != nil {
		return "", err
	}
	return dir, nil
}

func find(data, name string) (Socket, error) {
	dir, err := checked(data)
	if err != nil {
		return Socket{}, err
	}
	s, _ := parseName(dir, name)
	switch err := checkSocket(s.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return Socket{}, ErrNone
	case err != nil:
		return Socket{}, err
	case !answers(s.Path):
		return Socket{}, ErrNone
	}
	return s, nil
}

// Dial connects to the process that carries out requests about a room: the daemon
// if one runs, else the holder of the room, the process with that id. It is
// [ErrNone] when neither listens. A holder of 0 is none.
func Dial(ctx context.Context, data string, holder int) (net.Conn, error) {
	s, err := FindDaemon(data)
	if err == nil {
		c, err := s.Dial(ctx)
		if !errors.Is(err, ErrNone) {
			return c, err
		}
	} else if !errors.Is(err, ErrNone) {
		return nil, err
	}
	if holder <= 0 {
		return nil, ErrNone
	}
	if s, err = FindProcess(data, holder); err != nil {
		return nil, err
	}
	return s.Dial(ctx)
}

// Dial connects to the process. It is [ErrNone] when the process has ended.
func (s Socket) Dial(ctx context.Context) (net.Conn, error) {
	err := checkFolder(filepath.Dir(s.Path))
	if err == nil {
		err = checkSocket(s.Path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", s.Path)
	switch {
	case err == nil:
		return c, nil
	case refused(err) || errors.Is(err, fs.ErrNotExist):
		return nil, ErrNone
	}
	return nil, &problem.Error{Code: "SERVER-SOCKET", What: "cannot connect to the server", Where: s.Path, Fix: "end that process if it does not answer", Err: err}
}

// answers reports whether a process listens on a socket of this user. It removes
// a socket that refuses connections, because its process has ended. That of the
// daemon is left to the next daemon, which may be about to replace it.
func answers(path string) bool {
	if checkSocket(path) != nil {
		return false
	}
	c, err := net.DialTimeout("unix", path, probeTimeout)
	if err == nil {
		c.Close()
		return true
	}
	if refused(err) && filepath.Base(path) != daemonName {
		_ = os.Remove(path) // another process may have removed it
	}
	return !refused(err) && !errors.Is(err, fs.ErrNotExist) // a full backlog is that of a process which runs
}

// probeTimeout bounds the connection to a local process. The system makes it at once, without
// the help of the process; but on a busy machine this process itself may wait for seconds, and
// must not take that for a process that answers.
const probeTimeout = 10 * time.Second
