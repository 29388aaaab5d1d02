package config

import (
	"path/filepath"
)

// Load reads the room at path with its included files. It returns all problems,
// warnings included. The room is nil if one of them is an error.
func Load(path string, o Options) (*Room, Problems) {
	return open(path, o.Lookup).load(o)
}

// LoadText is like Load for the text of a room.yaml. Relative paths start at
// dir; "" means the working folder.
func LoadText(text []byte, dir string, o Options) (*Room, Problems) {
	return openText(text, dir, o.Lookup).load(o)
}

// open reads the file at path and the files that it includes.
func open(path string, lookup func(string) (string, bool)) *document {
	d := newDocument(lookup)
	s, p := readSource(path, path, false)
	if p != nil {
		d.problems = append(d.problems, *p)
		return d
	}
	d.start(s, canonical(path))
	return d
}

// openText reads text as the main file in the folder dir.
func openText(text []byte, dir string, lookup func(string) (string, bool)) *document {
	d := newDocument(lookup)
	dir, err := filepath.Abs(dir)
	if err != nil {
		d.problems = append(d.problems, *unreadable(textName, err))
		return d
	}
	s, p := newSource(textName, dir, text)
	if p != nil {
		d.problems = append(d.problems, *p)
		return d
	}
	d.start(s, filepath.Join(dir, textName))
	return d
}

// textName is the file name of a room.yaml that is not in a file.
const textName = "room.yaml"

// start makes s the main file and includes the others. key is the canonical
// path of s.
func (d *document) start(s *source, key string) {
	d.main, d.files, d.root = s, []*source{s}, s.root
	d.setSource(s.root, s)
	inc := includer{d: d, seen: map[string]string{key: s.name}}
	inc.includeAll(s, []string{key})
}

// load decodes and checks the document.
func (d *document) load(o Options) (*Room, Problems) {
	if d.root == nil {
		return nil, d.problems
	}
	w := d.decode()
	r := d.build(w)
	d.checkSemantics(w, r, o)
	d.resolveInstructions(w, r)
	d.resolveRemotes(w, r, o)
	d.resolveObservers(w, r, o)
	d.sortProblems()
	d.maskSecrets()
	if d.problems.Errors() > 0 {
		return nil, d.problems
	}
	return r, d.problems
}
