package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of a document with everything it includes.
const (
	maxFiles = 32
	maxNodes = 100_000 // with aliases followed, which stops alias bombs
	maxDepth = 64
)

// A document is room.yaml with the files that it includes, as one tree of YAML
// nodes that keep their positions.
type document struct {
	root     *yaml.Node
	main     *source
	files    []*source
	owner    map[*yaml.Node]*source // of every node
	lookup   func(string) (string, bool)
	problems Problems
	broken   [][]string // paths with a problem; further problems there are suppressed
	nodes    int
	secrets  []string // written in a file; masked in source lines

	overflowed bool
	verbatim   bool // do not expand ${...}
}

// setSource records the file of n and of all nodes below it. It does not follow
// aliases, so it terminates.
func (d *document) setSource(n *yaml.Node, s *source) {
	d.owner[n] = s
	for _, c := range n.Content {
		d.setSource(c, s)
	}
}

// report adds a problem at node n.
func (d *document) report(n *yaml.Node, path []string, code, what, hint string) {
	d.problems = append(d.problems, d.problem(n, path, code, what, hint))
}

// warn adds a warning at node n.
func (d *document) warn(n *yaml.Node, path []string, code, what, hint string) {
	p := d.problem(n, path, code, what, hint)
	p.Warning = true
	d.problems = append(d.problems, p)
}

func (d *document) problem(n *yaml.Node, path []string, code, what, hint string) Problem {
	p := cmp.Or(d.owner[n], d.main).problemAt(n.Line, n.Column, code, what)
	p.Path, p.Hint = d.formatPath(path), hint
	return *p
}

// formatPath formats a path: participants[1].endpoint.command[0].
func (d *document) formatPath(path []string) string {
	var b strings.Builder
	n := d.root
	for _, p := range path {
		n = follow(n)
		if n != nil && n.Kind == yaml.SequenceNode {
			fmt.Fprintf(&b, "[%s]", p)
		} else {
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p)
		}
		n, _ = child(n, p)
	}
	return b.String()
}

// find returns the node at path and, in a mapping, its key. If the path does not
// exist, it returns the deepest node on the way.
func (d *document) find(path []string) (val, key *yaml.Node) {
	val = d.root
	for _, p := range path {
		v, k := child(val, p)
		if v == nil {
			return val, key
		}
		val, key = v, k
	}
	return val, key
}

// follow resolves an alias. One step is enough: an anchor is not an alias.
func follow(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// child returns the value and the key of one step of a path.
func child(n *yaml.Node, step string) (val, key *yaml.Node) {
	n = follow(n)
	switch {
	case n == nil:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1], n.Content[i]
			}
		}
	case n.Kind == yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], nil
		}
	}
	return nil, nil
}

// isBroken reports whether path, or a path above or below it, has a problem.
func (d *document) isBroken(path ...string) bool {
	for _, b := range d.broken {
		n := min(len(b), len(path))
		if strings.Join(b[:n], "\x00") == strings.Join(path[:n], "\x00") {
			return true
		}
	}
	return false
}

func newDocument(lookup func(string) (string, bool)) *document {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	return &document{owner: map[*yaml.Node]*source{}, lookup: lookup}
}

func canonical(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// firstAgent is added to the index of an entry of agents, to tell it from one of
// participants. The schema allows fewer participants.
const firstAgent = 1 << 10

// participantPath returns the path of a part of participant i, or of an agent.
func participantPath(i int, more ...string) []string {
	if i >= firstAgent {
		return append([]string{"agents", strconv.Itoa(i - firstAgent)}, more...)
	}
	return append([]string{"participants", strconv.Itoa(i)}, more...)
}

// reportUnlessBroken adds a problem at a path, unless the path has one.
func (d *document) reportUnlessBroken(path []string, code, what, hint string) {
	if !d.isBroken(path...) {
		n, _ := d.find(path)
		d.report(n, path, code, what, hint)
	}
}

func (d *document) warnUnlessBroken(path []string, code, what, hint string) {
	if !d.isBroken(path...) {
		n, _ := d.find(path)
		d.warn(n, path, code, what, hint)
	}
}

// relativePath is path relative to the main file, for messages.
func (d *document) relativePath(path string) string {
	if r, err := filepath.Rel(d.main.dir, path); err == nil {
		return r
	}
	return path
}

// suggestFile suggests a file in the same folder with a similar name.
func (d *document) suggestFile(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "no folder " + d.relativePath(filepath.Dir(path))
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return Suggest(filepath.Base(path), names)
}

// sortProblems sorts by file, in the order of reading, then by line and column.
// Problems without a line come first.
func (d *document) sortProblems() {
	file := func(p Problem) int {
		return slices.IndexFunc(d.files, func(s *source) bool { return s.name == p.File })
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(file(a), file(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

// maskSecrets masks the secrets in the source lines of problems.
func (d *document) maskSecrets() {
	for _, secret := range d.secrets {
		mask := strings.Repeat("*", len([]rune(secret)))
		for i := range d.problems {
			d.problems[i].Source = strings.ReplaceAll(d.problems[i].Source, secret, mask)
		}
	}
}

// sourceOf returns the file that defines participant i.
func (d *document) sourceOf(i int) *source {
	n, _ := d.find(participantPath(i))
	return cmp.Or(d.owner[n], d.main)
}
