package pack

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/folkmoot/moot/problem"
)

// refuse returns the coded error of a refusal.
func refuse(code, where, fix, format string, args ...any) *problem.Error {
	return &problem.Error{Code: code, Where: where, Fix: fix, What: fmt.Sprintf(format, args...)}
}

// reason returns an error of the file system without its path, which Where
// names already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
