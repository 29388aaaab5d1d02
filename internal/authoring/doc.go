// Package authoring works on a policy's folder: it makes a new one from a
// kit, builds it and tells whether what was built is still what the sources
// say.
//
// A folder holds policy.json, build.sh, cases/ and whatever its language
// wants. build.sh makes policy.wasm; it is the author's own program and runs
// with the author's rights, like the command of an agent. When a compiler is
// missing it ends with 3 and says on stderr what to install.
//
// After a build the manifest and the digest of the sources are put into the
// module as custom sections. So a module tells by itself whether it is up to
// date, wherever the folder was copied to, and times of files do not matter.
package authoring

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/folkmoot/moot/problem"
)

func refuse(code, where, fix, format string, args ...any) *problem.Error {
	return &problem.Error{Code: code, Where: where, Fix: fix, What: fmt.Sprintf(format, args...)}
}

// reason is an error of the file system without its path.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
