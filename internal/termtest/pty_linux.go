package termtest

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Pty opens a pseudo terminal of that size. The program under test has theirs.
// The test is skipped where the machine has no pseudo terminals.
func Pty(t *testing.T, cols, rows int) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("this machine has no pseudo terminals: %v", err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	SetSize(t, ours, cols, rows)
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// SetSize changes the size of a pseudo terminal. Its programs get SIGWINCH.
func SetSize(t *testing.T, ours *os.File, cols, rows int) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(cols)}); err != nil {
		t.Fatal(err)
	}
}
