package local

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// unnamed returns the path itself: a socket cannot be renamed here.
func unnamed(path string) string { return path }

// owned trusts the permissions of the user's profile: the data folder is in it.
func owned(fs.FileInfo) bool { return true }

// refused reports whether no process listens on a socket that is there.
func refused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }
