package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fragmentKeys are the keys that an included file may have. Its lists are
// appended to those of the main file.
var fragmentKeys = []string{"version", "include", "participants", "agents", "constraints"}

// An includer appends the lists of included files to those of the main file, in
// the order of their names.
type includer struct {
	d    *document
	seen map[string]string // canonical path to the name of the including file
}

// includeAll includes the files of the include list of s. stack holds the
// canonical paths from the main file to s.
func (i *includer) includeAll(s *source, stack []string) {
	list, _ := child(s.root, "include")
	if list = follow(list); list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for k, n := range list.Content {
		if follow(n).Kind == yaml.ScalarNode {
			i.include(s, follow(n), []string{"include", strconv.Itoa(k)}, stack)
		}
	}
}

func (i *includer) include(from *source, n *yaml.Node, at, stack []string) {
	refuse := func(what, hint string) { i.d.report(n, at, "ROOM-INCLUDE", what, hint) }
	rel, err := expand(n.Value, i.d.lookup)
	if err != nil {
		return // convertText reports it
	}
	path := filepath.Join(from.dir, rel)
	key := canonical(path)
	switch {
	case rel == "":
		return
	case filepath.IsAbs(rel):
		refuse("absolute path", "use a path relative to this file, so that the folder can be moved")
		return
	case slices.Contains(stack, key):
		refuse("the file includes itself", "")
		return
	case i.seen[key] != "":
		refuse("already included by "+i.seen[key], "")
		return
	case len(i.d.files) >= maxFiles:
		refuse(fmt.Sprintf("more than %d files", maxFiles), "")
		return
	}
	i.seen[key] = from.name
	s, p := readSource(path, filepath.Join(filepath.Dir(from.name), rel), true)
	if p != nil {
		if p.Line == 0 { // not readable, so the include is wrong
			refuse(p.File+": "+p.What, "")
			return
		}
		i.d.problems = append(i.d.problems, *p)
		return
	}
	i.d.files = append(i.d.files, s)
	i.d.setSource(s.root, s)
	i.merge(s)
	i.includeAll(s, append(slices.Clone(stack), key))
}

// merge appends the lists of s to the document.
func (i *includer) merge(s *source) {
	for k := 0; k+1 < len(s.root.Content); k += 2 {
		key, val := s.root.Content[k], follow(s.root.Content[k+1])
		switch key.Value {
		case "version":
			if val.Value != "room/v1" {
				i.d.report(val, []string{"version"}, "ROOM-VALUE", fmt.Sprintf("got %q, want %q", val.Value, "room/v1"), "")
			}
		case "participants", "agents", "constraints":
			if val.Kind != yaml.SequenceNode {
				i.d.report(val, []string{key.Value}, "ROOM-TYPE", "got "+kindOf(val)+", want a list", "")
				continue
			}
			i.appendList(key, val)
		case "include":
		default:
			allowed := "an included file may only have " + strings.Join(fragmentKeys[1:], ", ") + "; move other keys to " + i.d.main.name
			i.d.report(key, nil, "ROOM-KEY", fmt.Sprintf("%q in an included file", key.Value), cmp.Or(Suggest(key.Value, fragmentKeys), allowed))
		}
	}
}

// appendList appends the items of list to the list of the document with that
// key. It copies the nodes of the main file first, because config show prints
// them as written.
func (i *includer) appendList(key, list *yaml.Node) {
	d := i.d
	if d.root == d.main.root {
		top := *d.root
		top.Content = slices.Clone(top.Content)
		d.root, d.owner[&top] = &top, d.main
	}
	own, _ := child(d.root, key.Value)
	if own == nil {
		own = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: list.Line, Column: list.Column}
		d.owner[own] = d.owner[list]
		d.root.Content = append(d.root.Content, key, own)
	}
	merged := *follow(own)
	merged.Content = append(slices.Clone(merged.Content), list.Content...)
	if merged.Kind != yaml.SequenceNode {
		return // the schema reports it
	}
	d.owner[&merged] = d.owner[follow(own)]
	for k := 0; k+1 < len(d.root.Content); k += 2 {
		if d.root.Content[k].Value == key.Value {
			d.root.Content[k+1] = &merged
		}
	}
}
