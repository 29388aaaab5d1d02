//go:build unix

package local

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// unnamed returns the path at which a socket is made before it gets its name.
func unnamed(path string) string { return path + newSuffix }

// owned reports whether a file belongs to the user of this process.
func owned(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}

// refused reports whether no process listens on a socket that is there.
func refused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }
