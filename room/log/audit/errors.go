package audit

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/folkmoot/moot/problem"
)

// explain turns an error of the file into one for the user.
func (l *Log) explain(doing string, err error) error {
	p := &problem.Error{Code: "LOG-IO", What: doing, Where: l.path, Err: err, Fix: "check the disk, then start again"}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		p.Code, p.Fix = "LOG-FULL", "free space on the disk of the data folder"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		p.Code, p.Fix = "LOG-READONLY", "make the data folder writable for you, or choose another with --data"
	case errors.Is(err, fs.ErrNotExist):
		p.Code, p.Fix = "LOG-OPEN", "check that the data folder exists, or choose another with --data"
	}
	return p
}

// escape makes a folder's name match itself in a pattern.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
