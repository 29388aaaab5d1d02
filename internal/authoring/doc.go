// Package authoring works on the folder of a policy: it makes a new folder from
// a template, builds the module, and checks whether a module is up to date.
//
// A folder contains policy.json, build.sh, cases/ and the sources. build.sh
// makes policy.wasm. It is a program of the author and runs with the author's
// rights, like the command of an agent. If a compiler is missing, it exits with
// code 3 and prints to stderr what to install.
//
// A build embeds the manifest and the digest of the sources in the module, as
// custom sections. So the module itself shows whether it is up to date, even in
// a copy of the folder. The times of files do not matter.
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
