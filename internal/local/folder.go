package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/folkmoot/moot/problem"
)

const (
	folderName = "sockets"
	daemonName = "daemon.sock"
	lockName   = "daemon.lock" // held by the daemon, whose process id it has
	suffix     = ".sock"

	// maxPath is the longest path of a unix socket that every system takes: 104
	// bytes with the terminating zero on macOS, 108 on Linux and Windows.
	maxPath = 103
	// longestName is the longest name of a socket, with the separator.
	longestName = len("/4294967295" + suffix + newSuffix)
	// newSuffix is added to the name of a socket that does not accept yet.
	newSuffix = ".new"
)

// Folder returns the folder of the sockets of a data folder. It makes none.
func Folder(data string) (string, error) {
	data, err := filepath.Abs(data)
	if err != nil {
		return "", folderError(data, err)
	}
	if real, err := filepath.EvalSymlinks(data); err == nil {
		data = real // so that all paths of a folder have the same sockets
	}
	if dir := filepath.Join(data, folderName); len(dir)+longestName <= maxPath {
		return dir, nil
	}
	sum := sha256.Sum256([]byte(data))
	dir := filepath.Join(os.TempDir(), "moot-"+hex.EncodeToString(sum[:8]))
	if len(dir)+longestName > maxPath {
		return "", &problem.Error{
			Code: "SERVER-SOCKET", What: "the paths of the data folder and of the folder for temporary files are too long for a unix socket", Where: data,
			Fix: "choose a data folder with a shorter path with --data, or set TMPDIR to a shorter one",
		}
	}
	return dir, nil
}

// makeFolder makes the folder of the sockets if it is missing.
func makeFolder(data string) (string, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", folderError(data, err)
	}
	dir, err := Folder(data) // now that the folder exists
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", folderError(dir, err)
	}
	return dir, checkFolder(dir)
}

// checkFolder reports a folder in which another user could have placed a socket.
// It is [fs.ErrNotExist] if the folder is missing.
func checkFolder(dir string) error {
	st, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return folderError(dir, err)
	case !st.IsDir():
		return unsafeError(dir, "the folder of the sockets is not a folder", "remove it")
	case !owned(st):
		return unsafeError(dir, "the folder of the sockets belongs to another user", "run moot as that user, or choose another data folder with --data")
	case runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0:
		return unsafeError(dir, fmt.Sprintf("other users can use the folder of the sockets (%s)", st.Mode().Perm()), "chmod 700 "+dir)
	}
	return nil
}

// checkSocket reports a socket that is not of this user. It is [fs.ErrNotExist]
// if there is none.
func checkSocket(path string) error {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return folderError(path, err)
	case !owned(st):
		return unsafeError(path, "the socket belongs to another user", "remove it, and see who could write to the folder")
	case runtime.GOOS == "windows": // where the mode says neither
		return nil
	case st.Mode().Type() != fs.ModeSocket:
		return unsafeError(path, "the socket is another kind of file", "remove it")
	case st.Mode().Perm()&0o077 != 0:
		return unsafeError(path, fmt.Sprintf("other users can use the socket (%s)", st.Mode().Perm()), "end the process that listens on it, and remove it")
	}
	return nil
}

func unsafeError(path, what, fix string) error {
	return &problem.Error{Code: "SERVER-SOCKET", What: what, Where: path, Fix: fix}
}

func folderError(path string, err error) error {
	return &problem.Error{Code: "SERVER-SOCKET", What: "the folder of the sockets cannot be used", Where: path, Fix: "choose a data folder that you can write to with --data", Err: err}
}
