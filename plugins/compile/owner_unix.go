//go:build unix

package compile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// checkParents returns an error if other users could put another folder in the
// place of this one, or of one above it, up to the home folder: OpenSSH's rule
// too (auth_secure_path in misc.c). Unlike OpenSSH it accepts sticky folders such
// as /tmp, in which a user can replace only what is their own.
func checkParents(dir string) error {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	home, _ := os.UserHomeDir()
	home, _ = filepath.EvalSymlinks(home) // without one, up to the root
	for err == nil && dir != home && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		err = checkParent(dir)
	}
	return err
}

func checkParent(dir string) error {
	st, err := os.Stat(dir)
	if err != nil {
		return err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case !ok || sys.Uid != 0 && int(sys.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user", dir)
	case st.Mode().Perm()&0o022 != 0 && st.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("%s can be written to by other users (mode %#o)", dir, st.Mode().Perm())
	}
	return nil
}
