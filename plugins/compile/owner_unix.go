//go:build unix

package compile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkPrivate returns an error if other users could change a file or folder:
// the rule of OpenSSH for its files.
func checkPrivate(path string, st fs.FileInfo) error {
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user", path)
	}
	if mode := st.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s can be written to by other users (mode %#o)", path, mode)
	}
	return nil
}
