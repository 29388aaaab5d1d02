// Package workspace describes a working folder in a few lines, for an agent that
// another agent has called.
//
// Everything is read through an [os.Root]. So no "..", no absolute path and no
// symbolic link leads out of the folder. A file outside the folder and a file that
// does not exist give the same answer, so that the description tells nothing about
// the rest of the machine. Names and manifests are data of strangers: their reads are
// bounded, and names that could be taken for something else are quoted.
package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxEntries = 20     // of the top of the folder
	maxRead    = 10_000 // entries that are read, of which the first are shown
	maxFiles   = 100
)

// Describe returns the name of the folder dir, its project and stack as far as a
// manifest tells, and those of the named files that exist in it. Without names it
// lists the top of the folder instead: at most 20 entries in their order, without
// hidden ones.
func Describe(dir string, files []string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("workspace: the folder cannot be opened: %w", reason(err))
	}
	defer root.Close()
	var b strings.Builder
	if abs, err := filepath.Abs(dir); err == nil {
		b.WriteString("folder " + shown(filepath.Base(abs)) + "\n")
	}
	b.WriteString(projectOf(root).String())
	if len(files) > 0 {
		b.WriteString("files:\n" + named(root, files))
		return b.String(), nil
	}
	entries, err := top(root)
	if err != nil {
		return "", fmt.Errorf("workspace: the folder cannot be read: %w", reason(err))
	}
	b.WriteString("entries:\n" + entries)
	return b.String(), nil
}

// reason returns an error without the path of the folder, which is not for agents.
func reason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// named returns a line for each file that exists in the root, once.
func named(root *os.Root, files []string) string {
	var told []string
	for _, file := range files[:min(len(files), maxFiles)] {
		name, ok := local(file)
		if !ok || slices.Contains(told, name) {
			continue
		}
		if name, ok = describe(root, name); ok && !slices.Contains(told, name) {
			told = append(told, name)
		}
	}
	return lines(told)
}

// local returns the clean form of a path below the folder. It refuses all that a
// system could take for another place: absolute paths, "..", and the separators,
// drives and streams of Windows.
func local(file string) (string, bool) {
	if file == "" || path.IsAbs(file) || strings.ContainsAny(file, "\\:\x00") || slices.Contains(strings.Split(file, "/"), "..") {
		return "", false
	}
	file = path.Clean(file)
	return file, file != "." && filepath.IsLocal(filepath.FromSlash(file))
}

// describe returns the name of a file or, with a slash at its end, of a folder. It
// returns false for everything else: it does not exist, is no file, or a link leads
// out.
func describe(root *os.Root, name string) (string, bool) {
	info, err := root.Stat(filepath.FromSlash(name))
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		return name + "/", true
	}
	return name, info.Mode().IsRegular()
}

// top returns lines for the first entries of the folder.
func top(root *os.Root) (string, error) {
	f, err := root.Open(".")
	if err != nil {
		return "", err
	}
	defer f.Close()
	all, err := f.ReadDir(maxRead)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	var names []string
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	var told []string
	more := 0
	for _, name := range names {
		if len(told) == maxEntries {
			more++
		} else if name, ok := describe(root, name); ok {
			told = append(told, name)
		}
	}
	text := lines(told)
	if more > 0 {
		text += fmt.Sprintf("  and %d more\n", more)
	}
	return text, nil
}

// lines returns one indented line for each name.
func lines(names []string) string {
	if len(names) == 0 {
		return "  (none)\n"
	}
	var b strings.Builder
	for _, name := range names {
		b.WriteString("  " + shown(name) + "\n")
	}
	return b.String()
}

// shown returns a name in a form that has one line and no invisible characters.
func shown(name string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == '"' || r == utf8.RuneError }
	if name != strings.TrimSpace(name) || strings.ContainsFunc(name, odd) {
		return strconv.QuoteToGraphic(name)
	}
	return name
}
