package pack

import (
	"archive/tar"
	"path"
	"regexp"
	"strings"
)

var caseForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.yaml$`)

// names checks the file names of a pack, one after another.
type names struct {
	where string
	seen  map[string]string // by lower case
}

// check refuses a file because of its header.
func (n *names) check(h *tar.Header) error {
	bad := func(format string, args ...any) error {
		return refuse("POL-PACK-NAME", n.where, "get the pack from its author again: `moot policy pack` never writes this", format, args...)
	}
	fold := strings.ToLower(h.Name)
	before, twice := n.seen[fold]
	switch {
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink || h.Linkname != "":
		return bad("holds a link, %q", clip(h.Name))
	case h.Typeflag != tar.TypeReg:
		return bad("holds %q, which is no plain file", clip(h.Name))
	case strings.HasPrefix(h.Name, "/") || strings.HasPrefix(h.Name, `\`) || len(h.Name) > 1 && h.Name[1] == ':':
		return bad("holds the absolute name %q", clip(h.Name))
	case h.Name == ".." || strings.HasPrefix(h.Name, "../") || strings.Contains(h.Name, "/..") || strings.Contains(h.Name, `..\`):
		return bad("holds the name %q, which leads out of its folder", clip(h.Name))
	case twice && before == h.Name:
		return bad("holds %q twice", clip(h.Name))
	case twice:
		return bad("holds %q and %q, which differ in case only", clip(before), clip(h.Name))
	case !known(h.Name):
		return bad("holds %q; a pack holds policy.json, policy.wasm, README.md and cases/NAME.yaml", clip(h.Name))
	case len(n.seen) == MaxFiles:
		return refuse("POL-PACK-SIZE", n.where, "leave some cases out", "holds more than %d files", MaxFiles)
	}
	n.seen[fold] = h.Name
	return nil
}

// known reports whether a pack may contain a file of that name.
func known(name string) bool {
	dir, base := path.Split(name)
	switch dir {
	case "":
		return base == manifestName || base == moduleName || base == readmeName
	case casesFolder:
		return caseForm.MatchString(base)
	}
	return false
}

// clip limits the length of an untrusted name in a message.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}
