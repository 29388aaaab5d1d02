package policies

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed policy/*.go
var sdk embed.FS

// SDK returns the sources of the package policy below the folder "policy",
// without its tests: all that a policy in Go needs to build on its own.
func SDK() fs.FS { return withoutTests{sdk} }

// withoutTests hides the test files of a file system.
type withoutTests struct{ embed.FS }

// ReadDir lists a folder without its test files.
func (s withoutTests) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := s.FS.ReadDir(name)
	out := all[:0:0]
	for _, d := range all {
		if !strings.HasSuffix(d.Name(), "_test.go") {
			out = append(out, d)
		}
	}
	return out, err
}
