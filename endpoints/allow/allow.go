// Package allow answers permission requests of agents by the rules of their owner,
// without a person.
//
// A file outside the agent's folder is refused, whatever the rules say. Symbolic
// links and ".." are resolved as the system resolves them. The result is about the
// moment of the request: the agent's tools run with the agent's own rights, and
// nothing here keeps an agent from doing something else than it said.
package allow

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Answer answers p by rules. dir is the folder of an agent whose endpoint states
// none. ok is false if the owner has to be asked.
func Answer(rules []endpoint.AllowRule, dir string, p endpoint.Permission) (a endpoint.Answer, ok bool) {
	if p.Dir == "" {
		p.Dir = dir
	}
	if len(p.Paths) > 0 {
		files, err := resolveAll(p.Dir, p.Paths)
		if err != nil {
			return endpoint.Answer{By: endpoint.Unasked, Reason: err.Error()}, true
		}
		p.Paths = files
	}
	for _, r := range rules {
		if r.Allows(p) {
			return endpoint.Answer{Allowed: true, By: endpoint.RuledBy, Reason: r.String()}, true
		}
	}
	return endpoint.Answer{}, false
}

// resolveAll returns the paths of files relative to dir, or an error that says which
// of them is not in dir.
func resolveAll(dir string, files []string) ([]string, error) {
	if dir == "" {
		return nil, errors.New("the agent's folder is not known, so that files cannot be compared with it")
	}
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, errors.New("the agent's folder cannot be opened, so that files cannot be compared with it")
	}
	resolved := make([]string, len(files))
	for i, file := range files {
		rel, ok := inside(root, file)
		if !ok {
			return nil, errors.New(endpoint.Quote(file) + " is outside the agent's folder")
		}
		resolved[i] = filepath.ToSlash(rel)
	}
	return resolved, nil
}

// inside resolves a path that an agent has written and returns it relative to root,
// which is resolved. It returns false if the path leads out of root, or if programs
// do not agree on its meaning.
func inside(root, file string) (rel string, ok bool) {
	if u, err := url.Parse(file); err == nil && strings.EqualFold(u.Scheme, "file") {
		if u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return "", false
		}
		file = filepath.FromSlash(u.Path)
	} else if strings.Contains(file, "://") {
		return "", false
	}
	if file == "" || file[0] == '~' || strings.ContainsFunc(file, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", false
	}
	switch {
	case filepath.IsAbs(file):
	case filepath.VolumeName(file) != "" || os.IsPathSeparator(file[0]):
		return "", false // relative to the folder or drive of a process
	default:
		file = root + string(filepath.Separator) + file // not joined: ".." behind a link leads elsewhere
	}
	real, err := follow(file)
	if err != nil {
		return "", false
	}
	rel, err = filepath.Rel(root, real)
	return rel, err == nil && filepath.IsLocal(rel)
}

// maxLinks bounds the symbolic links in a path, as the systems do.
const maxLinks = 40

// follow resolves the links of an absolute path element by element. Elements that
// do not exist have no links.
func follow(file string) (string, error) {
	volume := filepath.VolumeName(file)
	top := volume + string(filepath.Separator)
	at, rest := top, elements(file[len(volume):])
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			at = next
			continue
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0:
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if links++; links > maxLinks {
			return "", errors.New("too many links")
		}
		if filepath.IsAbs(target) {
			at, target = filepath.VolumeName(target)+string(filepath.Separator), target[len(filepath.VolumeName(target)):]
		}
		rest = slices.Concat(elements(target), rest)
	}
	return at, nil
}

func elements(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}
