package policies

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed policy/*.go
var kit embed.FS

// Kit returns the sources of the author kit, the folder policy, without its
// tests: what a policy in Go needs to build by itself.
func Kit() fs.FS { return sources{kit} }

// sources hides test files.
type sources struct{ embed.FS }

// ReadDir lists a folder without its test files.
func (s sources) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := s.FS.ReadDir(name)
	out := all[:0:0]
	for _, d := range all {
		if !strings.HasSuffix(d.Name(), "_test.go") {
			out = append(out, d)
		}
	}
	return out, err
}
